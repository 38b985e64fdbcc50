import { isObject, own, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { compileRegExp } from "../base/json-schema.ts";
import { keyMapOf } from "./property-keys.ts";
import { prepareSchema } from "./prepare.ts";
import { refName } from "./schema-definitions.ts";
import { branchesOf, propertiesOf, type Node } from "./schema-node.ts";

const NONE: ReadonlyMap<string, string> = new Map();
const maps = new WeakMap<object, ReadonlyMap<string, string>>();

/** Exported property name to original, for every property of a tool that some provider is shown under another name. Remembered per schema. */
export function argumentKeyMap(inputSchema: unknown): ReadonlyMap<string, string> {
  if (typeof inputSchema !== "object" || inputSchema === null) return NONE;
  let map = maps.get(inputSchema);
  if (!map) {
    const prepared = prepareSchema(inputSchema);
    map = prepared.kind === "schema" ? keyMapOf(prepared) : NONE;
    maps.set(inputSchema, map);
  }
  return map;
}

/** Arguments with exported property names turned back, at those places only where the schema declares the original and not the exported one. */
export function withOriginalKeys(args: JsonObject, schema: Node, keyMap: ReadonlyMap<string, string>): JsonObject {
  if (keyMap.size === 0) return args;
  const definitions = schema["$defs"];
  const visit = (value: Json, places: readonly Json[]): Json => {
    if (typeof value !== "object" || value === null) return value;
    const nodes = nodesAt(places, definitions);
    if (Array.isArray(value))
      return value.map((item, i) =>
        visit(
          item,
          nodes.flatMap((node) => itemPlace(node, i)),
        ),
      );
    const out: JsonObject = {};
    for (const key of Object.keys(value)) {
      const original = keyMap.get(key);
      const back = original !== undefined && !declares(nodes, key) && declares(nodes, original) && !Object.hasOwn(value, original) ? original : key;
      setOwn(
        out,
        back,
        visit(
          value[key]!,
          nodes.flatMap((node) => memberPlace(node, back)),
        ),
      );
    }
    return out;
  };
  return visit(args, [schema]) as JsonObject;
}

function declares(nodes: readonly Node[], key: string): boolean {
  return nodes.some((node) => Object.hasOwn(propertiesOf(node) ?? {}, key));
}

function memberPlace(node: Node, key: string): Json[] {
  const properties = propertiesOf(node) ?? {};
  const places = Object.entries((node["patternProperties"] ?? {}) as JsonObject).flatMap(([pattern, child]) => (mayMatch(pattern, key) ? [child] : []));
  if (Object.hasOwn(properties, key)) places.push(properties[key]!);
  else if (places.length === 0 && node["additionalProperties"] !== undefined) places.push(node["additionalProperties"]);
  return places;
}

function mayMatch(pattern: string, key: string): boolean {
  const compiled = compileRegExp(pattern);
  return !compiled.ok || compiled.regexp.test(key);
}

function itemPlace(node: Node, index: number): Json[] {
  const fixed = branchesOf(node, "prefixItems")[index];
  if (fixed !== undefined) return [fixed];
  return node["items"] === undefined ? [] : [node["items"]];
}

/** All nodes that speak about one place of the value, references and branches followed. */
function nodesAt(places: readonly Json[], definitions: Json | undefined): Node[] {
  const out: Node[] = [];
  const seen = new Set<unknown>();
  const queue = [...places];
  for (let node = queue.shift(); node !== undefined && seen.size < 500; node = queue.shift()) {
    if (!isObject(node) || seen.has(node)) continue;
    seen.add(node);
    out.push(node as Node);
    const name = refName(node as Node);
    const target = name === undefined ? undefined : own(definitions, name);
    if (target !== undefined) queue.push(target as Json);
    for (const keyword of ["allOf", "anyOf", "oneOf"]) queue.push(...branchesOf(node as Node, keyword));
    for (const keyword of ["then", "else"]) if (node[keyword] !== undefined) queue.push(node[keyword] as Json);
  }
  return out;
}
