import { isObject, type Json } from "../base/json.ts";
import { definitionsOf, refName } from "./schema-definitions.ts";
import { branchesOf, forEachSubschema, propertiesOf, type Node } from "./schema-node.ts";

/** OpenAI's published limits for one strict schema. */
const LIMITS = { properties: 5_000, depth: 10, characters: 120_000, enumValues: 1_000, longEnum: 250, longEnumCharacters: 15_000 };

/** The first limit of strict mode that a schema breaks, in words; undefined when it keeps all. */
export function strictSizeProblem(schema: Node): string | undefined {
  const count = { properties: 0, characters: 0, enumValues: 0, longEnum: false };
  const countEnum = (values: readonly Json[]): void => {
    const characters = values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : JSON.stringify(value).length), 0);
    count.enumValues += values.length;
    count.characters += characters;
    if (values.length > LIMITS.longEnum && characters > LIMITS.longEnumCharacters) count.longEnum = true;
  };
  const visit = (node: Json): void => {
    if (!isObject(node)) return;
    for (const name of Object.keys(propertiesOf(node as Node) ?? {})) {
      count.properties += 1;
      count.characters += name.length;
    }
    if (Array.isArray(node["enum"])) countEnum(node["enum"] as Json[]);
    forEachSubschema(node as Node, visit);
  };
  visit(schema);
  for (const name of definitionsOf(schema).keys()) count.characters += name.length;
  if (depthOf(schema) > LIMITS.depth) return `nesting over ${LIMITS.depth} levels`;
  if (count.properties > LIMITS.properties) return `over ${LIMITS.properties} properties`;
  if (count.enumValues > LIMITS.enumValues) return `over ${LIMITS.enumValues} enum values in one schema`;
  if (count.characters > LIMITS.characters) return `over ${LIMITS.characters} characters of names and values`;
  if (count.longEnum) return `over ${LIMITS.longEnumCharacters} characters in an enum of over ${LIMITS.longEnum} values`;
  return undefined;
}

/** Levels of objects and arrays, references followed once. */
function depthOf(schema: Node): number {
  const definitions = definitionsOf(schema);
  const known = new Map<string, number>();
  const depth = (node: Json): number => {
    if (!isObject(node)) return 0;
    const name = refName(node as Node);
    if (name !== undefined) {
      const found = known.get(name);
      if (found !== undefined) return found;
      // A definition inside itself adds no level of its own.
      known.set(name, 0);
      const below = depth(definitions.get(name) ?? {});
      known.set(name, below);
      return below;
    }
    const properties = propertiesOf(node as Node) ?? {};
    let inner = -1;
    for (const name of Object.keys(properties)) inner = Math.max(inner, depth(properties[name]!));
    if (node["items"] !== undefined) inner = Math.max(inner, depth(node["items"] as Json));
    let deepest = inner >= 0 ? 1 + inner : node["type"] === "object" || node["type"] === "array" ? 1 : 0;
    for (const branch of branchesOf(node as Node, "anyOf")) deepest = Math.max(deepest, depth(branch));
    return deepest;
  };
  return depth(schema);
}
