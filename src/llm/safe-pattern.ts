import { compileRegExp } from "../base/json-schema.ts";

/** Verdicts on the patterns met last; catalogues say the same few again and again, and compiling one is dear. */
const verdicts = new Map<string, boolean>();
const MAX_VERDICTS = 500;
/** Longer patterns are looked at each time, so that the verdicts stay small. */
const MAX_REMEMBERED = 500;

/**
 * Whether a pattern means the same in every engine a provider may use (Rust, RE2, Python, ECMAScript): no lookaround,
 * back-references, Unicode properties, named groups or escapes that only some of them know.
 */
export function isPortablePattern(pattern: string): boolean {
  const known = verdicts.get(pattern);
  if (known !== undefined) return known;
  const verdict = hasPortableSyntax(pattern) && compileRegExp(pattern).ok;
  if (pattern.length > MAX_REMEMBERED) return verdict;
  if (verdicts.size >= MAX_VERDICTS) verdicts.clear();
  verdicts.set(pattern, verdict);
  return verdict;
}

function hasPortableSyntax(pattern: string): boolean {
  let inClass = false;
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern.charAt(i);
    if (char === "\\") {
      i += 1;
      const next = pattern.charAt(i);
      if (next === "" || (/[A-Za-z0-9]/.test(next) && !/[dDwWsSbBnrtfv0xu]/.test(next))) return false;
      if (next === "0" && /[0-9]/.test(pattern.charAt(i + 1))) return false;
      if (next === "x" && !/^[0-9A-Fa-f]{2}/.test(pattern.slice(i + 1))) return false;
      if (next === "u" && !/^[0-9A-Fa-f]{4}/.test(pattern.slice(i + 1))) return false;
      if (inClass && (next === "b" || next === "B")) return false;
    } else if (inClass) {
      if (char === "]") inClass = false;
      else if (/^(?:&&|--|~~|\|\||\[:)/.test(pattern.slice(i, i + 2))) return false;
    } else if (char === "[") {
      inClass = true;
      // `[]` and `[^]` are empty and full classes in ECMAScript and something else everywhere else.
      if (/^\^?\]/.test(pattern.slice(i + 1, i + 3))) return false;
    } else if (char === "(" && pattern.charAt(i + 1) === "?" && pattern.charAt(i + 2) !== ":") {
      return false;
    }
  }
  return !inClass;
}
