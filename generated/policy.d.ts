/* Made from schemas/policy.schema.json by `npm run generate`. Do not edit. */

/**
 * A number of seconds, or a string such as 250ms, 10s, 5m, 1h.
 *
 * This interface was referenced by `PolicyConfig`'s JSON-Schema
 * via the `definition` "duration".
 */
export type Duration = number | string;
/**
 * Risk of a tool (guide 11.2).
 *
 * This interface was referenced by `PolicyConfig`'s JSON-Schema
 * via the `definition` "risk".
 */
export type Risk = "low" | "medium" | "high" | "critical";

/**
 * topology/policies/*.yaml: which calls are allowed, asked or denied (guide 11.2). Not interpolated.
 */
export interface PolicyConfig {
  risk_actions?: RiskActions;
  default_risk?: DefaultRisk;
  /**
   * Order-independent: deny beats ask beats allow beats the risk table.
   */
  rules?: PolicyRuleConfig[];
  data_flow?: DataFlow;
  approvals?: ApprovalSettings;
}
/**
 * What happens by risk when no rule matches. May stand in one file only.
 */
export interface RiskActions {
  /**
   * Low risk; default allow, audit summary.
   */
  low?: RiskAction;
  /**
   * Medium risk; default allow, audit full.
   */
  medium?: RiskAction;
  /**
   * High risk; default ask, audit full.
   */
  high?: RiskAction;
  /**
   * Critical risk; default deny, audit full.
   */
  critical?: RiskAction;
}
/**
 * Risk of an unclassified tool by the trust of its app. May stand in one file only.
 */
export interface DefaultRisk {
  /**
   * Apps of high trust; default medium.
   */
  high?: Risk;
  /**
   * Apps of medium trust; default high.
   */
  medium?: Risk;
  /**
   * Apps of low trust; default high.
   */
  low?: Risk;
}
/**
 * One rule. It needs at least one of action, risk and limits.
 *
 * This interface was referenced by `PolicyConfig`'s JSON-Schema
 * via the `definition` "rule".
 */
export interface PolicyRuleConfig {
  /**
   * Unique over all policy files; shown in every decision.
   */
  id: string;
  /**
   * Globs over package names; absent is all.
   *
   * @minItems 1
   */
  apps?: [string, ...string[]];
  /**
   * Globs over the server's own tool names; absent is all, unless resources or prompts are named.
   *
   * @minItems 1
   */
  tools?: [string, ...string[]];
  /**
   * Globs over resource URIs.
   *
   * @minItems 1
   */
  resources?: [string, ...string[]];
  /**
   * Globs over prompt names.
   *
   * @minItems 1
   */
  prompts?: [string, ...string[]];
  /**
   * Dotted argument path to a matcher; all must match.
   */
  args?: {
    [k: string]: ArgumentMatcher;
  };
  /**
   * Globs over the names of callers; absent is all.
   *
   * @minItems 1
   */
  clients?: [string, ...string[]];
  /**
   * allow on a high-risk tool is the explicit leave; a critical tool needs allow and risk: critical in the same rule.
   */
  action?: "allow" | "ask" | "deny";
  /**
   * Classifies the tools matched.
   */
  risk?: Risk;
  /**
   * How much the audit log keeps of matching calls; an obligation, never a permission.
   */
  audit?: "summary" | "full";
  limits?: RuleLimits;
  /**
   * Why; shown with the decision.
   */
  reason?: string;
}
/**
 * All conditions given must hold.
 *
 * This interface was referenced by `PolicyConfig`'s JSON-Schema
 * via the `definition` "matcher".
 */
export interface ArgumentMatcher {
  /**
   * The value itself.
   */
  equals?: {
    [k: string]: unknown;
  };
  /**
   * One of these values.
   *
   * @minItems 1
   */
  one_of?: [unknown, ...unknown[]];
  /**
   * A whole-string pattern with * and ?.
   */
  glob?: string;
  /**
   * A regular expression in linear-time syntax, searched for in the value.
   */
  matches?: string;
  /**
   * Least number.
   */
  min?: number;
  /**
   * Greatest number.
   */
  max?: number;
  /**
   * Most characters of a string, or items of a list.
   */
  max_length?: number;
  /**
   * A path that lies in this folder after normalisation.
   */
  under?: string;
  /**
   * Whether the argument is there at all.
   */
  present?: boolean;
}
/**
 * Bounds for the calls that match, counted together.
 */
export interface RuleLimits {
  /**
   * Most calls in a time, for example 10/min.
   */
  rate?: string;
  /**
   * Most calls at the same time.
   */
  concurrent?: number;
  /**
   * Deadline of a matching call.
   */
  timeout?: Duration;
}
/**
 * What low-trust sources said must not drive high-risk tools. May stand in one file only.
 */
export interface DataFlow {
  sources?: DataFlowSources;
  sinks?: DataFlowSinks;
  /**
   * What a sink call in a marked session gets; off switches the rule off.
   */
  action?: "ask" | "deny" | "off";
  /**
   * How long a mark lasts.
   */
  expires?: Duration;
}
/**
 * What marks a session.
 */
export interface DataFlowSources {
  /**
   * Apps of this trust or lower are sources; none is no app by trust.
   */
  trust?: "low" | "medium" | "high" | "none";
  /**
   * More sources, as package/tool globs.
   */
  tools?: string[];
  /**
   * Events that open a marked session, as package/type globs.
   */
  events?: string[];
}
/**
 * What a marked session may not call freely.
 */
export interface DataFlowSinks {
  /**
   * This risk and above.
   */
  risk?: Risk;
}
/**
 * How asked calls are answered. May stand in one file only.
 */
export interface ApprovalSettings {
  /**
   * How long an approval may be answered and used.
   */
  expires?: Duration;
  /**
   * How long a caller waits for the answer before it gets APPROVAL_REQUIRED.
   */
  wait?: Duration;
  /**
   * Whether two people of different names must approve; names are self-declared under the one operator token.
   */
  four_eyes?: boolean;
  /**
   * Whether the calling client's person is asked too, where the client can show forms (MCP elicitation).
   */
  elicitation?: boolean;
}
/**
 * This interface was referenced by `PolicyConfig`'s JSON-Schema
 * via the `definition` "risk_action".
 */
export interface RiskAction {
  /**
   * What happens.
   */
  action?: "allow" | "ask" | "deny";
  /**
   * How much the audit log keeps.
   */
  audit?: "summary" | "full";
}
