import { compileGlob } from "../base/glob.ts";
import { canonicalJson, isObject, type Json } from "../base/json.ts";
import { compileRegExp } from "../base/json-schema.ts";
import { patternHelp } from "../base/pattern-help.ts";
import { nearest } from "../base/text.ts";

/** A compiled condition on one value; `value` is undefined where the signal has none. */
export interface ValueMatcher {
  /** The condition as it was written, for explanations. */
  readonly source: string;
  test(value: Json | undefined): boolean;
}

const TYPES = ["string", "number", "boolean", "null", "object", "array"] as const;
const KEYS = ["equals", "one_of", "glob", "matches", "present", "type", "min", "max"] as const;

/** Either a compiled matcher, or what is wrong with it. */
export type MatcherResult = { readonly ok: true; readonly matcher: ValueMatcher } | { readonly ok: false; readonly reason: string; readonly help?: string };

/** What is wrong with a condition, with how to mend it where that is not plain. */
interface Fault {
  readonly reason: string;
  readonly help?: string;
}

/**
 * Compiles a condition of `when.params`: a plain value that must be equal, or a map of `equals`, `one_of`, `glob`, `matches`
 * (RE2, searched anywhere), `present`, `type`, `min`, `max`, which must all hold.
 */
export function compileMatcher(written: unknown): MatcherResult {
  if (!isObject(written)) return { ok: true, matcher: { source: shown(written), test: equalTo(written) } };
  const entries = Object.entries(written);
  if (entries.length === 0) return { ok: false, reason: `an empty matcher; use one of ${KEYS.join(", ")}` };
  const tests: ((value: Json | undefined) => boolean)[] = [];
  for (const [key, operand] of entries) {
    const test = compileTest(key, operand);
    if (typeof test === "string") return { ok: false, reason: test };
    if (typeof test === "object") return { ok: false, ...test };
    tests.push(test);
  }
  return { ok: true, matcher: { source: shown(written), test: (value) => tests.every((test) => test(value)) } };
}

function compileTest(key: string, operand: unknown): ((value: Json | undefined) => boolean) | string | Fault {
  switch (key) {
    case "equals":
      return equalTo(operand);
    case "one_of": {
      if (!Array.isArray(operand)) return `one_of wants a list`;
      const tests = operand.map((item) => equalTo(item));
      return (value) => tests.some((test) => test(value));
    }
    case "glob": {
      if (typeof operand !== "string") return "glob wants a text";
      const glob = compileGlob(operand);
      return (value) => typeof value === "string" && glob.matches(value);
    }
    case "matches": {
      if (typeof operand !== "string") return "matches wants a regular expression";
      const compiled = compileRegExp(operand);
      if (!compiled.ok) return { reason: `the pattern ${shown(operand)} cannot be used: ${compiled.reason}`, help: patternHelp(compiled.reason) };
      return (value) => typeof value === "string" && compiled.regexp.test(value);
    }
    case "present":
      if (typeof operand !== "boolean") return "present wants true or false";
      return (value) => (value !== undefined) === operand;
    case "type":
      if (!(TYPES as readonly unknown[]).includes(operand)) return `type wants one of ${TYPES.join(", ")}`;
      return (value) => typeName(value) === operand;
    case "min":
    case "max": {
      if (typeof operand !== "number") return `${key} wants a number`;
      return (value) => typeof value === "number" && (key === "min" ? value >= operand : value <= operand);
    }
    default: {
      const hint = nearest(key, KEYS, 1)[0];
      return `unknown matcher "${key}"; ${hint ? `did you mean "${hint}"?` : `use one of ${KEYS.join(", ")}`}`;
    }
  }
}

function equalTo(operand: unknown): (value: Json | undefined) => boolean {
  if (typeof operand !== "object" || operand === null) return (value) => value === operand;
  const wanted = canonicalJson(operand);
  return (value) => {
    if (typeof value !== "object" || value === null) return false;
    try {
      return canonicalJson(value) === wanted;
    } catch {
      return false; // Nested too deeply to be equal to anything a person wrote.
    }
  };
}

function typeName(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}
