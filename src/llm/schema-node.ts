import { canonicalJson, isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import type { Effect, Relaxation } from "./types.ts";

/** One subschema of the 2020-12 dialect, as an object. */
export type Node = JsonObject;

/** Keywords whose value is one subschema. */
export const SINGLE_KEYWORDS: ReadonlySet<string> = new Set([
  "items",
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
/** Keywords whose value is a list of subschemas. */
export const LIST_KEYWORDS: ReadonlySet<string> = new Set(["prefixItems", "anyOf", "oneOf", "allOf"]);
/** Keywords whose value maps names to subschemas. */
export const MAP_KEYWORDS: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas", "$defs"]);
/** Keywords that say something to a reader and nothing to a validator. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "example",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
  "format",
]);

/** The fixed order in which keywords are written; unlisted ones follow, sorted. */
const ORDER = [
  "$ref",
  "type",
  "title",
  "description",
  "nullable",
  "const",
  "enum",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "prefixItems",
  "items",
  "minItems",
  "maxItems",
  "uniqueItems",
  "contains",
  "minContains",
  "maxContains",
  "properties",
  "patternProperties",
  "additionalProperties",
  "propertyNames",
  "required",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "dependentSchemas",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "unevaluatedItems",
  "unevaluatedProperties",
  "default",
  "examples",
];
const RANK: ReadonlyMap<string, number> = new Map([...ORDER.map((keyword, i): [string, number] => [keyword, i]), ["$defs", 1000]]);

/** Collects what a compiler step changed. */
export class Notes {
  readonly list: Relaxation[] = [];

  add(code: string, pointer: string, before: Json | undefined, after: Json | undefined, effect: Effect): void {
    this.list.push({ code, pointer, before: before ?? null, after: after ?? null, effect });
  }
}

/** The type names of a node as a list; empty when it says nothing about type. */
export function typesOf(node: Node): readonly string[] {
  const type = node["type"];
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? (type as string[]) : [];
}

/** Whether a node admits objects as far as its `type` says. */
export function allowsType(node: Node, type: string): boolean {
  const types = typesOf(node);
  return types.length === 0 || types.includes(type) || (type === "integer" && types.includes("number"));
}

/** The `type` keyword for a list of type names. */
export function typeKeyword(types: readonly string[]): Json {
  return types.length === 1 ? types[0]! : [...types];
}

/** The name JSON Schema has for the type of a value; whole numbers are `integer`. */
export function typeOfValue(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** The properties of a node, or undefined when it declares none. */
export function propertiesOf(node: Node): JsonObject | undefined {
  const properties = node["properties"];
  return isObject(properties) ? (properties as JsonObject) : undefined;
}

/** The names in `required`. */
export function requiredOf(node: Node): readonly string[] {
  const required = node["required"];
  return Array.isArray(required) ? (required as string[]) : [];
}

/** Whether a list of subschemas stands under a keyword. */
export function branchesOf(node: Node, keyword: string): readonly Json[] {
  const branches = node[keyword];
  return Array.isArray(branches) ? branches : [];
}

/** Appends a key to a JSON pointer. */
export function pointTo(pointer: string, ...keys: readonly (string | number)[]): string {
  let out = pointer;
  for (const key of keys)
    out += `/${typeof key === "number" ? key : key.includes("~") || key.includes("/") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key}`;
  return out;
}

/** A copy of a node with every direct subschema replaced by what `change` makes of it; other keywords are shared. */
export function mapSubschemas(node: Node, pointer: string, change: (child: Json, pointer: string, keyword: string) => Json): Node {
  const out: Node = {};
  for (const keyword of Object.keys(node)) {
    const value = node[keyword]!;
    if (SINGLE_KEYWORDS.has(keyword)) {
      out[keyword] = change(value, `${pointer}/${keyword}`, keyword);
    } else if (LIST_KEYWORDS.has(keyword) && Array.isArray(value)) {
      out[keyword] = value.map((child, i) => change(child, `${pointer}/${keyword}/${i}`, keyword));
    } else if (MAP_KEYWORDS.has(keyword) && isObject(value)) {
      const map: JsonObject = {};
      for (const key of Object.keys(value)) setOwn(map, key, change((value as JsonObject)[key]!, pointTo(`${pointer}/${keyword}`, key), keyword));
      out[keyword] = map;
    } else {
      out[keyword] = value;
    }
  }
  return out;
}

/** Calls `visit` for every direct subschema. */
export function forEachSubschema(node: Node, visit: (child: Json, keyword: string, key: string | number | null) => void): void {
  for (const keyword of Object.keys(node)) {
    const value = node[keyword]!;
    if (SINGLE_KEYWORDS.has(keyword)) visit(value, keyword, null);
    else if (LIST_KEYWORDS.has(keyword) && Array.isArray(value)) value.forEach((child, i) => visit(child, keyword, i));
    else if (MAP_KEYWORDS.has(keyword) && isObject(value)) for (const key of Object.keys(value)) visit((value as JsonObject)[key]!, keyword, key);
  }
}

/** The same schema with keywords in the fixed order in every node; the order of properties stays, definitions are sorted. */
export function inKeywordOrder(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const out: Node = {};
  const keys = Object.keys(schema);
  if (keys.length > 1) keys.sort(byRank);
  for (const key of keys) {
    const value = schema[key] as Json;
    if (SINGLE_KEYWORDS.has(key)) out[key] = inKeywordOrder(value);
    else if (LIST_KEYWORDS.has(key) && Array.isArray(value)) out[key] = value.map(inKeywordOrder);
    else if (MAP_KEYWORDS.has(key) && isObject(value)) out[key] = inOrderEach(value as JsonObject, key === "$defs");
    else out[key] = value;
  }
  return out;
}

function byRank(a: string, b: string): number {
  return (RANK.get(a) ?? 500) - (RANK.get(b) ?? 500) || (a < b ? -1 : 1);
}

function inOrderEach(map: JsonObject, sorted: boolean): JsonObject {
  const out: JsonObject = {};
  const keys = Object.keys(map);
  for (const key of sorted ? keys.sort() : keys) setOwn(out, key, inKeywordOrder(map[key]!));
  return out;
}

/** A node without the given keywords. */
export function omit(node: Node, ...keywords: readonly string[]): Node {
  const out: Node = {};
  for (const key of Object.keys(node)) if (!keywords.includes(key)) setOwn(out, key, node[key]);
  return out;
}

/** Whether two JSON values are the same, whatever the order of their keys. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  return canonicalJson(a) === canonicalJson(b);
}

/** Values without repeats, in their first order. */
export function distinctValues(values: readonly Json[]): Json[] {
  const seen = new Map<string, Json>();
  for (const value of values) {
    const key = canonicalJson(value);
    if (!seen.has(key)) seen.set(key, value);
  }
  return [...seen.values()];
}
