import { isObject, own, setOwn, type Json, type JsonObject } from "../../../src/base/json.ts";

/** Picks a whole number from 0 to `max`. */
export type Pick = (max: number) => number;

const POOL: readonly Json[] = [
  "x",
  "y",
  "",
  "12",
  "true",
  "2024-01-01",
  null,
  true,
  false,
  0,
  1,
  2,
  4,
  -1,
  0.5,
  1.5,
  [],
  ["x"],
  [1, "x"],
  {},
  { a: "x" },
  { b: 1 },
];

/** A copy, for callers put members into what they get. */
function fromPool(pick: Pick): Json {
  return structuredClone(POOL[pick(POOL.length - 1)]!);
}

/** A value that often fits a schema: it follows types, enums and references, and sometimes takes anything. */
export function sample(schema: unknown, root: JsonObject, pick: Pick, depth = 0): Json {
  if (depth > 6 || pick(9) === 0 || !isObject(schema)) return fromPool(pick);
  const node = schema as JsonObject;
  const ref = node["$ref"];
  if (typeof ref === "string") {
    const target = own(own(root, ref.split("/")[1]!), ref.split("/")[2]!);
    return sample(target ?? {}, root, pick, depth + 1);
  }
  if ("const" in node) return node["const"]!;
  if (Array.isArray(node["enum"])) return node["enum"][pick(node["enum"].length - 1)]!;
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = node[keyword];
    if (!Array.isArray(branches)) continue;
    const value = sample(branches[pick(branches.length - 1)], root, pick, depth + 1);
    return isObject(value) && node["properties"] !== undefined ? members(node, root, pick, depth, value as JsonObject) : value;
  }
  if (Array.isArray(node["allOf"])) {
    const out: JsonObject = {};
    let last: Json = out;
    for (const branch of [...node["allOf"], { ...node, allOf: undefined as never }]) {
      const value = sample(branch, root, pick, depth + 1);
      if (isObject(value)) for (const key of Object.keys(value)) setOwn(out, key, (value as JsonObject)[key]);
      else last = value;
    }
    return Object.keys(out).length > 0 ? out : last;
  }
  const types = Array.isArray(node["type"]) ? node["type"] : [node["type"]];
  switch (types[pick(types.length - 1)]) {
    case "string":
      return node["format"] === "date" ? "2024-01-01" : (["x", "xy", "", "日"][pick(3)] as Json);
    case "integer":
      return pick(5) - 1;
    case "number":
      return (pick(10) - 2) / 2;
    case "boolean":
      return pick(1) === 1;
    case "null":
      return null;
    case "array": {
      const fixed = (Array.isArray(node["prefixItems"]) ? node["prefixItems"] : Array.isArray(node["items"]) ? node["items"] : []) as Json[];
      const rest = Array.isArray(node["items"]) ? node["additionalItems"] : node["items"];
      const values = fixed.map((item) => sample(item, root, pick, depth + 1));
      if (rest !== false) for (let i = pick(2); i > 0; i -= 1) values.push(sample(rest, root, pick, depth + 1));
      return values.slice(0, pick(9) === 0 ? 1 : values.length);
    }
    case "object":
      return members(node, root, pick, depth, {});
    default:
      return fromPool(pick);
  }
}

function members(node: JsonObject, root: JsonObject, pick: Pick, depth: number, out: JsonObject): JsonObject {
  const required = (Array.isArray(node["required"]) ? node["required"] : []) as string[];
  for (const [name, child] of Object.entries((node["properties"] ?? {}) as JsonObject)) {
    if (required.includes(name) || pick(1) === 1) setOwn(out, name, sample(child, root, pick, depth + 1));
  }
  if (node["additionalProperties"] !== false && pick(3) === 0) setOwn(out, "a1", sample(node["additionalProperties"], root, pick, depth + 1));
  for (const pattern of Object.keys((node["patternProperties"] ?? {}) as JsonObject))
    setOwn(out, pattern.replace("^", ""), sample(own(node["patternProperties"], pattern), root, pick, depth + 1));
  return out;
}
