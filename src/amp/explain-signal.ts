import { failedCondition, mapSignal, matchingRules, type MapEnv, type MappedEvent } from "./map-signal.ts";
import type { SignalRule, SignalRules } from "./mapping.ts";
import type { Signal } from "./types.ts";

/** What one rule has to say about a signal. */
export interface RuleVerdict {
  readonly rule: string;
  readonly set: "user" | "built_in";
  /** `decides`: it drops or emits. `covered`: it matches, but other rules go first. `no`: it does not match. */
  readonly verdict: "decides" | "covered" | "no";
  readonly reason: string;
  readonly file: string | null;
  readonly line: number | null;
}

/** Why a signal becomes the events that it becomes. */
export interface SignalExplanation {
  readonly rules: readonly RuleVerdict[];
  readonly dropped: boolean;
  readonly events: readonly MappedEvent[];
}

/** Explains a mapping rule by rule. Sampling and rates are as `env` says; pass fresh counters to leave the host's alone. */
export function explainSignal(rules: SignalRules, signal: Signal, env: MapEnv): SignalExplanation {
  const deciding = new Set(matchingRules(rules, signal));
  const verdict =
    (set: RuleVerdict["set"]) =>
    (rule: SignalRule): RuleVerdict => {
      const failed = failedCondition(rule, signal);
      const place = { rule: rule.id, set, file: rule.place?.file ?? null, line: rule.place?.line ?? null };
      if (failed !== null) return { ...place, verdict: "no", reason: failed };
      if (deciding.has(rule)) return { ...place, verdict: "decides", reason: rule.emit === null ? "drops the signal" : "emits an event" };
      return {
        ...place,
        verdict: "covered",
        reason: rule.otherwise ? "counts only when no other rule matches" : "a user rule matches and replaces the built-in table",
      };
    };
  return {
    rules: [...rules.user.map(verdict("user")), ...rules.builtIn.map(verdict("built_in"))],
    dropped: [...deciding].some((rule) => rule.emit === null),
    events: mapSignal(rules, signal, env),
  };
}
