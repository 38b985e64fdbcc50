import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { sharedType, valuesOfTypes } from "./schema-keywords.ts";
import { ANNOTATIONS, requiredOf, sameJson, typeKeyword, typesOf, type Node } from "./schema-node.ts";

/** The intersection of two nodes, and the keywords of the second (or of both) that one node cannot say; leaving those out only widens. */
export interface Merged {
  readonly node: Node;
  readonly lost: readonly string[];
}

/**
 * A node that accepts what both accept, as far as one node can say it. Annotations of `over` win. What cannot be joined
 * keeps the form of `base` and is named in `lost`.
 */
export function intersect(base: Node, over: Node): Merged {
  const out: Node = { ...base };
  const lost: string[] = [];
  for (const keyword of Object.keys(over)) {
    const a = out[keyword];
    const b = over[keyword]!;
    if (a === undefined || (ANNOTATIONS.has(keyword) && keyword !== "format") || sameJson(a, b)) {
      setOwn(out, keyword, b);
      continue;
    }
    const joined = JOIN.get(keyword)?.(a, b, lost);
    if (joined === undefined) lost.push(keyword);
    else out[keyword] = joined;
  }
  closeValues(out, lost);
  return { node: out, lost };
}

type Join = (a: Json, b: Json, lost: string[]) => Json | undefined;

const larger: Join = (a, b) => Math.max(a as number, b as number);
const smaller: Join = (a, b) => Math.min(a as number, b as number);

/** Joins two subschemas; booleans first, `false` beats all. */
const joinSchemas: Join = (a, b, lost) => {
  if (a === false || b === false) return false;
  if (a === true || !isObject(a)) return b;
  if (b === true || !isObject(b)) return a;
  const merged = intersect(a as Node, b as Node);
  lost.push(...merged.lost);
  return merged.node;
};

const joinMaps: Join = (a, b, lost) => {
  const out: JsonObject = { ...(a as JsonObject) };
  for (const [key, value] of Object.entries(b as JsonObject)) setOwn(out, key, Object.hasOwn(out, key) ? joinSchemas(out[key]!, value, lost)! : value);
  return out;
};

const joinTypes: Join = (a, b) => {
  const left = Array.isArray(a) ? (a as string[]) : [a as string];
  const right = Array.isArray(b) ? (b as string[]) : [b as string];
  const has = (list: readonly string[], type: string): boolean => list.includes(type) || (type === "integer" && list.includes("number"));
  const both = [...left.filter((type) => has(right, type)), ...right.filter((type) => !left.includes(type) && has(left, type))];
  return both.length > 0 ? typeKeyword(both) : undefined;
};

const joinEnums: Join = (a, b) => {
  const both = (a as Json[]).filter((value) => (b as Json[]).some((other) => sameJson(value, other)));
  return both.length > 0 ? both : undefined;
};

const JOIN: ReadonlyMap<string, Join> = new Map<string, Join>([
  ["type", joinTypes],
  ["enum", joinEnums],
  ["properties", joinMaps],
  ["patternProperties", joinMaps],
  ["required", (a, b) => [...new Set([...(a as string[]), ...(b as string[])])]],
  ["additionalProperties", joinSchemas],
  ["items", joinSchemas],
  ["contains", () => undefined],
  ["propertyNames", joinSchemas],
  ["minimum", larger],
  ["exclusiveMinimum", larger],
  ["minLength", larger],
  ["minItems", larger],
  ["minProperties", larger],
  ["maximum", smaller],
  ["exclusiveMaximum", smaller],
  ["maxLength", smaller],
  ["maxItems", smaller],
  ["maxProperties", smaller],
  ["uniqueItems", (a, b) => a === true || b === true],
]);

/** A const beside an enum, and a type that the values settle. */
function closeValues(out: Node, lost: string[]): void {
  if ("const" in out && Array.isArray(out["enum"])) {
    if (out["enum"].some((value) => sameJson(value, out["const"]))) delete out["enum"];
    else lost.push("enum");
  }
  if (!Array.isArray(out["enum"])) return;
  out["enum"] = valuesOfTypes(out["enum"], typesOf(out));
  const type = out["type"] === undefined ? sharedType(out["enum"]) : undefined;
  if (type !== undefined) out["type"] = type;
}

/** A node with its `allOf` merged into it, at this level only; `follow` looks a definition up where a branch is a bare reference. */
export function mergeAllOf(node: Node, follow: (branch: Json) => Json = (branch) => branch): Merged {
  const branches = node["allOf"];
  if (!Array.isArray(branches)) return { node, lost: [] };
  const { allOf: _merged, ...rest } = node;
  let out: Node = {};
  const lost: string[] = [];
  for (const item of branches) {
    const branch = follow(item);
    if (branch === false) lost.push("allOf");
    if (!isObject(branch)) continue;
    const flat = mergeAllOf(branch as Node, follow);
    const next = intersect(out, flat.node);
    lost.push(...flat.lost, ...next.lost);
    out = next.node;
  }
  const whole = intersect(out, rest);
  lost.push(...whole.lost);
  return { node: requiredOf(whole.node).length === 0 && rest["required"] === undefined ? withoutEmptyRequired(whole.node) : whole.node, lost };
}

function withoutEmptyRequired(node: Node): Node {
  if (node["required"] === undefined) return node;
  const { required: _none, ...rest } = node;
  return rest;
}

/** Whether a node says nothing but titles and descriptions. */
export function isBare(node: Json): boolean {
  return node === true || (isObject(node) && Object.keys(node).every((key) => ANNOTATIONS.has(key)));
}

/** Whether two nodes accept the same values, their words aside. */
export function sameShape(a: Json, b: Json): boolean {
  return sameJson(withoutWords(a), withoutWords(b));
}

/** A node without its titles, descriptions and other words. */
export function withoutWords(node: Json): Json {
  if (!isObject(node)) return node;
  const out: Node = {};
  for (const [key, value] of Object.entries(node as Node)) if (!ANNOTATIONS.has(key) || key === "format") setOwn(out, key, value);
  return out;
}

/** Whether the types of a node leave objects possible. */
export function canBeObject(node: Json): boolean {
  if (node === false) return false;
  if (!isObject(node)) return true;
  const types = typesOf(node as Node);
  return types.length === 0 || types.includes("object");
}
