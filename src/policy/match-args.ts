import { ExactNumber } from "../base/exact-json.ts";
import { compileGlob } from "../base/glob.ts";
import { compileRegExp, type LinearRegExp } from "../base/json-schema.ts";
import { canonicalJson, isObject, type Json, type JsonObject } from "../base/json.ts";
import type { ArgumentMatcher } from "../../generated/policy.d.ts";
import { liesUnder, normalizePath, spellingsOf, type Spellings, type Verdict } from "./spellings.ts";

/** A compiled `args` entry of a rule. */
export interface ArgumentTest {
  readonly path: string;
  /** The verdict over the arguments of one call. A missing argument is `no`, unless the matcher says `present: false`. */
  judge(args: JsonObject): Verdict;
}

/** A matcher key whose pattern cannot be used. */
export interface PatternFault {
  readonly key: string;
  readonly reason: string;
  readonly code: "bad-pattern" | "pattern-too-large";
}

/** Longest regular expression that a rule may have, in characters. */
const MAX_PATTERN = 1000;

/** Compiles one `args` entry; `faults` name the matcher keys that cannot be used, and why. */
export function compileArgumentTest(path: string, matcher: ArgumentMatcher): { readonly test: ArgumentTest; readonly faults: readonly PatternFault[] } {
  const faults: PatternFault[] = [];
  const conditions: Condition[] = [];
  if (Object.hasOwn(matcher, "equals")) conditions.push(oneOf([matcher.equals as Json]));
  if (matcher.one_of !== undefined) conditions.push(oneOf(matcher.one_of as Json[]));
  if (matcher.glob !== undefined) conditions.push(globCondition(matcher.glob));
  if (matcher.matches !== undefined) {
    const compiled =
      matcher.matches.length > MAX_PATTERN ? { ok: false as const, reason: `it is longer than ${MAX_PATTERN} characters` } : compileRegExp(matcher.matches);
    if (compiled.ok) conditions.push(regExpCondition(compiled.regexp));
    else faults.push({ key: "matches", reason: compiled.reason, code: /too large|repeat|longer/.test(compiled.reason) ? "pattern-too-large" : "bad-pattern" });
  }
  if (matcher.min !== undefined) conditions.push(numberCondition((n) => n >= matcher.min!));
  if (matcher.max !== undefined) conditions.push(numberCondition((n) => n <= matcher.max!));
  if (matcher.under !== undefined) conditions.push(underCondition(matcher.under));
  const segments = path.split(".");
  const present = matcher.present;
  const maxLength = matcher.max_length;

  const judge = (args: JsonObject): Verdict => {
    const found = valuesAt(args, path, segments);
    if (present === false) return found.values.length === 0 ? "yes" : found.missing ? "unclear" : "no";
    if (found.values.length === 0) return "no";
    let verdict = all(found.values.map((value) => judgeValue(value, conditions, maxLength)));
    if (found.missing && verdict === "yes") verdict = "unclear";
    return verdict;
  };
  return { test: Object.freeze({ path, judge }), faults };
}

type Condition = (value: Json) => Verdict;

/** All elements of a list are judged: `yes` when all say yes, `no` when none says anything else, `unclear` between. */
function judgeValue(value: Json, conditions: readonly Condition[], maxLength: number | undefined, depth = 0): Verdict {
  if (Array.isArray(value)) {
    if (depth > 20) return "unclear";
    const length = maxLength === undefined || value.length <= maxLength ? "yes" : "no";
    if (conditions.length === 0 && maxLength === undefined) return "yes";
    if (value.length === 0) return conditions.length === 0 ? length : "no";
    return both(length, all(value.map((item) => judgeValue(item, conditions, maxLength, depth + 1))));
  }
  let verdict: Verdict = maxLength === undefined ? "yes" : lengthOf(value, maxLength);
  for (const condition of conditions) verdict = both(verdict, condition(value));
  return verdict;
}

function all(verdicts: readonly Verdict[]): Verdict {
  const first = verdicts[0]!;
  return verdicts.every((v) => v === first) ? first : "unclear";
}

function both(a: Verdict, b: Verdict): Verdict {
  if (a === "no" || b === "no") return "no";
  return a === "yes" && b === "yes" ? "yes" : "unclear";
}

function lengthOf(value: Json, max: number): Verdict {
  if (typeof value === "string") return value.length <= max || [...value].length <= max ? "yes" : "no";
  return "unclear";
}

/** Equal as JSON: yes. Equal only once numbers and texts are taken for each other, or in another spelling: unclear. */
function oneOf(wanted: readonly Json[]): Condition {
  const exact = new Set(wanted.map((w) => canonicalJson(w)));
  const loose = new Set(wanted.flatMap((w) => (isObject(w) || Array.isArray(w) || w === null ? [] : spellingsOf(String(w)).texts)));
  return (value) => {
    if (exact.has(canonicalJson(value))) return "yes";
    if (value === null || Array.isArray(value) || (isObject(value) && !isNumber(value))) return "no";
    const spelled = spellingsOf(String(value));
    return spelled.unclear || spelled.texts.some((t) => loose.has(t)) ? "unclear" : "no";
  };
}

// `**` and a slash in front stand for any folders, or none.
function globCondition(pattern: string): Condition {
  const patterns = [pattern, pattern.normalize("NFKC")].flatMap((p) => (p.startsWith("**/") ? [p, p.slice(3)] : [p]));
  const globs = [...new Set(patterns)].map((p) => compileGlob(p));
  return textCondition((s) => judgeSpellings(s, (text) => globs.some((g) => g.matches(text))));
}

function regExpCondition(regexp: LinearRegExp): Condition {
  return textCondition((s) => judgeSpellings(s, (text) => regexp.test(text)));
}

function judgeSpellings(spelled: Spellings, matches: (text: string) => boolean): Verdict {
  const hits = spelled.texts.filter((t) => matches(t)).length;
  if (hits === 0) return spelled.unclear ? "unclear" : "no";
  return hits === spelled.texts.length && !spelled.unclear ? "yes" : "unclear";
}

function underCondition(folder: string): Condition {
  const base = normalizePath(folder);
  const folded = base.normalize("NFKC").toLowerCase();
  return textCondition((spelled) => {
    const verdicts = spelled.paths.map((path) => liesUnder(path, base));
    if (!spelled.unclear && verdicts.every((v) => v === "yes")) return "yes";
    // A disk may take letters of either case for the same: such a path is neither clearly inside nor clearly outside.
    const perhaps = spelled.unclear || verdicts.some((v) => v !== "no") || spelled.foldedPaths.some((path) => liesUnder(path, folded) !== "no");
    return perhaps ? "unclear" : "no";
  });
}

function textCondition(judge: (spelled: Spellings) => Verdict): Condition {
  return (value) => {
    if (typeof value === "string") return judge(spellingsOf(value));
    if (isNumber(value) || typeof value === "boolean") return judge(spellingsOf(String(value)));
    return value === null ? "no" : "unclear";
  };
}

function numberCondition(holds: (n: number) => boolean): Condition {
  return (value) => {
    if (isNumber(value)) return holds(Number(value)) ? "yes" : "no";
    return value === null ? "no" : "unclear";
  };
}

/** A number, or one with more digits than a double holds. */
function isNumber(value: unknown): boolean {
  return typeof value === "number" || value instanceof ExactNumber;
}

/** All values that a dotted path leads to; lists on the way are walked. `missing`: some element of such a list does not have it. */
function valuesAt(args: JsonObject, path: string, segments: readonly string[]): { values: Json[]; missing: boolean } {
  const values: Json[] = [];
  let missing = false;
  const walk = (node: Json, index: number): void => {
    if (index === segments.length) {
      values.push(node);
    } else if (Array.isArray(node)) {
      for (const item of node) walk(item, index);
    } else if (isObject(node) && Object.hasOwn(node, segments[index]!)) {
      walk(node[segments[index]!] as Json, index + 1);
    } else {
      missing = true;
    }
  };
  walk(args, 0);
  // Missing at some element of a list, not missing altogether.
  missing &&= values.length > 0;
  // A server may also have an argument whose own name has dots in it.
  if (segments.length > 1 && Object.hasOwn(args, path)) values.push(args[path]!);
  return { values, missing };
}
