import { expect, test } from "vitest";
import { count, listWords } from "../../src/base/text.ts";
import { flowLines } from "../../src/policy/flows.ts";

test("one is no plural", () => {
  expect([count(0, "rule"), count(1, "rule"), count(2, "rule"), count(1, "entry", "entries"), count(3, "entry", "entries")]).toEqual([
    "0 rules",
    "1 rule",
    "2 rules",
    "1 entry",
    "3 entries",
  ]);
  const lines = flowLines({ sources: [{ name: "a", kind: "tool", why: "trust low" }], sinks: [], paths: { open: 0, asked: 0, denied: 0 } });
  expect(lines).toContain("1 source (what they say marks a session):");
});

test("a list has one `and`", () => {
  expect([[], ["a"], ["a", "b"], ["a", "b", "c"]].map(listWords)).toEqual(["", "a", "a and b", "a, b and c"]);
});
