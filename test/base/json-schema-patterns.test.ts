import { expect, test } from "vitest";
import { compileSchema } from "../../src/base/json-schema.ts";

test("each pattern of a schema is its own", () => {
  const compiled = compileSchema({ type: "object", properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" }, c: { pattern: "(x)\\1" } }, patternProperties: { "^x": { const: 1 } } });
  if (!compiled.ok) throw new Error(compiled.reason);
  expect(compiled.schema.validate({ a: "a", b: "b", c: "any", x1: 1 })).toEqual([]);
  expect(compiled.schema.validate({ a: "b", b: "a", x1: 2 }).map((issue) => issue.path.join("."))).toEqual(["a", "b", "x1"]);
  expect(compiled.schema.skippedPatterns).toEqual(["(x)\\1"]);
});
