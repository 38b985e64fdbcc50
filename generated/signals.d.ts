/* Made from schemas/signals.schema.json by `npm run generate`. Do not edit. */

/**
 * A number of seconds, or a string such as 250ms, 10s, 5m, 1h.
 *
 * This interface was referenced by `SignalsConfig`'s JSON-Schema
 * via the `definition` "duration".
 */
export type Duration = number | string;

/**
 * topology/signals/*.yaml: how MCP signals become AMP events (guide 16.1). Not interpolated.
 */
export interface SignalsConfig {
  /**
   * Mapping rules. Rules that match replace the built-in mapping for that signal; several may emit.
   */
  rules?: SignalRuleConfig[];
}
/**
 * One mapping rule: when it matches it emits an event, or drops the signal.
 *
 * This interface was referenced by `SignalsConfig`'s JSON-Schema
 * via the `definition` "rule".
 */
export interface SignalRuleConfig {
  /**
   * Unique over all signal files.
   */
  id: string;
  when: SignalMatch;
  emit?: SignalEmit;
  /**
   * true drops the signal, whatever other rules say.
   */
  drop?: true;
  /**
   * true: the rule counts only when no rule without it matched.
   */
  otherwise?: true;
  /**
   * Share of matching signals that emit, 0 to 1.
   */
  sample?: number;
  /**
   * Most events in a time, for example 10/min.
   */
  at_most?: string;
  /**
   * Order in a full queue; low goes first overboard.
   */
  priority?: "high" | "normal" | "low";
}
/**
 * Which signals the rule is for; all conditions given must hold.
 */
export interface SignalMatch {
  /**
   * Glob over package names.
   */
  app?: string;
  /**
   * Kind of signal.
   */
  kind?: "lifecycle" | "notification" | "tool_result" | "resource" | "error" | "event" | "host";
  /**
   * Glob over the MCP method or the kind's own word (started, crashed, tools/call …).
   */
  method?: string;
  /**
   * Dotted path to a matcher, or to a value that must be equal.
   */
  params?: {
    [k: string]: unknown;
  };
}
/**
 * The event. Strings may use {params.path}, {app}, {method}; a string that is one whole expression keeps the value's type.
 */
export interface SignalEmit {
  /**
   * payload.type, dotted.
   */
  type: string;
  /**
   * header.method; default is the signal's own kind.
   */
  method?:
    | "mcp.lifecycle"
    | "mcp.notification"
    | "mcp.tool_result"
    | "mcp.resource"
    | "mcp.error"
    | "aurora/event"
    | "aurora/host";
  /**
   * payload.session_id.
   */
  session_id?: string;
  /**
   * payload.summary; cut to 500 characters.
   */
  summary?: string;
  /**
   * payload.data: a template string, or a map of them.
   */
  data?: string | {};
  /**
   * payload.expire_at, counted from now.
   */
  expires_in?: Duration;
  /**
   * payload.expire_at as a template that gives an ISO 8601 time with offset; wins over expires_in.
   */
  expire_at?: string;
  /**
   * Makes a re-sent fact one event.
   */
  idempotency_key?: string;
}
