import type { JsonObject } from "../base/json.ts";
import type { Rate } from "../base/durations.ts";
import type { Risk, Trust } from "../tools/types.ts";

export type Action = "allow" | "ask" | "deny";
export type AuditDetail = "summary" | "full";

/** A rule as decisions name it. */
export interface RuleRef {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly reason: string | null;
}

/** What is being asked for. Names are the server's own, before any rename. */
export interface Subject {
  readonly kind: "tool" | "resource" | "prompt";
  readonly app: string;
  readonly name: string;
  readonly trust: Trust;
  /** Risk written in a trusted manifest, if any. */
  readonly manifestRisk: Risk | null;
  /** Hints of the server (tool annotations); untrusted, they only move the default. */
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
}

/** A call of a subject: who (empty: any caller, as in the catalogue), and with what. `args` null: not known yet (listing); then rules with `args` do not allow, and may deny or ask later. */
export interface CallContext {
  readonly client: string;
  readonly args: JsonObject | null;
}

/** A bound that the call must pass, named by its rule so that calls are counted together. */
export interface LimitRef {
  readonly rule: string;
  readonly rate: Rate | null;
  readonly concurrent: number | null;
}

/** What the policy says of one call. Pure value; the same input gives the same decision. */
export interface Decision {
  readonly action: Action;
  readonly risk: Risk;
  readonly riskSource: string;
  /** The rule that decided, or null when the risk table did. */
  readonly rule: RuleRef | null;
  /** Why, in one sentence with the user's names. */
  readonly reason: string;
  readonly audit: AuditDetail;
  readonly limits: readonly LimitRef[];
  readonly timeoutMs: number | null;
  /** Whether a data-flow mark of the session changed the decision. */
  readonly dataFlow: boolean;
}

/** Settings of approvals, in milliseconds. */
export interface ApprovalRules {
  readonly expiresMs: number;
  readonly waitMs: number;
  readonly fourEyes: boolean;
  readonly elicitation: boolean;
}
