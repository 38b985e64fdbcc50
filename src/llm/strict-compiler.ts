import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { orderOwnKeywords } from "./keyword-order.ts";
import type { PreparedSchema } from "./prepare.ts";
import { isPortablePattern } from "./safe-pattern.ts";
import { refName } from "./schema-definitions.ts";
import { withDefinitions } from "./schema-inline.ts";
import { enumWithNull, sharedType, valuesOfTypes, withNull } from "./schema-keywords.ts";
import { intersect, isBare, mergeAllOf } from "./schema-merge.ts";
import type { Notes } from "./schema-node.ts";
import {
  ANNOTATIONS,
  branchesOf,
  childPointer,
  distinctValues,
  omit,
  pointTo,
  propertiesOf,
  requiredOf,
  sameJson,
  saysOnly,
  typeKeyword,
  typeOfValue,
  typesOf,
  type Node,
} from "./schema-node.ts";
import { requiredChoice, tupleAsList, withoutFalse } from "./schema-shape.ts";
import { MAX_PROPERTIES, strictSizeProblem } from "./strict-limits.ts";
import { withFacts } from "./words.ts";

/** A schema inside a provider's strict subset, or the reasons why this one cannot be said there. */
export type StrictResult = { readonly ok: true; readonly schema: Node } | { readonly ok: false; readonly reasons: readonly string[] };

/** What a provider's strict mode can say. */
export interface StrictDialect {
  readonly formats: ReadonlySet<string>;
  readonly numberKeywords: readonly string[];
  readonly patterns: boolean;
  /** Whether a bound on the length of a list may stay. */
  keepsListBound(keyword: "minItems" | "maxItems", value: Json): boolean;
  /** What is optional: a required property that may be null, or a property that may be absent. */
  readonly optional: "null" | "absent";
  /** Several types of a node: a list under `type`, or branches of `anyOf`. */
  readonly severalTypes: "list" | "anyOf";
  /** Whether a type stands beside an enum. */
  readonly typedEnums: boolean;
  /** Words for a bound that cannot be said, for the description; undefined for none. */
  words(keyword: string, value: Json): string | undefined;
}

const WORDS = ["title", "description"];
/** Keywords that only narrow values: the host checks them, so leaving them out is safe. */
const HANDLED: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "enum",
  "const",
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "items",
  "prefixItems",
  "anyOf",
  "oneOf",
  "$ref",
]);

/** Tries to say a schema in a strict subset: closed objects, every value with a type, nothing left open. */
export function strictSchema(prepared: PreparedSchema, dialect: StrictDialect, notes: Notes): StrictResult {
  const compiler = new StrictCompiler(prepared, dialect, notes);
  if (prepared.hidden.length > 0) compiler.reasons.add(`only a condition declares ${prepared.hidden.join(", ")}`);
  const root = compiler.node(prepared.root, "");
  const definitions = new Map([...prepared.definitions].map(([name, node]) => [name, compiler.node(node, `/$defs/${name}`) as Json]));
  if (compiler.reasons.size > 0) return { ok: false, reasons: [...compiler.reasons] };
  const schema = withDefinitions(root, definitions);
  const problem = strictSizeProblem(schema);
  return problem === undefined ? { ok: true, schema: orderOwnKeywords(schema) as Node } : { ok: false, reasons: [problem] };
}

class StrictCompiler {
  readonly reasons = new Set<string>();
  readonly #prepared: PreparedSchema;
  readonly #dialect: StrictDialect;
  readonly #notes: Notes;

  constructor(prepared: PreparedSchema, dialect: StrictDialect, notes: Notes) {
    this.#prepared = prepared;
    this.#dialect = dialect;
    this.#notes = notes;
  }

  node(schema: Json, pointer: string): Node {
    if (!isObject(schema)) return this.#refuse(pointer, "nothing fits a false schema");
    let node = withoutFalse(schema as Node, pointer, this.#notes);
    if (refName(node) !== undefined) return this.#reference(node, pointer);
    if (Array.isArray(node["allOf"])) {
      const merged = mergeAllOf(node, (branch) => this.#follow(branch));
      if (merged.lost.length > 0) return this.#refuse(pointer, `allOf cannot be merged (${[...new Set(merged.lost)].join(", ")})`);
      this.#notes.add("allOf.merged", pointTo(pointer, "allOf"), null, null, "annotated");
      node = withoutFalse(merged.node, pointer, this.#notes);
    }
    node = this.#withoutChoice(node, pointer);
    if (branchesOf(node, "anyOf").length > 0 || branchesOf(node, "oneOf").length > 0) return this.#union(node, pointer);
    if (Array.isArray(node["enum"]) || "const" in node) return this.#values(node, pointer);
    if (typesOf(node).length === 0) return this.#refuse(pointer, "a value without a type");
    return this.#typed(node, pointer);
  }

  #refuse(pointer: string, reason: string): Node {
    this.reasons.add(`${pointer || "/"}: ${reason}`);
    return {};
  }

  #follow(branch: Json): Json {
    let node = branch;
    for (let step = 0; step < 50; step += 1) {
      const name = refName(node);
      if (name === undefined || this.#prepared.cycles.has(name)) return node;
      const target = this.#prepared.definitions.get(name) ?? {};
      node = isObject(target) ? intersect(target as Node, omit(node as Node, "$ref")).node : target;
    }
    return {};
  }

  #reference(node: Node, pointer: string): Node {
    const beside = Object.keys(node).filter((key) => key !== "$ref");
    if (beside.length > 0)
      this.#notes.add("ref.siblings_dropped", pointer, beside, null, beside.every((key) => ANNOTATIONS.has(key)) ? "annotated" : "widened");
    return { $ref: node["$ref"]! };
  }

  /** Unions that only list required properties are a matter for the host. */
  #withoutChoice(node: Node, pointer: string): Node {
    let out = node;
    for (const keyword of ["anyOf", "oneOf"] as const) {
      if (requiredChoice(out, keyword) === undefined) continue;
      this.#notes.add(`${keyword}.required_dropped`, pointTo(pointer, keyword), out[keyword], null, "widened");
      out = omit(out, keyword);
    }
    return out;
  }

  #union(node: Node, pointer: string): Node {
    const keyword = branchesOf(node, "anyOf").length > 0 ? "anyOf" : "oneOf";
    if (keyword === "anyOf" && "oneOf" in node) this.#notes.add("oneOf.dropped", pointTo(pointer, "oneOf"), node["oneOf"], null, "widened");
    if (keyword === "oneOf") this.#notes.add("oneOf.as_anyOf", pointTo(pointer, "oneOf"), null, null, "widened");
    this.#dropped(node, pointer, (key) => ANNOTATIONS.has(key) && !WORDS.includes(key) && key !== "format");
    const common: Node = {};
    for (const [key, value] of Object.entries(node)) if (!ANNOTATIONS.has(key) && key !== "anyOf" && key !== "oneOf") common[key] = value;
    // Every branch gets a copy of what all share, and the copies count against the limit of the whole.
    if (Object.keys(propertiesOf(common) ?? {}).length * branchesOf(node, keyword).length > MAX_PROPERTIES)
      return this.#refuse(pointer, `over ${MAX_PROPERTIES} properties in the branches of ${keyword}`);
    const branches: Node[] = [];
    branchesOf(node, keyword).forEach((branch, i) => {
      const at = pointTo(pointer, keyword, i);
      const followed = Object.keys(common).length > 0 ? this.#follow(branch) : branch;
      const whole = isObject(followed) && Object.keys(common).length > 0 ? intersect(common, followed as Node) : { node: followed as Node, lost: [] };
      if (whole.lost.length > 0) this.#refuse(at, `a branch contradicts what stands beside it (${whole.lost.join(", ")})`);
      const strict = this.node(whole.node, at);
      const inner = saysOnly(strict, "anyOf") ? (branchesOf(strict, "anyOf") as Node[]) : [strict];
      for (const item of inner) if (!branches.some((other) => sameJson(other, item))) branches.push(item);
    });
    return { ...pickWords(node), anyOf: branches };
  }

  #values(node: Node, pointer: string): Node {
    const types = typesOf(node);
    const all = "const" in node ? [node["const"]!] : (node["enum"] as Json[]);
    const values = distinctValues(valuesOfTypes(all, types));
    if (values.some((value) => typeof value === "object" && value !== null)) return this.#refuse(pointer, "an enum of objects or lists");
    this.#dropped(node, pointer, (key) => !HANDLED.has(key));
    const real = values.filter((value) => value !== null);
    if (real.length > 0 && !this.#dialect.typedEnums) return { ...pickWords(node), enum: values };
    if (real.length === 0) return { ...pickWords(node), type: "null" };
    const shared = sharedType(real);
    if (shared !== undefined) {
      const type = types.includes("number") && shared === "integer" ? "number" : shared;
      return { ...pickWords(node), type: real.length < values.length ? [type, "null"] : type, enum: values };
    }
    const groups = new Map<string, Json[]>();
    for (const value of values) {
      const type =
        typeof value === "number" ? (real.some((other) => typeof other === "number" && !Number.isInteger(other)) ? "number" : "integer") : typeOfValue(value);
      const group = groups.get(type);
      if (group) group.push(value);
      else groups.set(type, [value]);
    }
    return { ...pickWords(node), anyOf: [...groups].map(([type, list]) => (type === "null" ? { type } : { type, enum: list })) };
  }

  #typed(node: Node, pointer: string): Node {
    const types = typesOf(node);
    const shapes = types.length > 1 && this.#dialect.severalTypes === "anyOf" ? types.map((type) => [type]) : [types];
    const branches = shapes.map((shape) => this.#shape(node, shape, pointer));
    const facts = this.#dropped(node, pointer, (key) => !HANDLED.has(key) && !branches.some((branch) => Object.hasOwn(branch, key)));
    const out = branches.length === 1 ? { ...pickWords(node), ...branches[0]! } : { ...pickWords(node), anyOf: branches };
    return withFacts(out, facts);
  }

  /** What a node says about values of some of its types. */
  #shape(node: Node, types: readonly string[], pointer: string): Node {
    const out: Node = { type: typeKeyword(types) };
    if (types.includes("string")) {
      if (this.#dialect.patterns && typeof node["pattern"] === "string" && isPortablePattern(node["pattern"])) out["pattern"] = node["pattern"];
      if (this.#dialect.formats.has(String(node["format"]))) out["format"] = node["format"]!;
    }
    if (types.includes("number") || types.includes("integer")) for (const key of this.#dialect.numberKeywords) if (key in node) out[key] = node[key]!;
    if (types.includes("array")) this.#array(node, out, pointer);
    if (types.includes("object")) this.#object(node, out, pointer);
    return out;
  }

  #array(node: Node, out: Node, pointer: string): void {
    const list = Array.isArray(node["prefixItems"]) ? tupleAsList(node, pointer, this.#notes) : node;
    if (list["items"] === undefined || (list["items"] !== false && isBare(list["items"]))) {
      this.#refuse(pointer, "an array of anything");
      return;
    }
    if (list["items"] === false) {
      if (!this.#dialect.keepsListBound("maxItems", 0)) this.#refuse(pointer, "a list that must be empty");
      out["items"] = { type: "string" };
      out["maxItems"] = 0;
      return;
    }
    out["items"] = this.node(list["items"], pointTo(pointer, "items"));
    for (const key of ["minItems", "maxItems"] as const) if (list[key] !== undefined && this.#dialect.keepsListBound(key, list[key])) out[key] = list[key];
  }

  #object(node: Node, out: Node, pointer: string): void {
    const properties = propertiesOf(node) ?? {};
    const names = Object.keys(properties);
    const more = node["additionalProperties"] ?? (node["unevaluatedProperties"] === false ? false : undefined);
    if (node["patternProperties"] !== undefined) this.#refuse(pointer, "patternProperties");
    if (more !== undefined && more !== false) this.#refuse(pointer, names.length > 0 ? "more properties are welcome" : "an open map");
    if (more === undefined && names.length === 0 && pointer !== "") this.#refuse(pointer, "a free-form object");
    if (more === undefined) this.#notes.add("object.closed", pointer, null, false, "narrowed");
    const required = new Set(requiredOf(node));
    const strict: JsonObject = {};
    const place = `${pointer}/properties`;
    for (const name of names) {
      const at = childPointer(place, name);
      const child = this.node(properties[name]!, at);
      const asNull = this.#dialect.optional === "null" && !required.has(name);
      if (asNull) this.#notes.add("optional.as_null", at, null, null, "widened");
      setOwn(strict, name, asNull ? nullable(child) : child);
    }
    out["properties"] = strict;
    out["required"] = this.#dialect.optional === "null" ? names : names.filter((name) => required.has(name));
    out["additionalProperties"] = false;
  }

  /** Notes the keywords that are left out; gives the words that stand for them. */
  #dropped(node: Node, pointer: string, test: (key: string) => boolean): readonly string[] {
    const facts: string[] = [];
    for (const key of Object.keys(node)) {
      if (!test(key)) continue;
      const words = this.#dialect.words(key, node[key]!);
      if (words !== undefined) facts.push(words);
      this.#notes.add(`${key}.dropped`, pointTo(pointer, key), node[key], words ?? null, ANNOTATIONS.has(key) && key !== "format" ? "annotated" : "widened");
    }
    return facts;
  }
}

function pickWords(node: Node): Node {
  const out: Node = {};
  for (const key of WORDS) if (key in node) out[key] = node[key]!;
  return out;
}

/** The same node with null allowed. */
function nullable(node: Node): Node {
  const branches = node["anyOf"];
  if (Array.isArray(branches)) return branches.some((branch) => acceptsNull(branch as Node)) ? node : { ...node, anyOf: [...branches, { type: "null" }] };
  if (node["$ref"] !== undefined) return { anyOf: [node, { type: "null" }] };
  if (node["type"] === undefined) return node;
  return { ...node, type: withNull(node["type"]), ...(Array.isArray(node["enum"]) ? { enum: enumWithNull(node["enum"]) } : {}) };
}

function acceptsNull(node: Node): boolean {
  return typesOf(node).includes("null") || branchesOf(node, "anyOf").some((branch) => acceptsNull(branch as Node));
}
