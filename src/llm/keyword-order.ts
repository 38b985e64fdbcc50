import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { subschemaForm, type Node } from "./schema-node.ts";

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

/** A copy of a schema with keywords in the fixed order in every node; the order of properties stays, definitions are sorted. */
export function inKeywordOrder(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const out: Node = {};
  for (const key of sortedByRank(Object.keys(schema))) {
    const value = schema[key] as Json;
    const form = subschemaForm(key);
    if (form === undefined) out[key] = value;
    else if (form === "one") out[key] = inKeywordOrder(value);
    else if (form === "list" && Array.isArray(value)) out[key] = value.map(inKeywordOrder);
    else if (form === "map" && isObject(value)) out[key] = inOrderEach(value as JsonObject, key === "$defs");
    else out[key] = value;
  }
  return out;
}

/** As {@link inKeywordOrder}, for a schema whose nodes its maker shares with nobody: a node that is in order is kept and changed in place. */
export function orderOwnKeywords(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const node = schema as Node;
  let ordered = true;
  let before = -1;
  for (const key of Object.keys(node)) {
    const rank = RANK.get(key);
    if (rank === undefined || rank < before) ordered = false;
    else before = rank;
    const form = subschemaForm(key);
    if (form === undefined) continue;
    const value = node[key]!;
    if (form === "one") node[key] = orderOwnKeywords(value);
    else if (form === "list" && Array.isArray(value)) for (let i = 0; i < value.length; i += 1) value[i] = orderOwnKeywords(value[i]!);
    else if (form === "map" && isObject(value)) for (const name of Object.keys(value)) setOwn(value, name, orderOwnKeywords((value as JsonObject)[name]!));
    if (key === "$defs") ordered = false;
  }
  return ordered ? node : inOrder(node);
}

/** A node with its own keywords in the fixed order, and its definitions sorted. */
function inOrder(node: Node): Node {
  const out: Node = {};
  for (const key of sortedByRank(Object.keys(node))) out[key] = node[key]!;
  if (isObject(out["$defs"])) out["$defs"] = sortedMembers(out["$defs"] as JsonObject);
  return out;
}

function sortedMembers(map: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const key of Object.keys(map).sort()) setOwn(out, key, map[key]);
  return out;
}

const FEW_KEYWORDS = 12;

/** Sorts keywords in place, into the fixed order. By insertion where they are few, as nearly everywhere: they come nearly in order. */
export function sortedByRank(keys: string[]): string[] {
  if (isOrdered(keys)) return keys;
  if (keys.length > FEW_KEYWORDS) return keys.sort(byRank);
  for (let i = 1; i < keys.length; i += 1) {
    const key = keys[i]!;
    let at = i;
    for (; at > 0 && byRank(keys[at - 1]!, key) > 0; at -= 1) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return keys;
}

/** Whether listed keywords stand in the fixed order; unlisted ones are left to be sorted. */
function isOrdered(keys: readonly string[]): boolean {
  let before = -1;
  for (const key of keys) {
    const rank = RANK.get(key);
    if (rank === undefined || rank < before) return false;
    before = rank;
  }
  return true;
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
