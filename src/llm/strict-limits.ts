import { isObject, type Json } from "../base/json.ts";
import { definitionsOf, refName } from "./schema-definitions.ts";
import { branchesOf, propertiesOf, type Node } from "./schema-node.ts";

/** Most properties of one strict schema. */
export const MAX_PROPERTIES = 5_000;

/** OpenAI's published limits for one strict schema. */
const LIMITS = { properties: MAX_PROPERTIES, depth: 10, characters: 120_000, enumValues: 1_000, longEnum: 250, longEnumCharacters: 15_000 };

/** The first limit of strict mode that a strict schema breaks, in words; undefined when it keeps all. */
export function strictSizeProblem(schema: Node): string | undefined {
  const size = new StrictSize(definitionsOf(schema));
  const depth = size.add(schema);
  if (depth > LIMITS.depth) return `nesting over ${LIMITS.depth} levels`;
  if (size.properties > LIMITS.properties) return `over ${LIMITS.properties} properties`;
  if (size.enumValues > LIMITS.enumValues) return `over ${LIMITS.enumValues} enum values in one schema`;
  if (size.characters > LIMITS.characters) return `over ${LIMITS.characters} characters of names and values`;
  if (size.longEnum) return `over ${LIMITS.longEnumCharacters} characters in an enum of over ${LIMITS.longEnum} values`;
  return undefined;
}

/** Counts a strict schema, whose subschemas stand under `properties`, `items`, `anyOf` and, all of them referred to, `$defs`. */
class StrictSize {
  properties = 0;
  characters = 0;
  enumValues = 0;
  longEnum = false;
  readonly #definitions: ReadonlyMap<string, Json>;
  /** Levels in each definition that was met. */
  readonly #levels = new Map<string, number>();

  constructor(definitions: ReadonlyMap<string, Json>) {
    this.#definitions = definitions;
  }

  /** Adds a node; gives its levels of objects and arrays. */
  add(node: Json): number {
    if (!isObject(node)) return 0;
    const name = refName(node as Node);
    if (name !== undefined) return this.#definition(name);
    if (Array.isArray(node["enum"])) this.#values(node["enum"] as Json[]);
    const properties = propertiesOf(node as Node);
    let levels = node["type"] === "object" || node["type"] === "array" ? 1 : 0;
    if (properties !== undefined) {
      for (const key of Object.keys(properties)) {
        this.properties += 1;
        this.characters += key.length;
        levels = Math.max(levels, 1 + this.add(properties[key]!));
      }
    }
    if (node["items"] !== undefined) levels = Math.max(levels, 1 + this.add(node["items"] as Json));
    for (const branch of branchesOf(node as Node, "anyOf")) levels = Math.max(levels, this.add(branch));
    return levels;
  }

  /** Counts a definition where it is first met. Inside itself it adds no level of its own. */
  #definition(name: string): number {
    const known = this.#levels.get(name);
    if (known !== undefined) return known;
    this.#levels.set(name, 0);
    this.characters += name.length;
    const levels = this.add(this.#definitions.get(name) ?? {});
    this.#levels.set(name, levels);
    return levels;
  }

  #values(values: readonly Json[]): void {
    const characters = values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : JSON.stringify(value).length), 0);
    this.enumValues += values.length;
    this.characters += characters;
    if (values.length > LIMITS.longEnum && characters > LIMITS.longEnumCharacters) this.longEnum = true;
  }
}
