import { KitError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { decide } from "../policy/decide.ts";
import type { Decision } from "../policy/types.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import type { Mark } from "./sessions.ts";
import type { Target } from "./targets.ts";

/** What is known of the caller when a call is judged. */
export interface Caller {
  readonly client: string;
  readonly session: string;
}

/**
 * Judges one call on one snapshot: policy on the canonical arguments, then data flow. The same function judges again right before the
 * call runs. `marks`: what the session has heard. With `args` null it denies only what no arguments could make callable.
 */
export function judge(snapshot: Snapshot, target: Target, args: JsonObject | null, caller: Caller, marks: readonly Mark[]): Decision {
  const judged = decide(snapshot.plan.policy, target.subject, { client: caller.client, args }, marks.length > 0);
  return judged.dataFlow ? { ...judged, reason: `${judged.reason}; it has heard ${named(sourcesOf(marks))}` } : judged;
}

/** Throws POLICY_DENIED or DATA_FLOW_DENIED for a decision that denies. */
export function refuseDenied(decision: Decision, target: Target, marks: readonly Mark[]): void {
  if (decision.action !== "deny") return;
  const heard = sourcesOf(marks);
  throw new KitError(decision.dataFlow ? "DATA_FLOW_DENIED" : "POLICY_DENIED", `${target.full} is denied: ${decision.reason}`, {
    details: {
      risk: decision.risk,
      ...(decision.dataFlow ? { heard } : {}),
      ...(decision.rule === null ? {} : { rule: decision.rule.id, file: decision.rule.file, line: decision.rule.line }),
    },
  });
}

function sourcesOf(marks: readonly Mark[]): string[] {
  return [...new Set(marks.map((m) => m.source))];
}

const MOST_NAMED = 3;

function named(sources: readonly string[]): string {
  const more = sources.length - MOST_NAMED;
  return `${sources.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
