import { isObject, type Json, type JsonObject } from "../../../src/base/json.ts";
import { compileSchema, type CompiledSchema } from "../../../src/base/json-schema.ts";
import type { ExportFormat } from "../../../src/llm/types.ts";

/** The rules of each provider as JSON Schemas over schema nodes, from their published lists and error texts. */

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const node = { $ref: "#" };
const nodes = { type: "array", minItems: 1, items: node };
const map = { type: "object", additionalProperties: node };
const typeName = { enum: ["string", "number", "integer", "boolean", "object", "array", "null"] };
const typeKeyword = { anyOf: [typeName, { type: "array", items: typeName, minItems: 2, uniqueItems: true }] };
const localRef = { type: "string", pattern: "^#/\\$defs/[A-Za-z0-9_.-]+$" };
const hasType = (type: string): JsonObject => ({
  required: ["type"],
  properties: { type: { anyOf: [{ const: type }, { type: "array", contains: { const: type } }] } },
});
const noKeyword = (...names: string[]): JsonObject => Object.fromEntries(names.map((name) => [name, false]));

const openai: JsonObject = {
  type: "object",
  properties: {
    type: typeKeyword,
    properties: map,
    items: { type: "object", allOf: [node] },
    anyOf: nodes,
    oneOf: nodes,
    allOf: nodes,
    $ref: localRef,
    $defs: map,
    pattern: text,
    minimum: { type: "number" },
    exclusiveMinimum: { type: "number" },
    exclusiveMaximum: { type: "number" },
    description: text,
    title: text,
    required: { type: "array", items: text, uniqueItems: true },
    enum: { type: "array", minItems: 1 },
    ...noKeyword("$schema", "$id", "$comment", "definitions", "prefixItems", "dependencies", "nullable", "additionalItems"),
  },
  allOf: [
    { if: hasType("object"), then: { required: ["properties"] } },
    { if: hasType("array"), then: { required: ["items"] } },
  ],
};

const strict: JsonObject = {
  type: "object",
  properties: {
    type: typeKeyword,
    title: text,
    description: text,
    enum: { type: "array", minItems: 1 },
    anyOf: nodes,
    $ref: localRef,
    $defs: map,
    properties: map,
    required: { type: "array", items: text, uniqueItems: true },
    additionalProperties: { const: false },
    items: { type: "object", allOf: [node] },
    minItems: count,
    maxItems: count,
    pattern: text,
    format: { enum: ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"] },
    minimum: { type: "number" },
    maximum: { type: "number" },
    exclusiveMinimum: { type: "number" },
    exclusiveMaximum: { type: "number" },
    multipleOf: { type: "number" },
  },
  additionalProperties: false,
  allOf: [
    { if: hasType("object"), then: { required: ["properties", "required", "additionalProperties"] } },
    { if: hasType("array"), then: { required: ["items"] } },
    { if: { required: ["$ref"] }, then: { maxProperties: 1 }, else: { anyOf: [{ required: ["type"] }, { required: ["anyOf"] }] } },
  ],
};

const anthropic: JsonObject = {
  type: "object",
  properties: {
    type: typeKeyword,
    properties: { ...map, propertyNames: { pattern: "^[a-zA-Z0-9_.-]{1,64}$" } },
    items: { anyOf: [{ type: "boolean" }, node] },
    prefixItems: nodes,
    anyOf: nodes,
    oneOf: nodes,
    allOf: nodes,
    $ref: localRef,
    $defs: map,
    exclusiveMinimum: { type: "number" },
    exclusiveMaximum: { type: "number" },
    required: { type: "array", items: text, uniqueItems: true },
    ...noKeyword("$schema", "$id", "definitions", "dependencies", "nullable", "additionalItems"),
  },
};

const anthropicStrict: JsonObject = {
  type: "object",
  properties: {
    type: typeName,
    title: text,
    description: text,
    enum: { type: "array", minItems: 1, items: { type: ["string", "number", "boolean", "null"] } },
    anyOf: nodes,
    properties: { ...map, propertyNames: { pattern: "^[a-zA-Z0-9_.-]{1,64}$" } },
    required: { type: "array", items: text, uniqueItems: true },
    additionalProperties: { const: false },
    items: { type: "object", allOf: [node] },
    minItems: { enum: [0, 1] },
    format: { enum: ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"] },
  },
  additionalProperties: false,
  allOf: [
    { if: hasType("object"), then: { required: ["properties", "required", "additionalProperties"] } },
    { if: hasType("array"), then: { required: ["items"] } },
    { anyOf: [{ required: ["type"] }, { required: ["anyOf"] }, { required: ["enum"] }] },
  ],
};

const gemini: JsonObject = {
  type: "object",
  properties: {
    $defs: map,
    $ref: localRef,
    type: typeKeyword,
    format: { enum: ["date-time", "date", "time"] },
    title: text,
    description: text,
    enum: { type: "array", minItems: 1, items: { anyOf: [{ type: "string", minLength: 1 }, { type: "number" }] } },
    items: { type: "object", allOf: [node] },
    prefixItems: nodes,
    minItems: count,
    maxItems: count,
    minimum: { type: "number" },
    maximum: { type: "number" },
    anyOf: nodes,
    properties: { ...map, propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" } },
    additionalProperties: { anyOf: [{ type: "boolean" }, node] },
    required: { type: "array", items: text, uniqueItems: true },
  },
  additionalProperties: false,
  allOf: [
    { if: { required: ["$ref"] }, then: { propertyNames: { pattern: "^\\$" } } },
    {
      if: { required: ["type"], properties: { type: { type: "array" } } },
      then: { properties: { type: { items: { enum: ["string", "number", "integer", "boolean", "null"] } } } },
    },
  ],
};

const singleType: JsonObject = {
  title: text,
  description: text,
  anyOf: nodes,
  items: node,
  minItems: count,
  maxItems: count,
  minimum: { type: "number" },
  maximum: { type: "number" },
  properties: { ...map, propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" } },
  required: { type: "array", items: text, uniqueItems: true },
  enum: { type: "array", minItems: 1, items: { type: "string", minLength: 1 } },
};
const stringEnumOnly = { if: { required: ["enum"] }, then: { properties: { type: { const: "string" } } } };

const legacy: JsonObject = {
  type: "object",
  properties: {
    ...singleType,
    type: { enum: ["string", "number", "integer", "boolean", "object", "array"] },
    nullable: { const: true },
    format: { enum: ["date-time"] },
  },
  additionalProperties: false,
  allOf: [
    stringEnumOnly,
    { if: hasType("object"), then: { required: ["properties"], properties: { properties: { minProperties: 1 } } } },
    { if: hasType("array"), then: { required: ["items"] } },
    { if: { required: ["anyOf"] }, then: { propertyNames: { enum: ["anyOf", "nullable", "title", "description"] } }, else: { required: ["type"] } },
  ],
};

const portable: JsonObject = {
  type: "object",
  properties: { ...singleType, type: typeName, format: { enum: ["date-time", "date", "time"] }, additionalProperties: { anyOf: [{ const: true }, node] } },
  additionalProperties: false,
  allOf: [
    stringEnumOnly,
    { if: hasType("object"), then: { required: ["properties"] } },
    { if: hasType("array"), then: { required: ["items"] } },
    { if: { required: ["anyOf"] }, then: { propertyNames: { enum: ["anyOf", "title", "description"] } }, else: { required: ["type"] } },
  ],
};

function compiled(schema: JsonObject): CompiledSchema {
  const result = compileSchema(schema);
  if (!result.ok) throw new Error(result.reason);
  return result.schema;
}

const RULES: ReadonlyMap<ExportFormat, CompiledSchema> = new Map([
  ["openai", compiled(openai)],
  ["openai-responses", compiled(openai)],
  ["openai-strict", compiled(strict)],
  ["anthropic", compiled(anthropic)],
  ["anthropic-strict", compiled(anthropicStrict)],
  ["gemini", compiled(gemini)],
  ["gemini-legacy", compiled(legacy)],
  ["litellm", compiled(portable)],
]);

/** The target whose rules an export has to keep: what could not be said strictly is in the plain form. */
export function rulesOf(target: ExportFormat, strict: boolean): ExportFormat {
  return strict ? target : (target.replace("-strict", "") as ExportFormat);
}

/** Every rule of its target that an exported schema breaks; none when the provider would take it. */
export function brokenRules(target: ExportFormat, schema: JsonObject): string[] {
  const broken = RULES.get(target)!
    .validate(schema)
    .map((issue) => `/${issue.path.join("/")} ${issue.message} ${JSON.stringify(issue.params)}`);
  if (schema["type"] !== "object") broken.push("the root is no object");
  if (!isObject(schema["properties"])) broken.push("the root has no properties");
  for (const keyword of ["anyOf", "oneOf", "allOf", "not", "enum", "const", "if"]) if (keyword in schema) broken.push(`${keyword} at the root`);
  visit(schema, "", (at, pointer) => {
    const declared = Object.keys((at["properties"] ?? {}) as JsonObject);
    const required = (at["required"] ?? []) as string[];
    if (target === "openai-strict" && at["properties"] !== undefined && [...required].sort().join() !== [...declared].sort().join())
      broken.push(`${pointer}: required is not all properties`);
    if (target.startsWith("gemini") || target === "litellm")
      for (const name of required) if (!declared.includes(name)) broken.push(`${pointer}: required names ${name}`);
    if (target.startsWith("openai") && typeof at["pattern"] === "string" && /\(\?(?:<?[=!])|\\p\{/.test(at["pattern"].replace(/\[(?:\\.|[^\]\\])*\]/g, "")))
      broken.push(`${pointer}: pattern ${at["pattern"]}`);
    const ref = at["$ref"];
    if (typeof ref === "string" && !Object.hasOwn((schema["$defs"] ?? {}) as JsonObject, ref.slice("#/$defs/".length)))
      broken.push(`${pointer}: ${ref} leads nowhere`);
  });
  return broken;
}

function visit(value: Json, pointer: string, see: (node: JsonObject, pointer: string) => void): void {
  if (!isObject(value)) return;
  const at = value as JsonObject;
  see(at, pointer);
  for (const key of ["items", "additionalProperties", "not", "if", "then", "else", "contains"])
    if (isObject(at[key])) visit(at[key] as Json, `${pointer}/${key}`, see);
  for (const key of ["anyOf", "oneOf", "allOf", "prefixItems"])
    if (Array.isArray(at[key])) (at[key] as Json[]).forEach((child, i) => visit(child, `${pointer}/${key}/${i}`, see));
  for (const key of ["properties", "patternProperties", "$defs"])
    for (const [name, child] of Object.entries((at[key] ?? {}) as JsonObject)) visit(child, `${pointer}/${key}/${name}`, see);
}
