import { onAbort, type CancelSignal } from "../base/cancel-signal.ts";
import { KitError } from "../base/errors.ts";
import type { Approval, ApprovalBinding } from "./approval.ts";
import type { Approvals } from "./approvals.ts";
import { askClient, canAskClient } from "./ask-client.ts";
import type { Granted, OperationOptions } from "./operation.ts";
import type { ApprovalRules } from "../policy/types.ts";
import type { Target } from "./targets.ts";

/**
 * Has a person answer for a call (contracts 5): from the queue, or where `approvals.elicitation` says so the calling client's own. Waits a while; then `judge` looks again at policy, pin and arguments as they are at
 * that moment, the approval is used up, and what runs is its stored copy. Throws APPROVAL_REQUIRED with the id when nobody answered yet.
 */
export async function askPerson(approvals: Approvals, first: Granted, judge: () => Granted, options: OperationOptions, signal: CancelSignal): Promise<Granted> {
  const rules = first.snapshot.plan.policy.approvals;
  const approval = options.approvalId === undefined ? await request(approvals, first, options) : null;
  const id = approval?.id ?? options.approvalId!;
  const byClient = approval?.state === "pending" && rules.elicitation && canAskClient(options);
  const waitMs = byClient ? await letClientAnswer(approvals, approval, options, rules, signal) : (options.waitMs ?? rules.waitMs);
  const seen = await approvals.waitFor(id, waitMs, signal);
  if (signal.aborted) throw new KitError("CANCELLED", `${first.operation.target.full} was cancelled while it waited for approval ${id}`, { outcome: "failed" });
  if (seen.state === "pending") throw pending(seen, first.operation.target);
  const now = judge();
  if (now.decision.action === "allow") return now;
  const used = await approvals.consume(id, bindingOf(now.operation.target, now.args, options));
  return { ...now, args: used.args, approvalId: used.id };
}

/** Waits for the calling client's person, or whoever else decides sooner; gives how long to wait on for others, in milliseconds. */
async function letClientAnswer(
  approvals: Approvals,
  approval: Approval,
  options: OperationOptions,
  rules: ApprovalRules,
  signal: CancelSignal,
): Promise<number> {
  const stop = new AbortController();
  const unlisten = onAbort(signal, () => stop.abort());
  try {
    const elsewhere = approvals.waitFor(approval.id, options.waitMs ?? rules.expiresMs, stop.signal).then(() => "answered" as const);
    const reply = await Promise.race([askClient(approvals, approval, options, stop.signal), elsewhere]);
    return reply === "dismissed" ? 0 : (options.waitMs ?? rules.waitMs);
  } finally {
    stop.abort();
    unlisten();
  }
}

function request(approvals: Approvals, { operation, decision, args, snapshot }: Granted, options: OperationOptions): Promise<Approval> {
  const rules = snapshot.plan.policy.approvals;
  return approvals.request({
    ...bindingOf(operation.target, args, options),
    full: operation.target.full,
    risk: decision.risk,
    reason: decision.reason,
    rule: decision.rule,
    expiresMs: rules.expiresMs,
    fourEyes: rules.fourEyes,
  });
}

function bindingOf(target: Target, args: Granted["args"], options: OperationOptions): ApprovalBinding {
  return { app: target.app, tool: target.name, pin: target.pin, args, client: options.client, session: options.session };
}

function pending(approval: Approval, target: Target): KitError {
  return new KitError(
    "APPROVAL_REQUIRED",
    `${target.full} needs a person's approval: ${approval.reason}. Approve it with \`aurora-mcp approvals approve ${approval.id}\`, then call again with this approval`,
    {
      details: { approval_id: approval.id, expires_at: new Date(approval.expiresAt).toISOString(), risk: approval.risk },
    },
  );
}
