import type { CancelSignal } from "../base/cancel-signal.ts";
import { KitError } from "../base/errors.ts";
import type { Approval, ApprovalBinding } from "./approval.ts";
import type { Approvals } from "./approvals.ts";
import type { Granted, OperationOptions } from "./operation.ts";
import type { Target } from "./targets.ts";

/**
 * Has a person answer for a call (contracts 5). Waits a while; then `judge` looks again at policy, pin and arguments as they are at
 * that moment, the approval is used up, and what runs is its stored copy. Throws APPROVAL_REQUIRED with the id when nobody answered yet.
 */
export async function askPerson(approvals: Approvals, first: Granted, judge: () => Granted, options: OperationOptions, signal: CancelSignal): Promise<Granted> {
  const rules = first.snapshot.plan.policy.approvals;
  const approval = options.approvalId === undefined ? await request(approvals, first, options) : null;
  const id = approval?.id ?? options.approvalId!;
  const seen = await approvals.waitFor(id, options.waitMs ?? rules.waitMs, signal);
  if (signal.aborted) throw new KitError("CANCELLED", `${first.operation.target.full} was cancelled while it waited for approval ${id}`, { outcome: "failed" });
  if (seen.state === "pending") throw pending(seen, first.operation.target);
  const now = judge();
  if (now.decision.action === "allow") return now;
  const used = await approvals.consume(id, bindingOf(now.operation.target, now.args, options));
  return { ...now, args: used.args, approvalId: used.id };
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
