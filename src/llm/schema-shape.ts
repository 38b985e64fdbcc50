import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { isBare, sameShape } from "./schema-merge.ts";
import type { Notes } from "./schema-node.ts";
import { ANNOTATIONS, branchesOf, mapSubschemas, omit, pointTo, propertiesOf, requiredOf, type Node } from "./schema-node.ts";
import { choiceOfRequired } from "./words.ts";

const UNIONS = ["anyOf", "oneOf"];

/** A node without properties and union branches that nothing fits (`false`); arguments that use them are refused by the host. */
export function withoutFalse(node: Node, pointer: string, notes: Notes): Node {
  let out = node;
  const properties = propertiesOf(node);
  if (properties && hasFalse(properties)) {
    const kept: JsonObject = {};
    for (const [name, child] of Object.entries(properties)) {
      if (child === false) notes.add("property.forbidden", pointTo(pointer, "properties", name), false, null, "widened");
      else setOwn(kept, name, child);
    }
    out = { ...out, properties: kept };
    const required = requiredOf(out);
    if (required.some((name) => !Object.hasOwn(kept, name) && Object.hasOwn(properties, name))) {
      const rest = required.filter((name) => !(Object.hasOwn(properties, name) && properties[name] === false));
      out = rest.length > 0 ? { ...out, required: [...rest] } : omit(out, "required");
    }
  }
  for (const keyword of UNIONS) {
    const branches = branchesOf(out, keyword);
    if (!branches.includes(false)) continue;
    const kept = branches.filter((branch) => branch !== false);
    out = kept.length > 0 ? { ...out, [keyword]: kept } : omit(out, keyword);
  }
  return out;
}

function hasFalse(properties: JsonObject): boolean {
  for (const name of Object.keys(properties)) if (properties[name] === false) return true;
  return false;
}

/** Whether an object node says nothing about its members. */
export function isFreeForm(node: Node): boolean {
  if (Object.keys(propertiesOf(node) ?? {}).length > 0) return false;
  if (node["additionalProperties"] !== undefined && !isBare(node["additionalProperties"])) return false;
  return !["patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref", "unevaluatedProperties"].some((keyword) => keyword in node);
}

/** The one schema that all items of a tuple fit, with bounds on their number, for targets without positions. */
export function tupleAsList(node: Node, pointer: string, notes: Notes): Node {
  const prefix = branchesOf(node, "prefixItems");
  const rest = node["items"];
  const max = node["maxItems"];
  const closed = rest === false || (typeof max === "number" && max <= prefix.length);
  const out = omit(node, "prefixItems", "items");
  const kinds: Json[] = [];
  for (const item of closed || rest === undefined ? prefix : [...prefix, rest]) if (!kinds.some((other) => sameShape(other, item))) kinds.push(item);
  const open = (!closed && rest === undefined) || kinds.some(isBare);
  notes.add(open ? "tuple.open" : "tuple.order_lost", pointTo(pointer, "prefixItems"), prefix.length, null, "widened");
  out["items"] = open ? {} : kinds.length === 1 ? kinds[0]! : { anyOf: kinds };
  if (closed) out["maxItems"] = typeof max === "number" ? Math.min(max, prefix.length) : prefix.length;
  return out;
}

/** A sentence for a union that only says which properties must be there together; undefined when it says more. */
export function requiredChoice(node: Node, keyword: "anyOf" | "oneOf"): string | undefined {
  const branches = branchesOf(node, keyword);
  if (!branches.every((branch) => isObject(branch) && ("required" in branch || "not" in branch))) return undefined;
  return branches.length > 0 ? choiceOfBranches(branches as Node[], keyword) : undefined;
}

/** As {@link requiredChoice}, for branches at hand; a branch without `required` is a choice of none of them. */
export function choiceOfBranches(branches: readonly Node[], keyword: "anyOf" | "oneOf"): string | undefined {
  if (!branches.every((branch) => Object.keys(branch).every((key) => ["required", "type", "not"].includes(key) || ANNOTATIONS.has(key)))) return undefined;
  const exclusive = branches.length > 1 && branches.every((branch) => isObject(branch["not"]) && "required" in branch);
  return choiceOfRequired(branches.map(requiredOf), keyword === "oneOf" || exclusive);
}

/** Where a wider subschema makes the whole narrower: more than one branch fits, more is forbidden, another consequence applies. */
const DELICATE: ReadonlySet<string> = new Set(["oneOf", "not", "if"]);

/**
 * A node with its subschemas rewritten. Where rewriting widened a branch of oneOf, that becomes anyOf; where it widened what
 * `not` or `if` asks, the condition is left to the host.
 */
export function rewriteSubschemas(node: Node, pointer: string, notes: Notes, walk: (child: Json, pointer: string) => Json): Node {
  if (!("oneOf" in node || "not" in node || "if" in node)) return mapSubschemas(node, pointer, walk);
  const widened = new Set<string>();
  const mapped = mapSubschemas(node, pointer, (child, at, keyword) => {
    const before = notes.list.length;
    const changed = walk(child, at);
    if (DELICATE.has(keyword) && notes.list.slice(before).some((note) => note.effect === "widened")) widened.add(keyword);
    return changed;
  });
  if (widened.size === 0) return mapped;
  const out = { ...mapped };
  if (widened.has("oneOf")) {
    notes.add("anyOf" in out ? "oneOf.dropped" : "oneOf.as_anyOf", pointTo(pointer, "oneOf"), null, null, "widened");
    if (!("anyOf" in out)) out["anyOf"] = out["oneOf"]!;
    delete out["oneOf"];
  }
  for (const keyword of [...(widened.has("not") ? ["not"] : []), ...(widened.has("if") ? ["if", "then", "else"] : [])]) {
    if (!(keyword in out)) continue;
    notes.add(`${keyword}.dropped`, pointTo(pointer, keyword), node[keyword], null, "widened");
    delete out[keyword];
  }
  return out;
}
