import { canonicalJson, isObject, own, type Json, type JsonObject } from "../base/json.ts";
import { mapSignal, type SignalCounters } from "./map-signal.ts";
import type { SignalRules } from "./mapping.ts";
import { createSealer } from "./envelope.ts";
import { SIGNAL_METHODS, signalOfNotification, signalParams } from "./signal.ts";
import type { AmpEnvelope, Signal } from "./types.ts";
import { count, nearest } from "../base/text.ts";

/** Result of one fixture of `signals test FILE`. */
export interface FixtureResult {
  readonly name: string;
  readonly ok: boolean;
  /** What differs, in words; empty when it passed. */
  readonly problems: readonly string[];
  readonly envelopes: readonly AmpEnvelope[];
}

const KINDS = Object.keys(SIGNAL_METHODS);
const TEST_KEYS: readonly string[] = ["name", "signal", "expect"];
const SIGNAL_KEYS: readonly string[] = ["app", "method", "kind", "params", "session", "instance"];

/**
 * Runs fixtures of the mapping offline. `file` is the parsed fixture file: `{ tests: [{ name?, signal: { app, method, kind?, params?, session?, instance? }, expect: […] }] }`.
 * `expect` lists the envelopes in order, each with only the members to compare (`type`, `method`, `session_id`, `summary`, `data`,
 * `expires`), and is empty for a drop. `chatText`: whether texts of chat messages stand in summaries. The clock stands still and `sample` always lets pass, so a file gives the same result each time.
 */
export function runSignalFixtures(rules: SignalRules, file: unknown, chatText: boolean): FixtureResult[] {
  const tests = own(file, "tests");
  if (!Array.isArray(tests)) return [{ name: "file", ok: false, problems: ["a fixture file needs a list `tests`"], envelopes: [] }];
  const setting: Setting = { rules, chatText, counters: new Map() };
  return tests.map((test: unknown, index) => runOne(setting, test, index));
}

interface Setting {
  readonly rules: SignalRules;
  readonly chatText: boolean;
  readonly counters: SignalCounters;
}

function runOne(setting: Setting, test: unknown, index: number): FixtureResult {
  const named = own(test, "name");
  const name = typeof named === "string" ? named : `test ${index + 1}`;
  const signal = readSignal(own(test, "signal"));
  const expect = own(test, "expect");
  const faults = unknownKeys(test, TEST_KEYS, "the test");
  if (typeof signal === "string") faults.push(signal);
  if (!Array.isArray(expect)) faults.push("`expect` must be a list; an empty one for a drop");
  if (typeof signal === "string" || !Array.isArray(expect) || faults.length > 0) return { name, ok: false, problems: faults, envelopes: [] };
  const envelopes = "refused" in signal ? [] : sealAll(setting, signal.signal);
  const problems = "refused" in signal && expect.length > 0 ? [`the event is refused: ${signal.refused}`] : [];
  if (envelopes.length !== expect.length)
    problems.push(
      `expected ${count(expect.length, "envelope")}, got ${envelopes.length}${envelopes.length ? ` (${envelopes.map((e) => e.payload.type).join(", ")})` : ""}`,
    );
  for (const [i, envelope] of envelopes.entries()) if (i < expect.length) problems.push(...differences(envelope, expect[i] as unknown, i));
  return { name, ok: problems.length === 0, problems, envelopes };
}

/** The keys of a map that nobody reads, in words. */
function unknownKeys(value: unknown, known: readonly string[], where: string): string[] {
  if (!isObject(value)) return [];
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const near = nearest(key, known, 1)[0];
      return `unknown key "${key}" in ${where}${near === undefined ? "" : `; did you mean "${near}"?`} (known: ${known.join(", ")})`;
    });
}

/** The signal that a fixture or a command line wrote down; `refused` where an app's event of that form is refused, a text says what is wrong with the writing. */
export function readSignal(written: unknown): { readonly signal: Signal } | { readonly refused: string } | string {
  const app = own(written, "app");
  const method = own(written, "method");
  const kind = own(written, "kind") ?? "notification";
  const session = own(written, "session");
  const instance = own(written, "instance");
  const unknown = unknownKeys(written, SIGNAL_KEYS, "`signal`");
  if (unknown.length > 0) return unknown.join("; ");
  if (typeof app !== "string" || typeof method !== "string") return "`signal` needs app and method";
  if (typeof kind !== "string" || !KINDS.includes(kind)) {
    const near = nearest(String(kind), KINDS, 1)[0];
    return `signal.kind must be one of ${KINDS.join(", ")}${near === undefined ? "" : `; did you mean "${near}"?`}`;
  }
  const source = { app, instance: typeof instance === "string" ? instance : null };
  const params = own(written, "params");
  if (kind === "notification") return signalOfNotification(source, method, params);
  if (kind === "event") return signalOfNotification(source, "aurora/event", params);
  return { signal: { kind: kind as Signal["kind"], ...source, method, params: signalParams(params), ...(typeof session === "string" ? { session } : {}) } };
}

function sealAll({ rules, chatText, counters }: Setting, signal: Signal): AmpEnvelope[] {
  const sealer = createSealer({
    clock: { now: () => 0, monotonic: () => 0 },
    random: (size) => new Uint8Array(size),
    offset: () => 0,
    mask: (value) => value,
    maxDataBytes: () => 256 * 1024,
    chatText: () => chatText,
  });
  return mapSignal(rules, signal, { nowMs: 0, random: () => 0, counters }).map((event) => sealer.seal(event, signal));
}

function differences(envelope: AmpEnvelope, expected: unknown, index: number): string[] {
  if (!isObject(expected)) return [`expect[${index}] must be a map`];
  const actual: JsonObject = {
    ...(envelope.payload as unknown as JsonObject),
    method: envelope.header.method,
    app: envelope.header.source.app,
    expires: envelope.payload.expire_at !== undefined,
  };
  return Object.entries(expected).flatMap(([key, value]) => {
    const got = own(actual, key);
    return same(got, value as Json) ? [] : [`expect[${index}].${key}: expected ${JSON.stringify(value)}, got ${JSON.stringify(got) ?? "nothing"}`];
  });
}

/** Maps need only have the members that are expected; all else must be equal. */
function same(actual: unknown, expected: unknown): boolean {
  if (isObject(expected)) return isObject(actual) && Object.entries(expected).every(([key, value]) => same(own(actual, key), value));
  return actual !== undefined && canonicalJson(actual) === canonicalJson(expected);
}
