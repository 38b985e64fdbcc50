import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { truncate } from "../base/text.ts";
import { branchesOf, propertiesOf, requiredOf, type Node } from "./schema-node.ts";

const MAX_WORDS = 200;

function quoted(names: readonly string[]): string {
  const list = names.map((name) => `\`${name}\``);
  return list.length <= 1 ? (list[0] ?? "") : `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`;
}

/** A JSON value as it may stand in a sentence, cut when long. */
export function valueInWords(value: Json): string {
  return truncate(JSON.stringify(value), MAX_WORDS);
}

const CONSTRAINT_WORDS: ReadonlyMap<string, (value: Json) => string> = new Map([
  ["format", (value: Json) => `format ${String(value)}`],
  ["pattern", (value: Json) => `matches ${String(value)}`],
  ["minLength", (value: Json) => `minimum length ${String(value)}`],
  ["maxLength", (value: Json) => `maximum length ${String(value)}`],
  ["minimum", (value: Json) => `at least ${String(value)}`],
  ["maximum", (value: Json) => `at most ${String(value)}`],
  ["exclusiveMinimum", (value: Json) => `more than ${String(value)}`],
  ["exclusiveMaximum", (value: Json) => `less than ${String(value)}`],
  ["multipleOf", (value: Json) => `a multiple of ${String(value)}`],
  ["minItems", (value: Json) => `at least ${String(value)} items`],
  ["maxItems", (value: Json) => `at most ${String(value)} items`],
  ["uniqueItems", () => "no repeats"],
  ["minProperties", (value: Json) => `at least ${String(value)} members`],
  ["maxProperties", (value: Json) => `at most ${String(value)} members`],
]);

/** Half a sentence for a keyword that bounds a value and cannot be said to a provider; undefined for other keywords. */
export function constraintInWords(keyword: string, value: Json): string | undefined {
  return CONSTRAINT_WORDS.get(keyword)?.(value);
}

/** A sentence for a choice between lists of required properties. */
export function choiceOfRequired(lists: readonly (readonly string[])[], exactlyOne: boolean): string {
  const groups = lists.filter((list) => list.length > 0).map(quoted);
  if (groups.length === 0 || (groups.length < lists.length && !exactlyOne)) return "";
  return `Give ${exactlyOne ? "exactly" : "at least"} one of: ${groups.join("; ")}${groups.length < lists.length ? "; or none of them" : ""}.`;
}

/** A sentence for one of several shapes that the arguments may have. */
export function describeShape(shape: Node, index: number, all: readonly Node[]): string {
  const properties = propertiesOf(shape) ?? {};
  const required = requiredOf(shape);
  const fixed = Object.entries(properties)
    .filter(([, node]) => isObject(node) && "const" in node)
    .map(([name, node]) => `\`${name}\` is ${valueInWords((node as Node)["const"]!)}`);
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const label = typeof shape["title"] === "string" ? ` (${shape["title"]})` : "";
  const parts = [
    ...(fixed.length > 0 ? [fixed.join(" and ")] : []),
    ...(required.length > 0 ? [`needs ${quoted(required)}`] : []),
    ...(optional.length > 0 ? [`may have ${quoted(optional)}`] : []),
  ];
  return `Form ${index + 1} of ${all.length}${label}: ${parts.join("; ") || "any arguments"}.`;
}

/** Sentences for the conditions of a root that are not shown to the provider. */
export function describeConstraint(node: Node): string[] {
  const out: string[] = [];
  const then = isObject(node["then"]) ? phrase(node["then"] as Node) : "";
  const otherwise = isObject(node["else"]) ? phrase(node["else"] as Node) : "";
  if (isObject(node["if"]) && (then !== "" || otherwise !== "")) {
    const when = phrase(node["if"] as Node);
    if (then !== "") out.push(`If ${when}, then ${then}${otherwise === "" ? "" : `; otherwise ${otherwise}`}.`);
    else out.push(`Unless ${when}, ${otherwise}.`);
  }
  if (isObject(node["not"])) {
    const required = requiredOf(node["not"] as Node);
    out.push(
      required.length > 0 && Object.keys(node["not"]).every((key) => key === "required" || key === "type")
        ? `Do not give ${quoted(required)}${required.length > 1 ? " together" : ""}.`
        : `Not allowed: ${phrase(node["not"] as Node)}.`,
    );
  }
  for (const [key, names] of Object.entries((node["dependentRequired"] ?? {}) as JsonObject))
    if (Array.isArray(names) && names.length > 0) out.push(`With \`${key}\`, also give ${quoted(names as string[])}.`);
  for (const [key, schema] of Object.entries((node["dependentSchemas"] ?? {}) as JsonObject))
    if (isObject(schema)) out.push(`With \`${key}\`, ${phrase(schema as Node)}.`);
  if (Array.isArray(node["enum"])) out.push(`The arguments are one of: ${valueInWords(node["enum"])}.`);
  if ("const" in node) out.push(`The arguments are exactly ${valueInWords(node["const"]!)}.`);
  return out;
}

/** A constraint in half a sentence; JSON where no better words are at hand. */
function phrase(node: Node): string {
  const parts: string[] = [];
  let understood = true;
  for (const key of Object.keys(node)) {
    if (key === "required") {
      if (requiredOf(node).length > 0) parts.push(`${quoted(requiredOf(node))} ${requiredOf(node).length > 1 ? "are" : "is"} given`);
    } else if (key === "properties") {
      for (const [name, child] of Object.entries(propertiesOf(node) ?? {})) {
        if (child === false) parts.push(`\`${name}\` is not given`);
        else if (isObject(child) && "const" in child) parts.push(`\`${name}\` is ${valueInWords((child as Node)["const"]!)}`);
        else if (isObject(child) && Array.isArray(child["enum"])) parts.push(`\`${name}\` is one of ${valueInWords(child["enum"] as Json)}`);
        else parts.push(`\`${name}\` fits ${valueInWords(child)}`);
      }
    } else if (key !== "type" && key !== "title" && key !== "description") {
      understood = false;
    }
  }
  if (!understood && branchesOf(node, "anyOf").length > 0 && Object.keys(node).length === 1) {
    return branchesOf(node, "anyOf")
      .map((branch) => (isObject(branch) ? phrase(branch as Node) : "anything"))
      .join(" or ");
  }
  return understood && parts.length > 0 ? parts.join(" and ") : `they fit ${valueInWords(node)}`;
}

/** Ends a node's description, in place, with the facts that its keywords can no longer say; gives the node. */
export function withFacts(node: Node, facts: readonly string[]): Node {
  if (facts.length === 0) return node;
  const text = facts.map((fact) => (fact.endsWith(".") ? fact.slice(0, -1) : fact)).join("; ");
  const before = node["description"];
  node["description"] = typeof before === "string" && before !== "" ? `${before} (${text})` : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return node;
}
