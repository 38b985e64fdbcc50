import { isObject, own, type Json } from "../base/json.ts";

/**
 * Whether a call of a tool with this input schema can have an argument at a dotted path, as far as the schema says: `no` only where it names others in
 * its place. What names nothing, or refers to what lies elsewhere, says nothing.
 */
export function hasArgument(schema: Json, path: string): boolean {
  if (own(own(schema, "properties"), path) !== undefined) return true;
  return lookFor({ root: schema, left: MAX_STEPS }, schema, path.split(".")) !== "no";
}

/** The dotted paths that a schema names, for near names; not all of a large one. */
export function argumentPaths(schema: Json): string[] {
  const out: string[] = [];
  const budget = { root: schema, left: MAX_STEPS };
  const walk = (node: unknown, before: string, depth: number): void => {
    for (const part of partsOf(budget, node))
      for (const [name, child] of Object.entries(objectOr(own(part, "properties")))) {
        out.push(`${before}${name}`);
        if (depth < MAX_DEPTH) walk(elementOf(child), `${before}${name}.`, depth + 1);
      }
  };
  walk(schema, "", 1);
  return out;
}

const MAX_STEPS = 2_000;
const MAX_DEPTH = 4;

/** How many parts may still be looked at: schemas may refer to themselves. */
interface Budget {
  readonly root: Json;
  left: number;
}

function lookFor(budget: Budget, node: unknown, path: readonly string[]): "yes" | "no" | "open" {
  const [name, ...rest] = path;
  if (name === undefined) return "yes";
  let named = false;
  for (const part of partsOf(budget, elementOf(node))) {
    const properties = own(part, "properties");
    if (isObject(properties) && Object.hasOwn(properties, name) && lookFor(budget, properties[name], rest) !== "no") return "yes";
    const more = own(part, "additionalProperties");
    if (more === true || isObject(more) || own(part, "patternProperties") !== undefined) return "open";
    named ||= more === false || (isObject(properties) && Object.keys(properties).length > 0);
  }
  return named && budget.left > 0 ? "no" : "open";
}

/** A schema with all that it is put together of, within itself; nothing where that cannot be known. */
function partsOf(budget: Budget, node: unknown): unknown[] {
  const parts: unknown[] = [];
  const add = (part: unknown): void => {
    if (!isObject(part) || (budget.left -= 1) < 0) return;
    parts.push(part);
    const reference = own(part, "$ref");
    if (typeof reference === "string") add(pointedAt(budget, reference));
    for (const key of ["allOf", "anyOf", "oneOf"]) for (const one of listOr(own(part, key))) add(elementOf(one));
    for (const key of ["if", "then", "else"]) add(own(part, key));
    for (const one of Object.values(objectOr(own(part, "dependentSchemas")))) add(one);
  };
  add(node);
  return parts;
}

/** Where a reference within the schema leads; one that leads elsewhere is taken for a part that may have anything. */
function pointedAt({ root }: Budget, reference: string): unknown {
  let at: unknown = root;
  if (reference !== "#" && !reference.startsWith("#/")) return ANYTHING;
  for (const step of reference.split("/").slice(1)) at = own(at, unescaped(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  return at ?? ANYTHING;
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

const ANYTHING = { additionalProperties: true };

/** Of a list its elements, for rules look through lists. */
function elementOf(node: unknown): unknown {
  const items = own(node, "items");
  return isObject(items) ? elementOf(items) : node;
}

function objectOr(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function listOr(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
