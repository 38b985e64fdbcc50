import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { enumWithNull, fittingValues, sharedType, withNull } from "./schema-keywords.ts";
import { allowsType, distinctValues, pointTo, propertiesOf, sameJson, typesOf, type Node, type Notes } from "./schema-node.ts";

/** Where a node stands: `condition` nodes (if, not, …) keep exactly what they say, for a guessed type would change their meaning. */
export interface Spot {
  readonly pointer: string;
  readonly depth: number;
  readonly condition: boolean;
}

/** Sets exclusive bounds on the repaired node. Draft-04 writes `minimum: 0, exclusiveMinimum: true`, whatever dialect the file claims. */
export function repairBounds(raw: JsonObject, out: Node, spot: Spot, notes: Notes): void {
  repairBound(raw, out, "exclusiveMinimum", "minimum", spot, notes);
  repairBound(raw, out, "exclusiveMaximum", "maximum", spot, notes);
}

function repairBound(raw: JsonObject, out: Node, exclusive: string, inclusive: string, spot: Spot, notes: Notes): void {
  const value = raw[exclusive];
  if (value === undefined || value === false) return;
  if (typeof value === "number" && Number.isFinite(value)) {
    out[exclusive] = value;
  } else if (value === true && typeof out[inclusive] === "number") {
    out[exclusive] = out[inclusive];
    delete out[inclusive];
    notes.add("bounds.draft04", pointTo(spot.pointer, exclusive), true, out[exclusive], "annotated");
  } else {
    notes.add("keyword.malformed", pointTo(spot.pointer, exclusive), value, null, "widened");
  }
}

/** A tuple ends where a position takes nothing (`false`); changes the node in place. */
export function repairTuple(node: Node, spot: Spot, notes: Notes): void {
  const prefix = node["prefixItems"];
  const end = Array.isArray(prefix) ? prefix.indexOf(false) : -1;
  if (end === -1) return;
  notes.add("tuple.ended", pointTo(spot.pointer, "prefixItems", end), false, null, "annotated");
  if (end === 0) delete node["prefixItems"];
  else node["prefixItems"] = (prefix as Json[]).slice(0, end);
  node["items"] = false;
}

/** Lists each value of an enum once, only those that the type admits, and none beside a const; changes the node in place. */
export function repairValues(node: Node, spot: Spot, notes: Notes): void {
  if (spot.condition || (node["enum"] === undefined && node["const"] === undefined)) return;
  const at = pointTo(spot.pointer, "enum");
  if ("const" in node && Array.isArray(node["enum"])) {
    const listed = node["enum"].some((value) => sameJson(value, node["const"]));
    notes.add("enum.beside_const", at, node["enum"], null, listed ? "annotated" : "widened");
    delete node["enum"];
  }
  if (Array.isArray(node["enum"]) && new Set(node["enum"]).size < node["enum"].length) {
    notes.add("enum.repeated", at, node["enum"], null, "annotated");
    node["enum"] = distinctValues(node["enum"]);
  }
  const values = valuesOf(node);
  if (values === undefined || node["type"] === undefined) return;
  const fitting = fittingValues(values, typesOf(node));
  if (fitting.length === 0) {
    // Nothing would ever fit: the values are what the author had in mind, the type is the mistake.
    const type = sharedType(values);
    notes.add("type.contradicted", spot.pointer, node["type"], type, "widened");
    if (type === undefined) delete node["type"];
    else node["type"] = type;
  } else if (fitting.length < values.length) {
    notes.add("enum.other_type", at, values, fitting, "annotated");
    node["enum"] = fitting;
  }
}

function valuesOf(node: Node): Json[] | undefined {
  if ("const" in node) return [node["const"]!];
  return Array.isArray(node["enum"]) ? node["enum"] : undefined;
}

/** Adds a type where values, properties or items settle it, and takes away what contradicts the type; changes the node in place. */
export function repairTypes(node: Node, spot: Spot, notes: Notes): void {
  if (node["type"] === undefined && !spot.condition) {
    const values = valuesOf(node);
    const type = values ? sharedType(values) : typeOfMembers(node);
    if (type !== undefined) {
      node["type"] = type;
      notes.add("type.added", spot.pointer, null, type, values ? "annotated" : "narrowed");
    }
  }
  if (node["type"] !== undefined && !allowsType(node, "object")) {
    for (const keyword of ["properties", "required"]) {
      if (node[keyword] === undefined) continue;
      notes.add("keyword.useless", pointTo(spot.pointer, keyword), null, null, "annotated");
      delete node[keyword];
    }
  }
}

function typeOfMembers(node: Node): string | undefined {
  if (node["$ref"] !== undefined) return undefined;
  if (propertiesOf(node)) return "object";
  return node["items"] !== undefined || node["prefixItems"] !== undefined ? "array" : undefined;
}

/** Whether a node takes no value at all, as `{not: {}}` does; the root is left alone, for it is judged as a whole. */
export function nothingFits(node: Node, spot: Spot, notes: Notes): boolean {
  if (spot.depth === 0 || spot.condition) return false;
  const { not, allOf, anyOf, oneOf } = node;
  if (not === undefined && allOf === undefined && anyOf === undefined && oneOf === undefined) return false;
  const never =
    (isObject(not) && Object.keys(not).length === 0) ||
    (Array.isArray(allOf) && allOf.includes(false)) ||
    [anyOf, oneOf].some((union) => Array.isArray(union) && union.every((branch) => branch === false));
  if (never) notes.add("node.nothing_fits", spot.pointer, node, false, "annotated");
  return never;
}

/** A node that admits null where OpenAPI's `nullable` says so. */
export function repairNullable(raw: JsonObject, node: Node, spot: Spot, notes: Notes): Json {
  if (raw["nullable"] !== true || spot.depth === 0) return node;
  notes.add("nullable.openapi", spot.pointer, true, "null", "annotated");
  if (typesOf(node).length > 0) {
    node["type"] = withNull(node["type"]!);
    if (Array.isArray(node["enum"])) node["enum"] = enumWithNull(node["enum"]);
    if ("const" in node && node["const"] !== null) {
      node["enum"] = [node["const"]!, null];
      delete node["const"];
    }
    return node;
  }
  if (Array.isArray(node["enum"])) {
    node["enum"] = enumWithNull(node["enum"]);
    return node;
  }
  const bound = ["$ref", "anyOf", "oneOf", "allOf", "const"].some((keyword) => node[keyword] !== undefined);
  return bound ? { anyOf: [node, { type: "null" }] } : node;
}
