import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { Notes } from "./schema-node.ts";
import { forEachSubschema, mapSubschemas, propertiesOf, pointTo, requiredOf, type Node } from "./schema-node.ts";

const REF_PREFIX = "#/$defs/";

/** The definition that a node refers to, or undefined. */
export function refName(node: Json | undefined): string | undefined {
  const ref = isObject(node) ? node["$ref"] : undefined;
  return typeof ref === "string" && ref.startsWith(REF_PREFIX) ? ref.slice(REF_PREFIX.length) : undefined;
}

/** Names of all definitions that a schema refers to, at any depth, definitions themselves not followed. */
export function refsIn(schema: Json, found: Set<string> = new Set()): Set<string> {
  const name = refName(schema);
  if (name !== undefined) found.add(name);
  if (isObject(schema)) forEachSubschema(schema as Node, (child) => refsIn(child, found));
  return found;
}

/** Which definitions reach themselves, each with all that reach it and are reached by it (strongly connected groups). */
export function definitionGraph(definitions: ReadonlyMap<string, Json>): { readonly cycles: ReadonlyMap<string, ReadonlySet<string>> } {
  if (definitions.size === 0) return { cycles: new Map() };
  const edges = new Map([...definitions].map(([name, node]) => [name, refsIn(node)]));
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const cycles = new Map<string, ReadonlySet<string>>();
  const visit = (name: string): void => {
    index.set(name, index.size);
    low.set(name, index.get(name)!);
    stack.push(name);
    onStack.add(name);
    for (const next of edges.get(name) ?? []) {
      if (!edges.has(next)) continue;
      if (!index.has(next)) visit(next);
      if (onStack.has(next)) low.set(name, Math.min(low.get(name)!, low.get(next)!));
    }
    if (low.get(name) !== index.get(name)) return;
    const group = new Set(stack.splice(stack.indexOf(name)));
    for (const member of group) onStack.delete(member);
    const first = [...group][0]!;
    if (group.size > 1 || edges.get(first)?.has(first)) for (const member of group) cycles.set(member, group);
  };
  for (const name of definitions.keys()) if (!index.has(name)) visit(name);
  return { cycles };
}

const IN_PLACE: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "dependentSchemas"]);

/** The definitions with those emptied that refer to themselves without a step into the value: no validator ends on them. */
export function dropEndlessRefs(definitions: ReadonlyMap<string, Json>, recursive: ReadonlyMap<string, unknown>, notes: Notes): ReadonlyMap<string, Json> {
  if (recursive.size === 0) return definitions;
  const inPlace = new Map([...recursive.keys()].map((name) => [name, skeleton(definitions.get(name)!)]));
  const { cycles } = definitionGraph(inPlace);
  if (cycles.size === 0) return definitions;
  const out = new Map(definitions);
  for (const name of cycles.keys()) {
    notes.add("ref.endless", `/$defs/${name}`, null, {}, "widened");
    out.set(name, {});
  }
  return out;
}

function skeleton(node: Json): Json {
  if (!isObject(node)) return node;
  const kept: Node = {};
  for (const key of Object.keys(node)) if (key === "$ref" || IN_PLACE.has(key)) kept[key] = node[key] as Json;
  return mapSubschemas(kept, undefined, skeleton);
}

/**
 * Takes names out of `required`, in place, that no part of the node declares. Branches of combinators are left alone: what
 * they require is often declared beside them.
 */
export function pruneRequired(root: Node, definitions: ReadonlyMap<string, Json>, notes: Notes): void {
  const inBranches = new Set<string>();
  const collect = (schema: Json, branch: boolean): void => {
    if (!isObject(schema)) return;
    const name = refName(schema as Node);
    if (branch && name !== undefined) inBranches.add(name);
    forEachSubschema(schema as Node, (child, keyword) => collect(child, IN_PLACE.has(keyword)));
  };
  if (definitions.size > 0) for (const schema of [root, ...definitions.values()]) collect(schema, false);

  const prune = (schema: Json, pointer: string, branch: boolean): void => {
    if (!isObject(schema)) return;
    const node = schema as Node;
    forEachSubschema(node, (child, keyword, key) =>
      prune(child, key === null ? `${pointer}/${keyword}` : pointTo(`${pointer}/${keyword}`, key), IN_PLACE.has(keyword) || keyword === "contains"),
    );
    const required = requiredOf(node);
    if (branch || declaresRequired(node)) return;
    const declared = declaredIn(node, definitions);
    const kept = required.filter((key) => declared.has(key));
    if (kept.length === required.length) return;
    for (const key of required) if (!declared.has(key)) notes.add("required.undeclared", pointTo(pointer, "required", key), key, null, "widened");
    if (kept.length > 0) node["required"] = kept;
    else delete node["required"];
  };
  prune(root, "", false);
  for (const [name, node] of definitions) prune(node, `/$defs/${name}`, inBranches.has(name));
}

/** Whether a node itself declares every property that it requires. */
export function declaresRequired(node: Node): boolean {
  const required = requiredOf(node);
  if (required.length === 0) return true;
  const own = propertiesOf(node);
  return own !== undefined && required.every((key) => Object.hasOwn(own, key));
}

/** Names of the properties that a node declares itself, through its references or in any branch. */
function declaredIn(schema: Node, definitions: ReadonlyMap<string, Json>): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<string>();
  const visit = (node: Json | undefined): void => {
    if (!isObject(node)) return;
    for (const key of Object.keys(propertiesOf(node as Node) ?? {})) names.add(key);
    const name = refName(node as Node);
    if (name !== undefined && !seen.has(name)) {
      seen.add(name);
      visit(definitions.get(name));
    }
    forEachSubschema(node as Node, (child, keyword) => {
      if (IN_PLACE.has(keyword)) visit(child);
    });
  };
  visit(schema);
  return names;
}

/** The definitions of a root as a map. */
export function definitionsOf(root: Node): Map<string, Json> {
  const defs = root["$defs"];
  return new Map(isObject(defs) ? Object.entries(defs as JsonObject) : []);
}
