import { expect, test } from "vitest";
import { compileRegExp, compileSchema } from "../../src/base/json-schema.ts";

test("each pattern of a schema is its own", () => {
  const compiled = compileSchema({
    type: "object",
    properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" }, c: { pattern: "(x)\\1" } },
    patternProperties: { "^x": { const: 1 } },
  });
  if (!compiled.ok) throw new Error(compiled.reason);
  expect(compiled.schema.validate({ a: "a", b: "b", c: "any", x1: 1 })).toEqual([]);
  expect(compiled.schema.validate({ a: "b", b: "a", x1: 2 }).map((issue) => issue.path.join("."))).toEqual(["a", "b", "x1"]);
  expect(compiled.schema.skippedPatterns).toEqual(["(x)\\1"]);
});

test("a schema may refer to its own root", () => {
  const compiled = compileSchema({ type: "object", properties: { child: { $ref: "#" }, name: { type: "string" } } });
  if (!compiled.ok) throw new Error(compiled.reason);
  expect(compiled.schema.validate({ child: { child: { name: 1 } } }).map((issue) => issue.path.join("."))).toEqual(["child.child.name"]);
});

test.each([
  ["^(?!undefined$|null$).+$", ["undefined", "null", "nullable", "a", ""]],
  ["(?<=@)example\\.com$", ["a@example.com", "example.com", "x.example.com"]],
  ["^(?=.*[A-Z])(?=.*\\d).{4,}$", ["Ab1x", "ab1x", "AB", "A1bcd"]],
  ["^(?!-)[a-z0-9-]{1,63}(?<!-)$", ["-a", "a-", "a-b", "a"]],
  ["a(?=b)", ["ab", "ac"]],
])("lookaround in a fixed place is taken apart: %s", (pattern, texts) => {
  const compiled = compileRegExp(pattern);
  if (!compiled.ok) throw new Error(compiled.reason);
  for (const text of texts) expect([text, compiled.regexp.test(text)]).toEqual([text, new RegExp(pattern, "u").test(text)]);
});

test.each(["x(?!y)", "(a)\\1", "^a(?=.*b)c", "(?=a)b|c"])("what has no linear form is refused: %s", (pattern) => {
  expect(compileRegExp(pattern).ok).toBe(false);
});
