// What status rows, approvals, explanations, the graph and tool schemas look like to whoever shows them.
import type { Json, JsonObject } from "./base/json.ts";
import type { ExportFormat } from "./llm/types.ts";
import type { RuleRef } from "./policy/types.ts";
import type { Risk, ToolState } from "./tools/types.ts";

/** One row of `tools list`. */
export interface ToolRow {
  readonly name: string;
  readonly short_name: string;
  readonly app: string;
  readonly tool: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly risk: Risk;
  readonly risk_source: string;
  readonly action: string;
  readonly state: ToolState;
  readonly reason: string | null;
  readonly tokens: number;
}

/** What `explain` says of a tool or call. */
export interface Explanation {
  readonly tool: string;
  readonly app: string;
  readonly short_name: string;
  readonly state: ToolState;
  readonly risk: Risk;
  readonly risk_source: string;
  /** What a call would meet: deny also for a tool that is quarantined or excluded, whatever the policy says; `rule` is null then. */
  readonly decision: "allow" | "ask" | "deny";
  readonly rule: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly reason: string;
  readonly audit: string;
  readonly limits: readonly { readonly rule: string; readonly rate: string | null; readonly concurrent: number | null }[];
  /** `state`: accepted, first_use, new or changed; conflict where two definitions or two tools claim one name, which no pin can settle. */
  readonly pin: { readonly current: string; readonly accepted: string | null; readonly state: string };
  readonly marks: readonly { readonly session: string; readonly source: string; readonly since: string }[];
  readonly timeout_ms: number;
  /** What there is to say of the rules that reach the tool. */
  readonly warnings: readonly string[];
}

/** What an app asks: a form to fill in, or an address to open, with its host singled out (`reads_as`: as a person reads it, where that differs). */
export type QuestionRow =
  | { readonly mode: "form"; readonly message: string; readonly schema: Json }
  | { readonly mode: "url"; readonly message: string; readonly url: string; readonly host: string; readonly reads_as: string | null };

export interface ApprovalRow {
  readonly id: string;
  readonly tool: string;
  readonly app: string;
  readonly arguments: Json;
  readonly client: string;
  readonly session: string;
  readonly risk: Risk;
  readonly reason: string;
  readonly rule: RuleRef | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly state: "pending" | "approved" | "denied" | "expired" | "used" | "withdrawn" | "cancelled";
  /** Set where an app asks a person something; null where a call waits. */
  readonly question: QuestionRow | null;
  /** What was filled in, from the first yes on; null where nothing was, or no form is asked. */
  readonly answer: Json;
  readonly decided_by: readonly string[];
}

/** A policy rule with the apps that it reaches. */
export interface GraphRule {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly reason: string | null;
  readonly action: "allow" | "ask" | "deny" | null;
  readonly risk: Risk | null;
  /** As written in limits: `10/min`. */
  readonly rate: string | null;
  readonly concurrent: number | null;
  /** Patterns of callers; null for all. */
  readonly clients: readonly string[] | null;
  /** Paths of the arguments that the rule looks at. */
  readonly conditions: readonly string[];
  readonly apps: readonly { readonly app: string; readonly tools: number }[];
}

/** A signal mapping with the apps whose signals it takes. */
export interface GraphSignal {
  readonly id: string;
  /** Null for a built-in one. */
  readonly file: string | null;
  readonly line: number | null;
  readonly kind: string | null;
  readonly method: string | null;
  /** Type of the events, as a template; null when the signals are dropped. */
  readonly emits: string | null;
  /** Null for all. */
  readonly apps: readonly string[] | null;
}

/** How policies, apps and signals hang together; the apps' states are in the status. */
export interface HostGraph {
  readonly revision: number;
  /** What the risk table does where no rule decides. */
  readonly table: Readonly<Record<Risk, "allow" | "ask" | "deny">>;
  readonly rules: readonly GraphRule[];
  /** The user's first, then the built-in ones. */
  readonly signals: readonly GraphSignal[];
}

/** One tool in one provider's form. */
export interface ToolSchema {
  readonly format: ExportFormat;
  /** Null when the tool cannot be exported; `reason` says why. */
  readonly schema: Json;
  /** Estimated tokens in every request that offers the tool. */
  readonly tokens: number;
  readonly strict: boolean;
  /** How the provider's form differs from the server's own schema (docs/tool-schemas.md). */
  readonly changes: readonly { readonly code: string; readonly pointer: string; readonly effect: string }[];
  readonly reason: string | null;
}

/** One tool in every provider's form, beside its own definition. */
export interface ToolSchemas {
  readonly tool: string;
  readonly definition: JsonObject;
  readonly targets: readonly ToolSchema[];
}
