import type { Json, JsonObject } from "../base/json.ts";
import { enumWithNull, sharedType, valuesOfTypes, withNull } from "./schema-keywords.ts";
import { allowsType, pointTo, propertiesOf, typesOf, type Node, type Notes } from "./schema-node.ts";

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

/** Adds a type where values or properties settle it, and takes away what contradicts the type; changes the node in place. */
export function repairTypes(node: Node, spot: Spot, notes: Notes): void {
  if (node["type"] === undefined && !spot.condition) {
    const values = Array.isArray(node["enum"]) ? node["enum"] : "const" in node ? [node["const"]!] : undefined;
    const type = values ? sharedType(values) : propertiesOf(node) && node["$ref"] === undefined ? "object" : undefined;
    if (type !== undefined) {
      node["type"] = type;
      notes.add("type.added", spot.pointer, null, type, values ? "annotated" : "narrowed");
    }
  }
  if (Array.isArray(node["enum"]) && node["type"] !== undefined && !spot.condition) {
    const fitting = valuesOfTypes(node["enum"], typesOf(node));
    if (fitting.length < node["enum"].length) notes.add("enum.other_type", pointTo(spot.pointer, "enum"), node["enum"], fitting, "annotated");
    node["enum"] = fitting;
  }
  if (node["type"] !== undefined && !allowsType(node, "object")) {
    for (const keyword of ["properties", "required"]) {
      if (node[keyword] === undefined) continue;
      notes.add("keyword.useless", pointTo(spot.pointer, keyword), null, null, "annotated");
      delete node[keyword];
    }
  }
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
