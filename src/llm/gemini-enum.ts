import type { Json } from "../base/json.ts";
import { sharedType } from "./schema-keywords.ts";
import { pointTo, typeKeyword, typeOfValue, typesOf, type Node, type Notes } from "./schema-node.ts";
import { valueInWords, withFacts } from "./words.ts";

/** What may stand beside an enum; the rest says nothing about listed values. */
const ENUM_SIBLINGS = ["title", "description", "format", "minimum", "maximum", "anyOf"];

/** A node whose enum holds neither null, booleans nor empty strings: null and booleans become branches of anyOf. */
export function geminiEnum(node: Node, pointer: string, notes: Notes): Node {
  const list = node["enum"];
  const rest: Node = {};
  for (const key of ENUM_SIBLINGS) if (key in node) rest[key] = node[key]!;
  const types = typesOf(node);
  const at = pointTo(pointer, "enum");
  const values = (list as Json[]).filter((value) => (value === null ? types.length === 0 || types.includes("null") : true));
  const real = values.filter((value) => value !== null && value !== "");
  const hasNull = values.includes(null);
  if (values.includes("") && (real.length > 0 || hasNull)) notes.add("enum.empty_value_dropped", at, "", null, "narrowed");
  const groups = new Map<string, Json[]>();
  for (const value of real) {
    const type = typeof value === "number" ? "number" : typeOfValue(value);
    const group = groups.get(type);
    if (group) group.push(value);
    else groups.set(type, [value]);
  }
  const branches: Node[] = [];
  for (const [kind, group] of groups) {
    const shared = sharedType(group) ?? kind;
    const type = shared === "integer" && types.includes("number") ? "number" : shared;
    if (kind === "string" || kind === "number") branches.push({ type, enum: group });
    else {
      branches.push(kind === "array" ? { type, items: {} } : kind === "object" ? { type, additionalProperties: true } : { type });
      // Both booleans are what the type says.
      notes.add("enum.dropped", at, group, null, kind === "boolean" && group.length === 2 ? "annotated" : "widened");
    }
  }
  const split = branches.some((branch) => branch["enum"] === undefined);
  const widened = split && !(real.length === 2 && groups.get("boolean")?.length === 2) ? [`one of ${real.map(valueInWords).join(", ")}`] : [];
  if (hasNull) branches.push({ type: "null" });
  if (branches.length === 0) {
    notes.add("enum.dropped", at, "", null, "widened");
    return withFacts({ ...rest, type: "string" }, ['always ""']);
  }
  if (branches.length === 1) return withFacts({ ...rest, ...branches[0]! }, widened);
  if (!hasNull && !split)
    return { ...rest, ...(types.length === 0 ? {} : { type: typeKeyword(branches.map((branch) => branch["type"] as string)) }), enum: real };
  const words: Node = {};
  for (const key of ["title", "description"]) if (key in rest) words[key] = rest[key]!;
  return withFacts({ ...words, anyOf: branches }, widened);
}
