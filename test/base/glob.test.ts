import fc from "fast-check";
import { runs } from "../support/explore.ts";
import { expect, test } from "vitest";
import { compileGlob } from "../../src/base/glob.ts";

/** Few characters, so that patterns meet texts; two that share a code unit, to tell characters from halves. */
const text = fc.array(fc.constantFrom("a", "b", ".", "天", "😀", "😁"), { maxLength: 7 }).map((characters) => characters.join(""));
const pattern = fc.array(fc.constantFrom("a", "b", ".", "天", "😀", "*", "?"), { maxLength: 5 }).map((characters) => characters.join(""));

test("a pattern matches what the regular expression of the same meaning matches", () => {
  fc.assert(
    fc.property(pattern, text, (glob, name) => {
      const source = [...glob].map((c) => (c === "*" ? ".*" : c === "?" ? "." : c === "." ? "\\." : c)).join("");
      expect(compileGlob(glob).matches(name)).toBe(new RegExp(`^${source}$`, "su").test(name));
    }),
    runs(3000),
  );
});

test.each([
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["*", "", true],
  ["*b", "ab", true],
  ["a*", "ba", false],
] as const)("%s and %s", (glob, name, fits) => {
  expect(compileGlob(glob).matches(name)).toBe(fits);
});
