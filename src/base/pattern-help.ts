const LINEAR = "patterns run in linear time: no back-references, no lookaround in the middle, no large nested counts";

/** What to do, by what the engine says of a pattern. */
const MENDS: readonly (readonly [reason: RegExp, help: string])[] = [
  [/missing closing \]/, "close the [ with ], or write \\[ for the bracket itself"],
  [/missing closing \)|unexpected \)/, "give each ( its ), or write \\( and \\) for the brackets themselves"],
  [/missing argument to repetition/, "put before *, + or ? what is to be repeated, or write \\* for the sign itself; names with * and ? go into glob"],
  [/nested repetition/, "take one of the two repetitions out, or put the inner one into ( )"],
  [/character class range/, "write the lower end of a range first, as in [a-z], or \\- for the sign itself"],
  [/trailing backslash/i, "write \\\\ for a backslash itself"],

  [/named capture|Perl syntax/, LINEAR],
  [/repeat count|too large|longer/, "make the counts and the pattern smaller; max_length bounds the length of a text"],
];

/** How to mend a pattern that cannot be used, for a help line. */
export function patternHelp(reason: string): string {
  return MENDS.find(([said]) => said.test(reason))?.[1] ?? LINEAR;
}
