import fc from "fast-check";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import { toStrictJsonSchema } from "openai/lib/transform";
import { describe, expect, test } from "vitest";
import { isObject, own, setOwn, type Json, type JsonObject } from "../../src/base/json.ts";
import { compileSchema } from "../../src/base/json-schema.ts";
import { argumentKeyMap } from "../../src/llm/argument-keys.ts";
import { readArguments } from "../../src/llm/arguments.ts";
import type { ExportFormat } from "../../src/llm/types.ts";
import { runs } from "../support/explore.ts";
import { exportOne } from "./support/export-one.ts";
import { sample, type Pick } from "./support/sample.ts";
import { inputSchemas } from "./support/schema-arbitrary.ts";
import { brokenRules, rulesOf } from "./support/target-rules.ts";

const TARGETS: readonly ExportFormat[] = ["openai", "openai-strict", "anthropic", "anthropic-strict", "gemini", "gemini-legacy", "litellm"];
/** Each run compiles two validators, which is what takes the time. */
const RUNS = runs(60);

/** Deterministic choices out of a seed. */
function picker(seed: number): Pick {
  let state = seed >>> 0 || 1;
  return (max) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * (max + 1));
  };
}

/** Arguments as a model would have to give them under an exported schema: renamed properties, null for what a strict schema requires. */
function asExported(value: Json, schema: Json, root: JsonObject, exportedName: (name: string) => string): Json {
  if (Array.isArray(value)) return value.map((item) => asExported(item, isObject(schema) ? ((own(schema, "items") ?? {}) as Json) : {}, root, exportedName));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value))
    setOwn(out, exportedName(key), asExported((value as JsonObject)[key]!, childOf(schema, exportedName(key), root), root, exportedName));
  return out;
}

function childOf(schema: Json, key: string, root: JsonObject): Json {
  const ref = own(schema, "$ref");
  if (typeof ref === "string") return childOf((own(root["$defs"], ref.slice("#/$defs/".length)) ?? {}) as Json, key, root);
  for (const branch of (own(schema, "anyOf") ?? []) as Json[])
    if (own(own(branch, "properties"), key) !== undefined) return own(own(branch, "properties"), key) as Json;
  return (own(own(schema, "properties"), key) ?? {}) as Json;
}

/** A strict schema as it judges arguments in which what is absent may stay absent. */
function withAbsent(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withAbsent);
  if (!isObject(schema)) return schema;
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(schema as JsonObject)) {
    if ((key === "required" && Array.isArray(value)) || (key === "nullable" && value === true)) continue;
    setOwn(out, key, key === "enum" ? value : withAbsent(value));
  }
  if (own(schema, "nullable") === true) return { anyOf: [out, { type: "null" }] };
  return out;
}

describe.each(TARGETS)("%s", (target) => {
  test("accepts what the tool accepts, but for narrowings that the report names", () => {
    let checked = 0;
    fc.assert(
      fc.property(inputSchemas, fc.integer(), (inputSchema, seed) => {
        const made = exportOne(target, inputSchema);
        if (!made?.schema) return;
        const narrowed = made.report.relaxations.some((relaxation) => relaxation.effect === "narrowed");
        const exported = compileSchema(
          (target === "openai-strict" && made.strict === true) || target === "gemini-legacy" ? withAbsent(made.schema) : made.schema,
        );
        if (!exported.ok) throw new Error(exported.reason);
        const back = argumentKeyMap(inputSchema);
        const renamed = new Map(
          made.report.relaxations
            .filter((relaxation) => relaxation.code === "property.renamed")
            .map((relaxation) => [String(relaxation.before), String(relaxation.after)]),
        );
        const pick = picker(seed);
        for (let i = 0; i < 24; i += 1) {
          const args = sample(inputSchema, inputSchema, pick);
          if (!isObject(args)) continue;
          const read = readArguments(args, { inputSchema });
          if (!read.ok || read.coercions.length > 0) continue;
          checked += 1;
          const given = asExported(args as Json, made.schema, made.schema, (name) => renamed.get(name) ?? name) as JsonObject;
          const issues = exported.schema.validate(given);
          if (issues.length > 0 && narrowed) continue;
          expect({ issues, given, schema: made.schema }).toMatchObject({ issues: [] });
          const returned = readArguments(given, { inputSchema, keyMap: back });
          expect(returned).toMatchObject({ ok: true });
        }
      }),
      RUNS,
    );
    expect(checked).toBeGreaterThan(20);
  });

  test("keeps the provider's rules for every schema", () => {
    fc.assert(
      fc.property(inputSchemas, (inputSchema) => {
        const made = exportOne(target, inputSchema);
        if (made?.schema) expect(brokenRules(rulesOf(target, made.strict === true), made.schema)).toEqual([]);
      }),
      runs(500),
    );
  });

  test("gives the same bytes twice, whatever the order of keywords", () => {
    fc.assert(
      fc.property(inputSchemas, (inputSchema) => {
        const first = exportOne(target, inputSchema);
        const again = exportOne(target, reversedKeywords(inputSchema));
        expect(JSON.stringify(again?.tool)).toBe(JSON.stringify(first?.tool));
      }),
      runs(100),
    );
  });
});

test("strict exports pass OpenAI's own helper unchanged", () => {
  let strict = 0;
  fc.assert(
    fc.property(inputSchemas, (inputSchema) => {
      const made = exportOne("openai-strict", inputSchema);
      if (made?.strict !== true) return;
      strict += 1;
      expect(toStrictJsonSchema(structuredClone(made.schema!) as never)).toEqual(made.schema);
    }),
    runs(1000),
  );
  expect(strict).toBeGreaterThan(20);
});

test("strict exports pass Anthropic's own helper unchanged", () => {
  let strict = 0;
  fc.assert(
    fc.property(inputSchemas, (inputSchema) => {
      const made = exportOne("anthropic-strict", inputSchema);
      if (made?.strict !== true) return;
      strict += 1;
      expect(transformJSONSchema(made.schema as never)).toEqual(made.schema);
    }),
    runs(1000),
  );
  expect(strict).toBeGreaterThan(20);
});

test.each(["openai-strict", "anthropic-strict"] as const)(
  "%s: the tool accepts what the strict form accepts, but for widenings that the report names",
  (target) => {
    const met = { accepted: 0, widened: 0 };
    fc.assert(
      fc.property(inputSchemas, fc.integer(), (inputSchema, seed) => {
        const made = exportOne(target, inputSchema);
        if (made?.strict !== true) return;
        const exported = compileSchema(made.schema!);
        if (!exported.ok) throw new Error(exported.reason);
        const pick = picker(seed);
        const keyMap = argumentKeyMap(inputSchema);
        for (let i = 0; i < 8; i += 1) {
          const args = sample(made.schema, made.schema!, pick);
          if (!isObject(args) || exported.schema.validate(args).length > 0) continue;
          const read = readArguments(args, { inputSchema, keyMap });
          met[read.ok ? "accepted" : "widened"] += 1;
          if (!read.ok)
            expect({ args, effects: made.report.relaxations.map((relaxation) => relaxation.effect) }).toMatchObject({
              effects: expect.arrayContaining(["widened"]),
            });
        }
      }),
      runs(400),
    );
    expect(met.accepted).toBeGreaterThan(20);
    expect(met.widened).toBeGreaterThan(0);
  },
);

/** The same schema with the keywords of every node in reverse order; properties and values keep theirs. */
function reversedKeywords(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(reversedKeywords);
  if (!isObject(schema)) return schema;
  const node = schema as JsonObject;
  const out: JsonObject = {};
  for (const key of Object.keys(node).reverse()) {
    const value = node[key]!;
    if (["enum", "const", "default"].includes(key)) out[key] = value;
    else if (["properties", "patternProperties", "$defs", "definitions"].includes(key)) out[key] = reversedMembers(value as JsonObject);
    else out[key] = reversedKeywords(value);
  }
  return out;
}

function reversedMembers(map: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [name, child] of Object.entries(map)) setOwn(out, name, reversedKeywords(child));
  return out;
}
