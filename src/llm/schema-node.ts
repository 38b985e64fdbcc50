import { canonicalJson, isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import type { Effect, Relaxation } from "./types.ts";

/** One subschema of the 2020-12 dialect, as an object. */
export type Node = JsonObject;

/** How the value of a keyword holds subschemas: it is one, a list of them, or a map from names to them. */
export type SubschemaForm = "one" | "list" | "map";

const SUBSCHEMA_FORMS: ReadonlyMap<string, SubschemaForm> = new Map([
  ["items", "one"],
  ["additionalProperties", "one"],
  ["not", "one"],
  ["if", "one"],
  ["then", "one"],
  ["else", "one"],
  ["contains", "one"],
  ["propertyNames", "one"],
  ["unevaluatedItems", "one"],
  ["unevaluatedProperties", "one"],
  ["prefixItems", "list"],
  ["anyOf", "list"],
  ["oneOf", "list"],
  ["allOf", "list"],
  ["properties", "map"],
  ["patternProperties", "map"],
  ["dependentSchemas", "map"],
  ["$defs", "map"],
]);

/** How a keyword holds subschemas; undefined when it holds none. */
export function subschemaForm(keyword: string): SubschemaForm | undefined {
  return SUBSCHEMA_FORMS.get(keyword);
}

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

/** Whether `type` names a type. */
export function saysType(node: Node, type: string): boolean {
  const said = node["type"];
  return said === type || (Array.isArray(said) && said.includes(type));
}

/** Whether a node admits a type as far as its `type` says. */
export function allowsType(node: Node, type: string): boolean {
  return saysType(node, type) || (type === "integer" && saysType(node, "number")) || typesOf(node).length === 0;
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

/** Appends keys to a JSON pointer. */
export function pointTo(pointer: string, ...keys: readonly (string | number)[]): string {
  let out = pointer;
  for (const key of keys) out = typeof key === "number" ? `${out}/${key}` : childPointer(out, key);
  return out;
}

/** Appends one key to a JSON pointer. */
export function childPointer(pointer: string, key: string): string {
  return `${pointer}/${key.includes("~") || key.includes("/") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key}`;
}

/**
 * A node with every direct subschema replaced by what `change` makes of it. What does not change is shared, and a node whose
 * subschemas all stay the same is given back itself: never write into the result. Without a pointer, children get an empty one.
 */
export function mapSubschemas(node: Node, pointer: string | undefined, change: Change): Node {
  let out = node;
  for (const keyword of Object.keys(node)) {
    const form = SUBSCHEMA_FORMS.get(keyword);
    if (form === undefined) continue;
    const value = node[keyword] as Json;
    let changed = value;
    const at = pointer === undefined ? undefined : `${pointer}/${keyword}`;
    if (form === "one") changed = change(value, at ?? "", keyword);
    else if (form === "list") changed = Array.isArray(value) ? mapList(value, at, keyword, change) : value;
    else if (isObject(value)) changed = mapMembers(value as JsonObject, at, keyword, change);
    if (changed === value) continue;
    if (out === node) out = { ...node };
    out[keyword] = changed;
  }
  return out;
}

type Change = (child: Json, pointer: string, keyword: string) => Json;

function mapList(list: Json[], pointer: string | undefined, keyword: string, change: Change): Json[] {
  let out = list;
  for (let i = 0; i < list.length; i += 1) {
    const changed = change(list[i]!, pointer === undefined ? "" : `${pointer}/${i}`, keyword);
    if (changed === list[i]) continue;
    if (out === list) out = [...list];
    out[i] = changed;
  }
  return out;
}

function mapMembers(map: JsonObject, pointer: string | undefined, keyword: string, change: Change): JsonObject {
  let out = map;
  for (const key of Object.keys(map)) {
    const changed = change(map[key]!, pointer === undefined ? "" : childPointer(pointer, key), keyword);
    if (changed === map[key]) continue;
    if (out === map) out = { ...map };
    setOwn(out, key, changed);
  }
  return out;
}

/** Calls `visit` for every direct subschema. */
export function forEachSubschema(node: Node, visit: (child: Json, keyword: string, key: string | number | null) => void): void {
  for (const keyword of Object.keys(node)) {
    const form = SUBSCHEMA_FORMS.get(keyword);
    if (form === undefined) continue;
    const value = node[keyword]!;
    if (form === "one") visit(value, keyword, null);
    else if (form === "list") {
      if (Array.isArray(value)) for (let i = 0; i < value.length; i += 1) visit(value[i]!, keyword, i);
    } else if (isObject(value)) for (const key of Object.keys(value)) visit((value as JsonObject)[key]!, keyword, key);
  }
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
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameJson((a as JsonObject)[key], (b as JsonObject)[key]));
}

/** Whether a node says nothing but one keyword. */
export function saysOnly(node: Node, keyword: string): boolean {
  return keyword in node && Object.keys(node).length === 1;
}

/** Values without repeats, in their first order. */
export function distinctValues(values: readonly Json[]): Json[] {
  const seen = new Map<string, Json>();
  for (const value of values) {
    const key = typeof value === "string" ? `"${value}` : canonicalJson(value);
    if (!seen.has(key)) seen.set(key, value);
  }
  return [...seen.values()];
}
