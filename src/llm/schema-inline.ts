import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { definitionsOf, refName, refsIn } from "./schema-definitions.ts";
import { intersect } from "./schema-merge.ts";
import { mapSubschemas, omit, saysOnly, type Node } from "./schema-node.ts";

/** Most subschemas that inlining may make of one schema; over it all definitions stay. */
export const INLINE_BUDGET = 5_000;

/** A schema with its references inlined as far as that ends and stays small. */
export interface InlinedSchema {
  /** Without `$defs`. */
  readonly root: Node;
  /** What is still referred to: recursive definitions, or all of them when inlining would burst the budget. */
  readonly definitions: ReadonlyMap<string, Json>;
  /** Whether the budget kept references that are not recursive. */
  readonly kept: boolean;
}

/** Inlines every reference that is not recursive. Each definition is built once and shared, and building ends where the size bursts the budget, so a schema bomb costs nothing. */
export function inlineRefs(schema: Node, cycles: ReadonlyMap<string, ReadonlySet<string>>): InlinedSchema {
  const definitions = definitionsOf(schema);
  const root = omit(schema, "$defs");
  if (definitions.size === 0) return { root, definitions, kept: false };
  const done = new Map<string, { readonly node: Json; readonly size: number }>();
  let size = 0;
  const inline = (node: Json): Json => {
    size += 1;
    if (!isObject(node) || size > INLINE_BUDGET) return node;
    const copy = mapSubschemas(node as Node, undefined, inline);
    const name = refName(node as Node);
    if (name === undefined || cycles.has(name)) return copy;
    let target = done.get(name);
    if (target === undefined) {
      const before = size;
      target = { node: inline(definitions.get(name) ?? {}), size: size - before };
      done.set(name, target);
    } else size += target.size;
    if (size > INLINE_BUDGET) return node;
    return saysOnly(copy, "$ref") ? target.node : join(target.node, omit(copy, "$ref"));
  };
  const inlinedRoot = inline(root) as Node;
  const recursive = new Map<string, Json>();
  for (const name of cycles.keys()) recursive.set(name, inline(definitions.get(name) ?? {}));
  if (size > INLINE_BUDGET) return { root, definitions, kept: true };
  // Only recursive references are left.
  if (cycles.size === 0) return { root: inlinedRoot, definitions: recursive, kept: false };
  const left = new Map<string, Json>();
  const queue = [...refsIn(inlinedRoot)];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    if (left.has(name)) continue;
    const node = recursive.get(name) ?? {};
    left.set(name, node);
    queue.push(...refsIn(node));
  }
  return { root: inlinedRoot, definitions: left, kept: false };
}

/** A referenced schema with what stood beside the reference: words override, constraints intersect. */
function join(target: Json, beside: Node): Json {
  if (target === false) return target;
  if (!isObject(target)) return beside;
  const { node, lost } = intersect(target as Node, beside);
  return lost.length === 0 ? node : { allOf: [target, beside] };
}

/** A root with its definitions under `$defs`, as far as something refers to them. */
export function withDefinitions(root: Node, definitions: ReadonlyMap<string, Json>): Node {
  if (definitions.size === 0) return root;
  const used = new Set<string>();
  const queue = [...refsIn(root)];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    if (used.has(name)) continue;
    used.add(name);
    queue.push(...refsIn(definitions.get(name) ?? {}));
  }
  if (used.size === 0) return root;
  const defs: JsonObject = {};
  for (const name of [...used].sort()) setOwn(defs, name, definitions.get(name) ?? {});
  return { ...root, $defs: defs };
}
