import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { argumentKeyMap } from "../../src/llm/argument-keys.ts";
import { readArguments, stringifyArguments, type ArgumentsResult } from "../../src/llm/arguments.ts";

interface ArgumentCase {
  readonly case: string;
  readonly inputSchema: JsonObject;
  readonly arguments: unknown;
  readonly expect: Json;
}

const cases = JSON.parse(readFileSync(new URL("fixtures/argument-cases.json", import.meta.url), "utf8")) as ArgumentCase[];

function schema(properties: JsonObject, more: JsonObject = {}): { readonly inputSchema: JsonObject } {
  return { inputSchema: { type: "object", properties, ...more } };
}

function argsOf(result: ArgumentsResult): JsonObject {
  if (!result.ok) throw new Error(result.message);
  return result.args;
}

function messageOf(result: ArgumentsResult): string {
  if (result.ok) throw new Error(`accepted: ${stringifyArguments(result.args)}`);
  return result.message;
}

test.each(cases)("$case", ({ inputSchema, arguments: given, expect: expected }) => {
  const result = readArguments(given, { inputSchema, keyMap: argumentKeyMap(inputSchema) });
  if (expected === "refused") expect(result.ok).toBe(false);
  else expect(argsOf(result)).toEqual(expected);
});

test.each(["", "  ", "null", '""', '"  "', null, undefined, "{}", '"{}"'])("nothing given is no arguments: %j", (given) => {
  expect(argsOf(readArguments(given, { inputSchema: undefined }))).toEqual({});
});

test.each(["[]", "3", "true", '"text"', '"\\"\\\\\\"{}\\\\\\"\\""', "{} and more", "```json\n{}\n```", "{'a':1}", '{"a":1', '{"a":"x'])(
  "no object, no call: %s",
  (given) => {
    expect(messageOf(readArguments(given, { inputSchema: { type: "object" } }))).toMatch(/whole call again/);
  },
);

test("cut-off text names the place and is not repaired", () => {
  const message = messageOf(readArguments('{"path":"/srv/data/re', schema({ path: { type: "string" } })));
  expect(message).toContain("character 21");
  expect(message).toContain("Nothing was called");
});

test.each<[string, string]>([
  ["```json\n{}\n```", "no JSON: there is a mistake at character 0."],
  ['{"a":NaN}', "no JSON: there is a mistake at character 5."],
  [`{"long":"${"x".repeat(200)}","a":None}`, "no JSON: there is a mistake at character 215."],
  ['{"a":1,}', "no JSON: there is a mistake at character 7."],
  ['{"a":tr', "not complete JSON: they end unfinished at character 7."],
  ['{"a":-', "not complete JSON: they end unfinished at character 6."],
])("%j is told apart from what is cut off, with its place", (given, message) => {
  expect(readArguments(given, { inputSchema: { type: "object" } })).toMatchObject({ ok: false, message: expect.stringContaining(message) });
});

test("a byte order mark in front of the text is no mistake", () => {
  expect(readArguments('\ufeff{"a":1}', { inputSchema: { type: "object" } })).toEqual({ ok: true, args: { a: 1 }, coercions: [] });
});

test.each(['{"a":[1,1e400]}', '"{\\"a\\":[1,-1E+999]}"', `{"a":[1,${"9".repeat(310)}.5]}`])("a number that would be sent as null is refused: %j", (given) => {
  expect(readArguments(given, { inputSchema: { type: "object" } })).toMatchObject({ ok: false, message: expect.stringContaining("/a/1") });
});

test.each(["3px", "", "0x10", "1e400", " 3", "2.0", "٣"])("%j is no number", (text) => {
  expect(messageOf(readArguments({ n: text }, schema({ n: { type: "integer" } }, { required: ["n"] })))).toContain("/n must be integer");
});

test("values are changed only where they fail", () => {
  const tool = schema({
    either: { type: ["integer", "string"] },
    text: { type: "string" },
    list: { type: "array", items: { type: "integer" } },
    on: { type: "boolean" },
  });
  const result = readArguments({ either: "42", text: "true", list: '["1", 2]', on: "true" }, tool);
  expect(result).toMatchObject({ ok: true, args: { either: "42", text: "true", list: [1, 2], on: true } });
  expect(result.ok && result.coercions).toEqual([
    { pointer: "/list", code: "json_decoded" },
    { pointer: "/on", code: "boolean_read" },
    { pointer: "/list/0", code: "number_read" },
  ]);
});

test("what the caller gave is not changed", () => {
  const given = { n: "3", deep: { gone: null } };
  readArguments(given, schema({ n: { type: "integer" }, deep: { type: "object", properties: { gone: { type: "string" } } } }));
  expect(given).toEqual({ n: "3", deep: { gone: null } });
});

test("null and empty text for a required property are the mistake that is told", () => {
  const tool = schema({ a: { type: "integer" }, b: { type: "string" } }, { required: ["a", "b"] });
  const result = readArguments({ a: "", b: null }, tool);
  expect(result).toMatchObject({
    ok: false,
    issues: [
      { pointer: "/a", keyword: "type" },
      { pointer: "/b", keyword: "type" },
    ],
  });
});

test("empty text stands for an absent number, boolean, list or object", () => {
  const tool = schema({ n: { type: "number" }, b: { type: "boolean" }, l: { type: "array" }, o: { type: "object" }, s: { type: "string" } });
  expect(argsOf(readArguments({ n: "", b: "", l: "", o: "", s: "" }, tool))).toEqual({ s: "" });
});

describe("properties named as what every object inherits", () => {
  const named = (schema: object): unknown => ({ type: "object", additionalProperties: false, ...schema });

  test.each(["constructor", "toString", "valueOf", "hasOwnProperty"])("an optional %s may be absent, and is checked when it is there", (name) => {
    const inputSchema = named({ properties: { [name]: { type: "string" }, q: { type: "string" } } });
    expect(readArguments({ q: "x" }, { inputSchema })).toMatchObject({ ok: true, args: { q: "x" } });
    expect(readArguments(JSON.parse(`{"${name}":{}}`), { inputSchema }).ok).toBe(false);
  });

  test.each(["constructor", "toString"])("a required %s is missed", (name) => {
    expect(readArguments({}, { inputSchema: named({ properties: { [name]: {} }, required: [name] }) }).ok).toBe(false);
  });
});

describe("unknown properties under a closed schema", () => {
  const tool = schema({ from: { type: "string" }, force: { type: "boolean" } }, { additionalProperties: false });

  test("are refused with their pointer and a near name", () => {
    expect(messageOf(readArguments({ from: "a", forec: true }, tool))).toContain("/forec is not a property of this tool (did you mean force?)");
  });

  test("are dropped when asked for, and that is reported", () => {
    expect(readArguments({ from: "a", x: 1 }, tool, { dropUnknown: true })).toEqual({
      ok: true,
      args: { from: "a" },
      coercions: [{ pointer: "/x", code: "unknown_dropped" }],
    });
  });
});

describe("digits of large whole numbers", () => {
  const tool = schema({ id: { type: "integer" }, text: { type: "string" }, list: { type: "array", items: { type: "integer" } } });

  test.each([
    '{"id":9007199254740993,"text":"exact:1","list":[1,123456789012345678901]}',
    '{"text":"9007199254740993"}',
    '{"id":-9223372036854775808}',
    '{"text":"\\"12345678901234567890","id":12345678901234567890}',
  ])("%s", (given) => {
    expect(stringifyArguments(argsOf(readArguments(given, tool)))).toBe(given);
  });

  test("are kept when they come as text", () => {
    expect(stringifyArguments(argsOf(readArguments({ id: "9007199254740993" }, tool)))).toBe('{"id":9007199254740993}');
  });

  test("are judged as numbers", () => {
    expect(messageOf(readArguments('{"id":9007199254740993}', schema({ id: { type: "integer", maximum: 10 } })))).toContain("must be <= 10");
    expect(messageOf(readArguments('{"id":9007199254740993}', schema({ id: { type: "string" } })))).toContain("must be string");
  });
});

describe("what would not reach the server as it was judged", () => {
  const tool = schema({ a: {}, amount: { type: "number" } });
  const nested = (depth: number): unknown => JSON.parse(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`);

  test.each([
    ["as text", '{"a":[{"b/c":1e400}]}'],
    ["as a value", { a: [{ "b/c": Infinity }] }],
  ])("a number without an end, %s", (_form, given) => {
    expect(messageOf(readArguments(given, tool))).toContain("The number at /a/0/b~1c is too large for any program to hold. Nothing was called.");
  });

  test("nesting beyond reason, a circle too; and not a level before", () => {
    expect(readArguments(nested(499), tool).ok).toBe(true);
    const circle: Record<string, unknown> = {};
    circle["a"] = circle;
    for (const given of [nested(500), JSON.stringify(nested(500)), nested(100_000), circle])
      expect(messageOf(readArguments(given, tool))).toContain("nested deeper than 500 levels. Nothing was called.");
  });
});

test("__proto__ and constructor are plain data", () => {
  const raw = '{"cfg":{"__proto__":{"admin":true},"constructor":{"prototype":{}}},"__proto__":{"x":null}}';
  const result = readArguments(raw, schema({ cfg: { type: "object", additionalProperties: true }, n: { type: "integer" } }));
  expect(stringifyArguments(argsOf(result))).toBe(raw);
  expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  const coerced = readArguments('{"__proto__":{"admin":true},"n":"3"}', schema({ n: { type: "integer" } }));
  expect(stringifyArguments(argsOf(coerced))).toBe('{"__proto__":{"admin":true},"n":3}');
});

describe("renamed properties", () => {
  const inputSchema: JsonObject = {
    type: "object",
    properties: {
      $top: { type: "integer" },
      "@odata.type": { type: "string" },
      path: { type: "string" },
      more: { type: "object", additionalProperties: true },
      list: { type: "array", items: { anyOf: [{ $ref: "#/$defs/Row" }, { type: "null" }] } },
    },
    $defs: { Row: { type: "object", properties: { "a b": { type: "string" } } } },
  };
  const tool = { inputSchema, keyMap: argumentKeyMap(inputSchema) };

  test("come back at every depth, whichever provider showed them", () => {
    expect(argsOf(readArguments({ _top: 5, "_odata.type": "x", list: [{ a_b: "y" }, null] }, tool))).toEqual({
      $top: 5,
      "@odata.type": "x",
      list: [{ "a b": "y" }, null],
    });
    expect(argsOf(readArguments({ _odata_type: "x" }, tool))).toEqual({ "@odata.type": "x" });
  });

  test("come back in members that a pattern of keys describes", () => {
    const schema = { type: "object", patternProperties: { "^a": { type: "object", properties: { "c d": { type: "string" } } }, "^b": { type: "object" } } };
    expect(argsOf(readArguments({ a1: { c_d: "x" }, b1: { c_d: "y" } }, { inputSchema: schema, keyMap: argumentKeyMap(schema) }))).toEqual({
      a1: { "c d": "x" },
      b1: { c_d: "y" },
    });
  });

  test("come back inside JSON text that had to be decoded", () => {
    const place = { type: "object", properties: { "c d": { type: "string" } }, required: ["c d"] };
    const schema = { type: "object", properties: { where: place, list: { type: "array", items: place } } };
    const given = { where: '{"c_d":"x"}', list: '[{"c_d":"y"}]' };
    expect(readArguments(given, { inputSchema: schema, keyMap: argumentKeyMap(schema) })).toMatchObject({
      ok: true,
      args: { where: { "c d": "x" }, list: [{ "c d": "y" }] },
    });
  });

  test("leave the members of a free-form object alone", () => {
    expect(argsOf(readArguments({ more: { _top: 1 } }, tool))).toEqual({ more: { _top: 1 } });
  });

  test("a real property of that name keeps its own value", () => {
    const both: JsonObject = { type: "object", properties: { $top: { type: "integer" }, _top: { type: "integer" } } };
    const map = argumentKeyMap(both);
    const renamed = [...map.keys()][0]!;
    expect(renamed).toMatch(/^_top_[a-z2-7]{8}$/);
    expect(argsOf(readArguments({ _top: 1, [renamed]: 2 }, { inputSchema: both, keyMap: map }))).toEqual({ _top: 1, $top: 2 });
  });
});

describe("the tool's own schema decides, whatever was exported", () => {
  test.each<[string, JsonObject, JsonObject, boolean]>([
    [
      "order of a tuple",
      { properties: { pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false, minItems: 2 } } },
      { pair: [1, "x"] },
      false,
    ],
    [
      "order of a tuple kept",
      { properties: { pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false, minItems: 2 } } },
      { pair: ["x", 1] },
      true,
    ],
    ["a forbidden property", { properties: { legacy: false } }, { legacy: 1 }, false],
    ["a draft-04 bound", { properties: { ttl: { type: "integer", minimum: 0, exclusiveMinimum: true } } }, { ttl: 0 }, false],
    ["lookahead", { properties: { key: { type: "string", pattern: "^(?!undefined$|null$).+$" } } }, { key: "undefined" }, false],
    [
      "if/then",
      { properties: { mode: { enum: ["file"] } }, if: { properties: { mode: { const: "file" } }, required: ["mode"] }, then: { required: ["path"] } },
      { mode: "file" },
      false,
    ],
    ["not", { properties: { a: {}, b: {} }, not: { required: ["a", "b"] } }, { a: 1, b: 1 }, false],
    [
      "draft-07 dependencies",
      { $schema: "http://json-schema.org/draft-07/schema#", properties: { card: {}, cvc: {} }, dependencies: { card: ["cvc"] } },
      { card: "1" },
      false,
    ],
    ["required that is declared nowhere", { properties: { path: { type: "string" } }, required: ["path", "ghost"] }, { path: "a" }, true],
    ["recursion", { properties: { kids: { type: "array", items: { $ref: "#" } }, n: { type: "integer" } } }, { kids: [{ kids: [{ n: "x" }] }] }, false],
    ["a reference without end", { properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { allOf: [{ $ref: "#/$defs/A" }] } } }, { a: 1 }, true],
  ])("%s", (_case, inputSchema, args, ok) => {
    expect(readArguments(args, { inputSchema: { type: "object", ...inputSchema } }).ok).toBe(ok);
  });

  test("a schema that refers outside itself is never fetched, and no call is made with it", () => {
    expect(messageOf(readArguments({}, { inputSchema: { type: "object", properties: { a: { $ref: "file:///etc/hostname" } } } }))).toContain(
      "file:///etc/hostname",
    );
  });
});
