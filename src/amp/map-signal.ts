import type { Rate } from "../base/durations.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { boundType } from "./bounds.ts";
import type { EmitTemplate, SignalRule, SignalRules } from "./mapping.ts";
import { isReservedType } from "./reserved.ts";
import { lookup, render, renderData, renderText, startsDynamic } from "./template.ts";
import type { AmpMethod, Priority, Signal } from "./types.ts";

/** An event that a rule made of a signal. It gets an id and a time, and is masked and bounded, when it is sealed. */
export interface MappedEvent {
  readonly type: string;
  readonly method: AmpMethod;
  readonly session_id?: string;
  readonly summary?: string;
  readonly data?: JsonObject;
  /** The event is stale after this many milliseconds. */
  readonly expiresInMs?: number;
  /** The event is stale after this moment, ISO 8601 with offset; wins over `expiresInMs`. */
  readonly expireAt?: string;
  readonly idempotency_key?: string;
  readonly priority: Priority;
  /** Id of the rule. */
  readonly rule: string;
}

/** When each rule with `at_most` last emitted; keep one per host, {@link mapSignal} changes it. */
export type SignalCounters = Map<string, { readonly times: number[]; next: number }>;

/** What a mapping step needs from outside. */
export interface MapEnv {
  readonly nowMs: number;
  /** 0 ≤ x < 1, for `sample`. */
  readonly random: () => number;
  readonly counters: SignalCounters;
}

const METHOD_OF: Readonly<Record<Signal["kind"], AmpMethod>> = {
  lifecycle: "mcp.lifecycle",
  notification: "mcp.notification",
  tool_result: "mcp.tool_result",
  resource: "mcp.resource",
  error: "mcp.error",
  event: "aurora/event",
  host: "aurora/host",
};

/**
 * The events that a signal becomes (contracts 7): none when a rule drops it, one for every user rule that matches, or what the
 * built-in table says when no user rule matches. Sampled-out and rate-limited rules still count as matched.
 */
export function mapSignal(rules: SignalRules, signal: Signal, env: MapEnv): MappedEvent[] {
  const matched = matchingRules(rules, signal);
  if (matched.some((rule) => rule.emit === null)) return [];
  const events: MappedEvent[] = [];
  for (const rule of matched) {
    if (rule.emit === null) continue;
    if (rule.sample !== null && env.random() >= rule.sample) continue;
    if (rule.atMost !== null && !underRate(rule.id, rule.atMost, env)) continue;
    events.push(emit(rule, rule.emit, signal));
  }
  return events;
}

/** The rules that decide about a signal: matching user rules, else matching built-in ones; `otherwise` rules only when no other of the set matches. */
export function matchingRules(rules: SignalRules, signal: Signal): SignalRule[] {
  for (const set of [rules.user, rules.builtIn]) {
    const matched = set.filter((rule) => (rule.kind === null || rule.kind === signal.kind) && failedCondition(rule, signal) === null);
    const firm = matched.filter((rule) => !rule.otherwise);
    if (firm.length > 0) return firm;
    if (matched.length > 0) return matched;
  }
  return [];
}

/** The first condition of a rule that a signal does not fulfil, in words; null when the rule matches. */
export function failedCondition(rule: SignalRule, signal: Signal): string | null {
  if (rule.kind !== null && rule.kind !== signal.kind) return `kind is ${signal.kind}, not ${rule.kind}`;
  if (rule.app !== null && !rule.app.matches(signal.app)) return `app ${signal.app} is not like ${rule.app.source}`;
  if (rule.method !== null && !rule.method.matches(signal.method)) return `method ${signal.method} is not like ${rule.method.source}`;
  for (const { path, matcher } of rule.params) {
    if (!matcher.test(lookup(signal, path))) return `${path.join(".")} does not fit ${matcher.source}`;
  }
  return null;
}

function emit(rule: SignalRule, template: EmitTemplate, signal: Signal): MappedEvent {
  const session = template.sessionId === null ? signal.session : renderText(template.sessionId, signal);
  const summary = template.summary === null ? undefined : renderText(template.summary, signal);
  const data = template.data === null ? undefined : renderData(template.data, signal);
  const key = template.idempotencyKey === null ? undefined : renderText(template.idempotencyKey, signal);
  const expireAt = template.expireAt === null ? undefined : render(template.expireAt, signal);
  return {
    type: eventType(template, signal),
    method: template.method ?? METHOD_OF[signal.kind],
    ...(session === undefined ? {} : { session_id: session }),
    ...(summary === undefined ? {} : { summary }),
    ...(data === undefined || data === null ? {} : { data: asObject(data) }),
    ...(template.expiresInMs === null ? {} : { expiresInMs: template.expiresInMs }),
    ...(typeof expireAt === "string" && expireAt !== "" ? { expireAt } : {}),
    ...(key === undefined ? {} : { idempotency_key: key }),
    priority: rule.priority,
    rule: rule.id,
  };
}

function asObject(value: Json): JsonObject {
  return isObject(value) ? (value as JsonObject) : { value };
}

/** A type that a server's own words begin must not pass for one of the host's: it gets `app.` in front. */
function eventType(template: EmitTemplate, signal: Signal): string {
  const type = boundType(renderText(template.type, signal) ?? "");
  return startsDynamic(template.type) && signal.kind !== "host" && isReservedType(type) ? boundType(`app.${type}`) : type;
}

/** Whether a rule may emit once more: at most `count` in any window of `perMs`. Remembers that it did. */
function underRate(id: string, rate: Rate, env: MapEnv): boolean {
  let counter = env.counters.get(id);
  if (!counter || counter.next >= rate.count) env.counters.set(id, (counter = { times: [], next: 0 }));
  const oldest = counter.times[counter.next];
  // A time in the future means that the clock was set back; such a window is over.
  if (oldest !== undefined && oldest <= env.nowMs && env.nowMs - oldest < rate.perMs) return false;
  counter.times[counter.next] = env.nowMs;
  counter.next = (counter.next + 1) % rate.count;
  return true;
}
