import { isObject, own, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { nameHash } from "../tools/names.ts";
import { sortedByRank } from "./keyword-order.ts";
import { hasRightForm, isDroppedKeyword, isNameList, isPlainKey, repairedType } from "./schema-keywords.ts";
import { childPointer, Notes, pointTo, subschemaForm, type Node } from "./schema-node.ts";
import { nothingFits, repairBounds, repairNullable, repairTuple, repairTypes, repairValues, type Spot } from "./schema-repair-node.ts";
import { declaresRequired, definitionGraph, dropEndlessRefs, pruneRequired } from "./schema-definitions.ts";
import { createRefTable, type RefTable } from "./schema-refs.ts";
import type { Relaxation } from "./types.ts";

/** A schema in clean 2020-12, or why a tool cannot be used. */
export type RepairedSchema =
  | {
      readonly kind: "schema";
      /** Root of `type: "object"`; every `$ref` is `#/$defs/NAME` and leads somewhere. Validators are built from this. */
      readonly schema: Node;
      /** Names of definitions that reach themselves, with the group of names that reach one another. */
      readonly cycles: ReadonlyMap<string, ReadonlySet<string>>;
      readonly relaxations: readonly Relaxation[];
      /** Every property name is an identifier of at most 64 characters, which every provider takes. */
      readonly plainKeys: boolean;
    }
  | { readonly kind: "excluded"; readonly code: "schema.not_object" | "schema.unknown_dialect" | "schema.too_large" | "ref.external"; readonly reason: string };

export interface RepairOptions {
  /** A reference that leaves the document: leave the tool out, or take anything in its place. Nothing is ever fetched. */
  readonly externalRefs?: "exclude" | "any";
}

const NO_CYCLES: ReadonlyMap<string, ReadonlySet<string>> = new Map();
const MAX_NODES = 20_000;
const MAX_DEPTH = 100;
const MAX_DEFINITIONS = 2_000;
const KNOWN_DIALECT =
  /^https?:\/\/(?:json-schema\.org\/(?:draft-0[3-7]\/(?:hyper-)?schema|draft\/20(?:19-09|20-12)\/schema|schema)|spec\.openapis\.org\/oas\/3\.1\/dialect\/[\w-]+)#?$/;
const ROOT_WORDS: ReadonlySet<string> = new Set(["title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "nullable"]);

/**
 * Turns whatever a server gave as inputSchema into clean 2020-12: older dialects by their shape, OpenAPI's `nullable`,
 * boolean schemas, malformed keywords, missing types, references of every local form. Bounded in depth and size; never throws.
 */
export function repairSchema(raw: unknown, options: RepairOptions = {}): RepairedSchema {
  if (raw === undefined || raw === null || raw === true)
    return { kind: "schema", schema: { type: "object" }, cycles: NO_CYCLES, relaxations: [], plainKeys: true };
  if (!isObject(raw)) return excluded("schema.not_object", raw === false ? "inputSchema is false: no arguments are possible" : "inputSchema is not an object");
  const dialect = raw["$schema"];
  if (typeof dialect === "string" && !KNOWN_DIALECT.test(dialect)) return excluded("schema.unknown_dialect", `the dialect ${dialect} is not known`);
  if (!rootIsObject(raw)) return excluded("schema.not_object", `the root of inputSchema has type ${JSON.stringify(raw["type"])}, not "object"`);
  const repair = new Repair(raw as JsonObject);
  const root = repair.root();
  if (repair.tooLarge)
    return excluded("schema.too_large", `the schema has over ${MAX_NODES} subschemas, ${MAX_DEFINITIONS} definitions or ${MAX_DEPTH} levels`);
  if (repair.external.size > 0 && options.externalRefs !== "any")
    return excluded("ref.external", `the schema refers outside itself: ${[...repair.external].join(", ")}`);
  const recursive = repair.hasNestedRefs ? definitionGraph(repair.definitions).cycles : NO_CYCLES;
  const definitions = dropEndlessRefs(repair.definitions, recursive, repair.notes);
  const cycles = definitions === repair.definitions ? recursive : definitionGraph(definitions).cycles;
  if (repair.hasUndeclared) pruneRequired(root, definitions, repair.notes);
  if (definitions.size > 0) {
    const defs: JsonObject = {};
    for (const [name, node] of definitions) setOwn(defs, name, node);
    root["$defs"] = defs;
  }
  return { kind: "schema", schema: root, cycles, relaxations: repair.notes.list, plainKeys: repair.plainKeys };
}

function excluded(code: Extract<RepairedSchema, { kind: "excluded" }>["code"], reason: string): RepairedSchema {
  return { kind: "excluded", code, reason };
}

function rootIsObject(raw: Record<string, unknown>): boolean {
  const type = raw["type"];
  if (type === undefined || type === null || type === "object") return true;
  return Array.isArray(type) && type.includes("object");
}

const CONDITIONS: ReadonlySet<string> = new Set([
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "dependentSchemas",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

class Repair {
  readonly notes = new Notes();
  readonly definitions = new Map<string, Json>();
  readonly external = new Set<string>();
  tooLarge = false;
  /** Whether some node requires a property that it does not declare itself. */
  hasUndeclared = false;
  /** Whether some definition refers to a definition; without that none can reach itself. */
  hasNestedRefs = false;
  plainKeys = true;
  readonly #raw: JsonObject;
  readonly #refs: RefTable;
  readonly #names = new Map<string, string>();
  #nodes = 0;
  /** How many definitions are being read, one inside the other. */
  #definitionDepth = 0;

  constructor(raw: JsonObject) {
    this.#raw = raw;
    this.#refs = createRefTable(raw);
  }

  root(): Node {
    const raw = this.#raw;
    const spot = { pointer: "", depth: 0, condition: false };
    if (raw["type"] === "object") return this.node(raw, spot) as Node;
    const bare = Object.keys(raw).every((key) => ROOT_WORDS.has(key) || isDroppedKeyword(key, raw[key]!) || key === "type");
    const node = this.node({ ...raw, type: "object" }, spot) as Node;
    this.notes.add(bare ? "root.no_arguments" : "type.added", "", raw["type"], "object", raw["type"] === undefined ? "annotated" : "narrowed");
    return node;
  }

  node(raw: Json | undefined, spot: Spot): Json {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES || spot.depth > MAX_DEPTH) {
      this.tooLarge = true;
      return {};
    }
    if (raw === true || raw === false) return raw ? {} : false;
    if (!isObject(raw)) {
      this.notes.add("node.not_a_schema", spot.pointer, raw, {}, "widened");
      return {};
    }
    const node = this.#keywords(raw as JsonObject, spot);
    repairBounds(raw as JsonObject, node, spot, this.notes);
    repairTuple(node, spot, this.notes);
    repairValues(node, spot, this.notes);
    repairTypes(node, spot, this.notes);
    if (nothingFits(node, spot, this.notes)) return false;
    if (node["required"] !== undefined && !declaresRequired(node)) this.hasUndeclared = true;
    return repairNullable(raw as JsonObject, node, spot, this.notes);
  }

  #keywords(raw: JsonObject, spot: Spot): Node {
    const out: Node = {};
    // In the fixed order, so that words made of several keywords are the same however a server sorts them.
    for (const keyword of sortedByRank(Object.keys(raw))) {
      const value = raw[keyword]!;
      if (isDroppedKeyword(keyword, value)) continue;
      switch (keyword) {
        case "$defs":
        case "definitions":
        case "nullable":
        case "exclusiveMinimum":
        case "exclusiveMaximum":
          break;
        case "$ref":
        case "$dynamicRef":
        case "$recursiveRef":
          this.#reference(value, out, spot);
          break;
        case "type": {
          const type = repairedType(value);
          if (type === undefined) this.notes.add("type.unknown", spot.pointer, value, null, "widened");
          else out["type"] = type;
          break;
        }
        case "properties":
        case "patternProperties":
        case "dependentSchemas":
          this.#map(keyword, value, out, spot);
          break;
        case "required":
          if (isNameList(value)) out["required"] = value.length < 2 ? [...value] : [...new Set(value)];
          else this.notes.add("keyword.malformed", pointTo(spot.pointer, keyword), value, null, "widened");
          break;
        case "items":
          if (!Array.isArray(value)) out["items"] = this.#child(value, "items", spot);
          else if (out["prefixItems"] === undefined) this.#list("prefixItems", value, out, spot, "items");
          else this.notes.add("keyword.malformed", pointTo(spot.pointer, keyword), value, null, "widened");
          break;
        case "additionalItems":
          if (Array.isArray(raw["items"])) out["items"] = this.#child(value, keyword, spot);
          break;
        case "dependencies":
          this.#dependencies(value, out, spot);
          break;
        default:
          this.#other(keyword, value, out, spot);
      }
    }
    return out;
  }

  #other(keyword: string, value: Json, out: Node, spot: Spot): void {
    const form = subschemaForm(keyword);
    if (form === "one") {
      if (value !== null) out[keyword] = this.#child(value, keyword, spot);
    } else if (form === "list") {
      this.#list(keyword, value, out, spot, keyword);
    } else if (hasRightForm(keyword, value)) {
      setOwn(out, keyword, value);
    } else {
      this.notes.add("keyword.malformed", pointTo(spot.pointer, keyword), value, null, "widened");
    }
  }

  #child(value: Json, keyword: string, spot: Spot): Json {
    // `additionalProperties: true` is said outright by many and read by all: it keeps its form.
    if (value === true && keyword === "additionalProperties") return true;
    return this.node(value, { pointer: `${spot.pointer}/${keyword}`, depth: spot.depth + 1, condition: spot.condition || CONDITIONS.has(keyword) });
  }

  #list(keyword: string, value: Json, out: Node, spot: Spot, written: string): void {
    if (!Array.isArray(value) || value.length === 0) {
      if (!Array.isArray(value)) this.notes.add("keyword.malformed", pointTo(spot.pointer, keyword), value, null, "widened");
      return;
    }
    out[keyword] = value.map((item, i) => this.node(item, { pointer: pointTo(spot.pointer, written, i), depth: spot.depth + 1, condition: spot.condition }));
  }

  #map(keyword: string, value: Json, out: Node, spot: Spot): void {
    if (!isObject(value)) {
      if (value !== null) this.notes.add("keyword.malformed", pointTo(spot.pointer, keyword), value, null, "widened");
      return;
    }
    const map: JsonObject = {};
    const pointer = `${spot.pointer}/${keyword}`;
    const condition = spot.condition || CONDITIONS.has(keyword);
    for (const key of Object.keys(value)) {
      if (this.plainKeys && keyword === "properties" && !isPlainKey(key)) this.plainKeys = false;
      setOwn(map, key, this.node(value[key] as Json, { pointer: childPointer(pointer, key), depth: spot.depth + 1, condition }));
    }
    out[keyword] = map;
  }

  #dependencies(value: Json, out: Node, spot: Spot): void {
    if (!isObject(value)) return;
    const names: JsonObject = {};
    const schemas: JsonObject = {};
    for (const key of Object.keys(value)) {
      const item = value[key] as Json;
      if (isNameList(item)) setOwn(names, key, item);
      else if (typeof item === "string") setOwn(names, key, [item]);
      else setOwn(schemas, key, this.node(item, { pointer: pointTo(spot.pointer, "dependencies", key), depth: spot.depth + 1, condition: true }));
    }
    if (Object.keys(names).length > 0) out["dependentRequired"] = names;
    if (Object.keys(schemas).length > 0) out["dependentSchemas"] = schemas;
  }

  #reference(value: Json, out: Node, spot: Spot): void {
    if (typeof value !== "string") {
      this.notes.add("keyword.malformed", pointTo(spot.pointer, "$ref"), value, null, "widened");
      return;
    }
    const target = this.#refs.resolve(value, spot.pointer);
    if (target.kind === "external") this.external.add(value);
    if (target.kind !== "local") {
      this.notes.add(target.kind === "external" ? "ref.external" : "ref.unresolved", spot.pointer, value, {}, "widened");
      return;
    }
    if (target.node === true) return;
    if (this.#definitionDepth > 0) this.hasNestedRefs = true;
    let name = this.#names.get(target.pointer);
    if (name === undefined) {
      name = this.#nameFor(target.pointer);
      this.#names.set(target.pointer, name);
      if (this.#names.size > MAX_DEFINITIONS) {
        this.tooLarge = true;
        return;
      }
      // The name stands before the walk, so that a definition may refer to itself.
      this.definitions.set(name, {});
      const raw = target.pointer === "" ? { ...(target.node as JsonObject), type: "object" } : (target.node as Json);
      // A definition is read the same wherever it is first met, so that the order of keywords decides nothing.
      this.#definitionDepth += 1;
      this.definitions.set(name, this.node(raw, { pointer: target.pointer, depth: spot.depth + 1, condition: false }));
      this.#definitionDepth -= 1;
    }
    if (this.definitions.get(name) === false) out["not"] = {};
    else out["$ref"] = `#/$defs/${name}`;
  }

  /** The definition's own name where that is free and legal, else with a hash of its place: never depends on what was met before. */
  #nameFor(pointer: string): string {
    const keys = pointer
      .split("/")
      .slice(1)
      .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = keys.at(-1) ?? "Root";
    const base = last.replace(/[^A-Za-z0-9_.-]+/g, "_");
    const declared = (place: string): boolean => Object.hasOwn((own(this.#raw, place) ?? {}) as object, base);
    const isOwn = base === last && (keys[0] === "$defs" ? keys.length === 2 : keys[0] === "definitions" && keys.length === 2 && !declared("$defs"));
    const isRoot = keys.length === 0 && !declared("$defs") && !declared("definitions");
    return isOwn || isRoot ? base : `${base}_${nameHash(pointer)}`;
  }
}
