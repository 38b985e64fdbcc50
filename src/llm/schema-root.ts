import { canonicalJson, isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { refName } from "./schema-definitions.ts";
import { canBeObject, intersect, isBare, mergeAllOf, withoutWords } from "./schema-merge.ts";
import type { Notes } from "./schema-node.ts";
import { ANNOTATIONS, branchesOf, childPointer, distinctValues, omit, propertiesOf, requiredOf, sameJson, saysOnly, type Node } from "./schema-node.ts";
import { sharedType } from "./schema-keywords.ts";
import { choiceOfBranches } from "./schema-shape.ts";
import { describeConstraint, describeShape } from "./words.ts";

/** A root that every provider takes: a plain object without combinators, and sentences for what it no longer says. */
export interface PlainRoot {
  readonly root: Node;
  readonly sentences: readonly string[];
  /** Properties that only a dropped condition declares; a closed object would lose them. */
  readonly hidden: readonly string[];
}

const CONDITIONS = ["not", "if", "then", "else", "dependentRequired", "dependentSchemas", "enum", "const"];

/** Removes combinators from the root: allOf is merged, unions are united, conditions become sentences. */
export function plainRoot(root: Node, definitions: ReadonlyMap<string, Json>, notes: Notes): PlainRoot {
  const sentences: string[] = [];
  const flat = flatten(root, definitions, notes, sentences, 0);
  const conditional = CONDITIONS.some((keyword) => keyword in flat);
  const hidden = conditional ? hiddenProperties(flat) : [];
  const stated = conditional ? describeConstraint(flat) : [];
  let node = flat;
  for (const keyword of CONDITIONS) {
    if (!(keyword in node)) continue;
    notes.add(`root.${keyword}`, `/${keyword}`, node[keyword], null, "widened");
    node = omit(node, keyword);
  }
  sentences.push(...stated);
  node = { ...node, type: "object", properties: propertiesOf(node) ?? {} };
  const required = requiredOf(node);
  const declared = node["properties"] as JsonObject;
  const kept = required.filter((key) => Object.hasOwn(declared, key));
  if (kept.length < required.length) {
    for (const key of required) if (!Object.hasOwn(declared, key)) notes.add("required.undeclared", `/required/${key}`, key, null, "widened");
    node = kept.length > 0 ? { ...node, required: kept } : omit(node, "required");
  }
  return { root: node, sentences, hidden };
}

/** A node without references, allOf and unions at its own level. */
function flatten(start: Node, definitions: ReadonlyMap<string, Json>, notes: Notes, sentences: string[], depth: number): Node {
  const follow = (branch: Json): Json => {
    let node = branch;
    for (let step = 0; step < 50; step += 1) {
      const name = refName(node);
      if (name === undefined || !isObject(node)) return node;
      const target = definitions.get(name) ?? {};
      node = isObject(target) ? intersect(target as Node, omit(node as Node, "$ref")).node : target;
    }
    return {};
  };
  const entered = follow(start);
  let node = isObject(entered) ? (entered as Node) : {};
  if (Array.isArray(node["allOf"])) {
    const merged = mergeAllOf(node, follow);
    notes.add("root.allOf_merged", "/allOf", null, null, merged.lost.length > 0 ? "widened" : "annotated");
    if (merged.lost.length > 0) notes.add("root.allOf_lost", "/allOf", [...new Set(merged.lost)], null, "widened");
    node = merged.node;
  }
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const branches = branchesOf(node, keyword);
    if (branches.length === 0) continue;
    // OpenAPI's discriminator says nothing without the union that it is for.
    node = omit(node, keyword, "discriminator");
    const shapes = branches
      .map(follow)
      .filter(canBeObject)
      .map((branch) => (isObject(branch) ? (depth < 8 ? flatten(branch as Node, definitions, notes, sentences, depth + 1) : (branch as Node)) : {}));
    if (shapes.length === 0) {
      notes.add(`root.${keyword}_dropped`, `/${keyword}`, [...branches], null, "widened");
      continue;
    }
    const sentence = choiceOfBranches(shapes, keyword);
    if (sentence !== undefined) {
      notes.add(`root.${keyword}_required`, `/${keyword}`, [...branches], null, "widened");
      if (sentence !== "") sentences.push(sentence);
      continue;
    }
    notes.add(`root.${keyword}_united`, `/${keyword}`, shapes.length, 1, "widened");
    if (depth === 0 && shapes.length > 1) sentences.push(...shapes.map((shape, i) => describeShape(shape, i, shapes)));
    node = unite(node, shapes, notes);
  }
  return node;
}

/** Whether some object may fit a root whose references are inlined; without one no call of the tool could ever be right. */
export function takesObjects(root: Json, definitions: ReadonlyMap<string, Json>, depth = 0): boolean {
  if (!canBeObject(root)) return false;
  if (!isObject(root) || depth > 20) return true;
  const node = root as Node;
  const takes = (branch: Json): boolean => takesObjects(branch, definitions, depth + 1);
  const name = refName(node);
  if (name !== undefined && !takes(definitions.get(name) ?? {})) return false;
  if (Array.isArray(node["enum"]) && !node["enum"].some(isObject)) return false;
  if ("const" in node && !isObject(node["const"])) return false;
  if (!branchesOf(node, "allOf").every(takes)) return false;
  return ["anyOf", "oneOf"].every((keyword) => branchesOf(node, keyword).length === 0 || branchesOf(node, keyword).some(takes));
}

/** One object node for several: all their properties, only what all of them require. */
function unite(base: Node, shapes: readonly Node[], notes: Notes): Node {
  const out: Node = { ...base };
  const own = propertiesOf(base) ?? {};
  const properties: JsonObject = { ...own };
  const names = new Set(shapes.flatMap((shape) => Object.keys(propertiesOf(shape) ?? {})));
  for (const name of names) {
    const common = Object.hasOwn(own, name) ? own[name] : undefined;
    const variants: Json[] = [];
    let typed = false;
    for (const shape of shapes) {
      const theirs = propertiesOf(shape);
      const said = theirs && Object.hasOwn(theirs, name) ? theirs[name]! : undefined;
      if (said === false) continue;
      if (said === undefined) {
        if (common !== undefined) variants.push(common);
        else typed ||= shape["additionalProperties"] !== false;
      } else if (isObject(said) && isObject(common)) {
        const merged = intersect(common as Node, said as Node);
        variants.push(merged.lost.length === 0 ? merged.node : said);
      } else {
        variants.push(said);
      }
    }
    if (typed) notes.add("root.property_typed", childPointer("/properties", name), {}, null, "narrowed");
    if (variants.length > 0) setOwn(properties, name, union(variants));
  }
  out["properties"] = properties;
  const shared = shapes.map(requiredOf).reduce((left, right) => left.filter((key) => right.includes(key)));
  const required = [...new Set([...requiredOf(base), ...shared])];
  if (required.length > 0) out["required"] = required;
  return out;
}

/** A node that accepts what any of several accepts: fixed values are put together, the rest become anyOf. */
function union(variants: readonly Json[]): Json {
  const shapes = new Map<string, Json>();
  for (const variant of variants) {
    const shape = canonicalJson(withoutWords(variant));
    if (!shapes.has(shape)) shapes.set(shape, variant);
  }
  const distinct = [...shapes.values()];
  if (distinct.length === 1) return distinct[0]!;
  const open = distinct.find(isBare);
  if (open !== undefined) return open;
  const values = distinct.map((variant) => (isObject(variant) ? fixedValues(variant as Node) : undefined));
  if (values.every((list) => list !== undefined)) {
    const all = distinctValues(values.flat());
    const type = sharedType(all);
    const first = distinct[0] as Node;
    return { ...(type === undefined ? {} : { type }), ...wordsOf(first), enum: all };
  }
  // A variant that is the plain form of the others (same type, nothing more) takes them in.
  const widest = distinct.find(
    (variant) =>
      isObject(variant) &&
      saysOnly(withoutWords(variant) as Node, "type") &&
      distinct.every((other) => isObject(other) && sameJson(other["type"] as Json | undefined, variant["type"] as Json)),
  );
  if (widest !== undefined) return widest;
  return { anyOf: flattenUnion(distinct) };
}

function flattenUnion(variants: readonly Json[]): Json[] {
  const out = new Map<string, Json>();
  for (const variant of variants) {
    const inner = isObject(variant) && saysOnly(variant as Node, "anyOf") ? branchesOf(variant as Node, "anyOf") : [variant];
    for (const item of inner) out.set(canonicalJson(item), item);
  }
  return [...out.values()];
}

function fixedValues(node: Node): readonly Json[] | undefined {
  const keys = Object.keys(node).filter((key) => !ANNOTATIONS.has(key) && key !== "type");
  if (keys.length !== 1) return undefined;
  if (keys[0] === "const") return [node["const"]!];
  return keys[0] === "enum" ? (node["enum"] as Json[]) : undefined;
}

function wordsOf(node: Node): Node {
  const out: Node = {};
  for (const key of ["title", "description"]) if (key in node) out[key] = node[key]!;
  return out;
}

function hiddenProperties(node: Node): string[] {
  const declared = propertiesOf(node) ?? {};
  const hidden = new Set<string>();
  const visit = (child: Json | undefined): void => {
    if (!isObject(child)) return;
    for (const key of Object.keys(propertiesOf(child as Node) ?? {})) if (!Object.hasOwn(declared, key)) hidden.add(key);
    for (const keyword of ["allOf", "anyOf", "oneOf"]) for (const branch of branchesOf(child as Node, keyword)) visit(branch);
  };
  visit(node["then"]);
  visit(node["else"]);
  for (const schema of Object.values((node["dependentSchemas"] ?? {}) as JsonObject)) visit(schema);
  return [...hidden];
}
