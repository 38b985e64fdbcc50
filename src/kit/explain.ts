import type { Explanation, ToolRow } from "../kit-api.ts";
import type { JsonObject } from "../base/json.ts";
import { formatDuration } from "../base/durations.ts";
import { KitError } from "../base/errors.ts";
import { own } from "../base/json.ts";
import { decide } from "../policy/decide.ts";
import type { LimitRef } from "../policy/types.ts";
import { toolSubject } from "../runtime/build-catalog.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import type { Sessions } from "../calls/sessions.ts";
import { nearest } from "../base/text.ts";
import type { Tool } from "../tools/types.ts";
import type { PinBoard } from "./pin-board.ts";
import { policyFindings } from "./policy-warnings.ts";

/** What is asked of {@link explainTool}. */
export interface ExplainQuestion {
  readonly args?: JsonObject;
  readonly session?: string;
  readonly client?: string;
}

/** Why a tool is shown or not, and what would happen to a call (contracts 5). Throws TOOL_NOT_FOUND for a name that no app has. */
export function explainTool(snapshot: Snapshot, name: string, question: ExplainQuestion, pins: PinBoard, sessions: Sessions): Explanation {
  const { tool, ambiguous } = snapshot.catalog.find(name);
  if (!tool) {
    if (ambiguous.length > 0) throw new KitError("TOOL_NOT_FOUND", `several apps have a tool "${name}"; say which: ${ambiguous.map((t) => t.full).join(", ")}`);
    const dropped = [...snapshot.apps.values()]
      .flatMap((v) => (v.listing?.dropped ?? []).map((d) => ({ ...d, app: v.package })))
      .find((d) => d.kind === "tool" && (d.name === name || `${d.app}.${d.name}` === name));
    if (dropped) throw new KitError("TOOL_NOT_FOUND", `${dropped.app} lists "${dropped.name}", but it was left out: ${dropped.reason}`);
    const near = nearest(
      name,
      snapshot.catalog.tools.flatMap((t) => [t.full, t.short, t.tool]),
    );
    throw new KitError("TOOL_NOT_FOUND", `no tool is called "${name}"${near.length > 0 ? `; did you mean ${near.map((n) => `"${n}"`).join(", ")}?` : ""}`);
  }
  const plan = snapshot.plan.apps.get(tool.app)!;
  const client = question.client ?? "cli";
  const session = question.session ?? "default";
  const marks = sessions.marks(client, session);
  const decision = decide(snapshot.plan.policy, toolSubject(plan, tool.tool, tool.definition), { client, args: question.args ?? null }, marks.length > 0);
  const pin = pins.verdict(tool.app, "tool", tool.tool);
  // What a call would meet: a tool that is held back or excluded is refused before any rule is asked.
  const held = tool.state === "quarantined" || tool.state === "excluded";
  const rule = held ? null : decision.rule;
  const policySays = `${decision.reason}${held ? ` (the policy alone would say ${decision.action})` : ""}`;
  return {
    tool: tool.full,
    app: tool.app,
    short_name: tool.short,
    state: tool.state,
    risk: decision.risk,
    risk_source: decision.riskSource,
    decision: held ? "deny" : decision.action,
    rule: rule?.id ?? null,
    file: rule?.file ?? null,
    line: rule?.line ?? null,
    reason: tool.reason === null || tool.state === "exposed" ? policySays : `${tool.reason}; ${policySays}`,
    audit: decision.audit,
    limits: decision.limits.map((l) => ({ rule: l.rule, rate: writtenRate(snapshot, l), concurrent: l.concurrent })),
    pin: {
      current: tool.pin,
      accepted: pin?.acceptedPin ?? null,
      state: tool.state === "quarantined" && pin?.usable === true ? "conflict" : (pin?.state ?? "new"),
    },
    marks: marks.map((m) => ({ session: m.session, source: m.source, since: new Date(m.since).toISOString() })),
    timeout_ms: decision.timeoutMs ?? plan.callTimeoutMs,
    warnings: warningsOf(snapshot, tool),
  };
}

/** Findings of the rules that reach a tool, in words. */
function warningsOf(snapshot: Snapshot, { app, tool }: Tool): string[] {
  const rules = snapshot.plan.policy.candidates("tool", app, tool);
  return policyFindings(snapshot)
    .filter(({ place, path }) => rules.some((rule) => place?.file === rule.ref.file && `${path}.`.startsWith(`${rule.path([])}.`)))
    .map(({ message, help }) => [message, ...(help ?? [])].join("; "));
}

/** One row of `tools list` for every tool that any app shows. `tokens` gives the cost of a tool's schema. */
export function toolRowsOf(snapshot: Snapshot, tokens: (tool: Tool) => number): ToolRow[] {
  return snapshot.catalog.tools.map((tool) => {
    const plan = snapshot.plan.apps.get(tool.app);
    const action = plan ? decide(snapshot.plan.policy, toolSubject(plan, tool.tool, tool.definition), { client: "", args: null }, false).action : "deny";
    const text = (key: string): string | null => {
      const value = own(tool.definition, key);
      return typeof value === "string" ? value : null;
    };
    return {
      name: tool.full,
      short_name: tool.short,
      app: tool.app,
      tool: tool.tool,
      title: text("title"),
      description: text("description"),
      risk: tool.risk,
      risk_source: tool.riskSource,
      action,
      state: tool.state,
      reason: tool.reason,
      tokens: tokens(tool),
    };
  });
}

/** A rate as the user wrote it. */
function writtenRate({ plan }: Snapshot, { rule, rate }: LimitRef): string | null {
  if (rate === null) return null;
  return plan.policy.rules.find(({ ref }) => ref.id === rule)?.config.limits?.rate ?? `${rate.count}/${formatDuration(rate.perMs)}`;
}
