import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { inclusiveBounds } from "./gemini-bounds.ts";
import { geminiEnum } from "./gemini-enum.ts";
import { orderOwnKeywords } from "./keyword-order.ts";
import type { PreparedSchema } from "./prepare.ts";
import { withKeyStyle } from "./property-keys.ts";
import { refName, refsIn } from "./schema-definitions.ts";
import { withDefinitions } from "./schema-inline.ts";
import { intersect, isBare, mergeAllOf } from "./schema-merge.ts";
import type { Notes } from "./schema-node.ts";
import { allowsType, branchesOf, childPointer, omit, pointTo, propertiesOf, requiredOf, saysType, typesOf, type Node } from "./schema-node.ts";
import { isFreeForm, requiredChoice, withoutFalse } from "./schema-shape.ts";
import { constraintInWords, describeConstraint, valueInWords, withFacts } from "./words.ts";

const FORMATS: ReadonlySet<string> = new Set(["date-time", "date", "time"]);
const CONDITIONS: ReadonlySet<string> = new Set(["not", "if", "then", "else", "dependentRequired", "dependentSchemas"]);
/** What Gemini's JSON Schema form lists and a node may keep as it is. */
const KEPT: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "enum",
  "items",
  "prefixItems",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "anyOf",
  "properties",
  "additionalProperties",
  "required",
]);

/** A Gemini schema in parts, for the targets that are made from it. */
export interface GeminiSchema {
  readonly root: Node;
  readonly definitions: ReadonlyMap<string, Json>;
}

/** The schema for Gemini's `parametersJsonSchema`: only the keywords it lists, the rest in words. */
export function geminiSchema(prepared: PreparedSchema, notes: Notes): Node {
  const { root, definitions } = geminiParts(prepared, notes);
  return orderOwnKeywords(withDefinitions(root, definitions)) as Node;
}

/** As {@link geminiSchema}, with root and definitions apart. */
export function geminiParts(prepared: PreparedSchema, notes: Notes): GeminiSchema {
  const styled = withKeyStyle(prepared, "identifier", notes);
  const compiler = new GeminiCompiler(styled, notes);
  const root = compiler.node(styled.root, "", undefined) as Node;
  const definitions = new Map(
    [...styled.definitions].map(([name, node]): [string, Json] => [name, compiler.node(node, `/$defs/${name}`, styled.cycles.get(name))]),
  );
  return { root, definitions };
}

/** Most recursive definitions that are merged into an allOf of one schema; beyond it a reference stays. */
const FOLLOW_BUDGET = 500;

class GeminiCompiler {
  readonly #prepared: PreparedSchema;
  readonly #notes: Notes;
  /** The recursive definitions whose content, merged into an allOf, we are inside. */
  readonly #inside: string[] = [];
  #followed = 0;

  constructor(prepared: PreparedSchema, notes: Notes) {
    this.#prepared = prepared;
    this.#notes = notes;
  }

  /** `cycle`: the definitions that the one we are in is recursive with. */
  node(schema: Json, pointer: string, cycle: ReadonlySet<string> | undefined): Json {
    if (!isObject(schema)) return schema === false ? false : {};
    let node = withoutFalse(schema as Node, pointer, this.#notes);
    if (refName(node) !== undefined) {
      if (Object.keys(node).length > 1)
        this.#notes.add(
          "ref.siblings_dropped",
          pointer,
          Object.keys(node).filter((key) => key !== "$ref"),
          null,
          "widened",
        );
      return { $ref: node["$ref"]! };
    }
    const endless = this.#endlessRef(node);
    if (endless !== undefined) {
      this.#notes.add("ref.siblings_dropped", pointer, Object.keys(node), null, "widened");
      return { $ref: `#/$defs/${endless}` };
    }
    const facts: string[] = [];
    const outside = this.#inside.length;
    node = this.#merged(node, pointer);
    node = this.#unions(node, pointer, facts);
    const out = this.#plain(node, pointer, facts, cycle);
    this.#inside.length = outside;
    return withFacts(this.#typed(out, pointer), facts);
  }

  /** A definition that an allOf refers to and whose content we are inside already: merging it would not end. */
  #endlessRef(node: Node): string | undefined {
    for (const branch of branchesOf(node, "allOf")) {
      const name = refName(branch);
      if (name === undefined) {
        const inner = isObject(branch) ? this.#endlessRef(branch as Node) : undefined;
        if (inner !== undefined) return inner;
      } else if (this.#prepared.cycles.has(name) && (this.#inside.includes(name) || this.#followed >= FOLLOW_BUDGET)) return name;
    }
    return undefined;
  }

  #merged(node: Node, pointer: string): Node {
    if (!Array.isArray(node["allOf"])) return node;
    const merged = mergeAllOf(node, (branch) => this.#follow(branch));
    this.#notes.add(
      "allOf.merged",
      pointTo(pointer, "allOf"),
      merged.lost.length > 0 ? [...new Set(merged.lost)] : null,
      null,
      merged.lost.length > 0 ? "widened" : "annotated",
    );
    return withoutFalse(merged.node, pointer, this.#notes);
  }

  #follow(branch: Json): Json {
    const name = refName(branch);
    if (name === undefined || !isObject(branch)) return branch;
    if (this.#prepared.cycles.has(name)) {
      this.#inside.push(name);
      this.#followed += 1;
    }
    const target = this.#prepared.definitions.get(name) ?? {};
    return isObject(target) ? omit(intersect(target as Node, omit(branch as Node, "$ref")).node, "$ref") : target;
  }

  /** Leaves at most `anyOf`, and not where it only lists required properties. */
  #unions(node: Node, pointer: string, facts: string[]): Node {
    if (!("anyOf" in node || "oneOf" in node)) return node;
    let out = node;
    for (const keyword of ["anyOf", "oneOf"] as const) {
      const sentence = requiredChoice(out, keyword);
      if (sentence === undefined) continue;
      if (sentence !== "") facts.push(sentence);
      this.#notes.add(`${keyword}.required_dropped`, pointTo(pointer, keyword), out[keyword], null, "widened");
      out = omit(out, keyword);
    }
    const oneOf = out["oneOf"];
    if (oneOf === undefined) return out;
    out = omit(out, "oneOf");
    this.#notes.add("anyOf" in out ? "oneOf.dropped" : "oneOf.as_anyOf", pointTo(pointer, "oneOf"), null, null, "widened");
    return "anyOf" in out ? out : { ...out, anyOf: oneOf };
  }

  #plain(node: Node, pointer: string, facts: string[], cycle: ReadonlySet<string> | undefined): Node {
    const out: Node = {};
    let conditional = false;
    for (const keyword of Object.keys(node)) {
      const value = node[keyword]!;
      switch (keyword) {
        case "const":
          out["enum"] = [value];
          break;
        case "items":
          if (value !== false) out["items"] = this.node(value, `${pointer}/items`, cycle);
          break;
        case "prefixItems":
        case "anyOf":
          out[keyword] = (value as Json[]).map((child, i) => this.node(child, `${pointer}/${keyword}/${i}`, cycle));
          break;
        case "properties": {
          const map: JsonObject = {};
          const at = `${pointer}/properties`;
          for (const name of Object.keys(value as JsonObject)) setOwn(map, name, this.node((value as JsonObject)[name]!, childPointer(at, name), cycle));
          out["properties"] = map;
          break;
        }
        case "additionalProperties":
          // Beside patternProperties the two are one map, made there.
          if (node["patternProperties"] === undefined)
            out[keyword] = value === false ? false : isBare(value) ? true : this.node(value, `${pointer}/${keyword}`, cycle);
          break;
        case "patternProperties":
          this.#patterns(node, out, pointer, facts, cycle);
          break;
        case "format":
          if (FORMATS.has(String(value)) && allowsType(node, "string")) out["format"] = value;
          else this.#lose(keyword, value, pointer, facts, `format ${String(value)}`);
          break;
        case "default":
          this.#notes.add("default.in_words", pointTo(pointer, keyword), value, null, "annotated");
          if (value !== null) facts.push(`default ${valueInWords(value)}`);
          break;
        default:
          if (KEPT.has(keyword)) out[keyword] = value;
          else if (CONDITIONS.has(keyword)) conditional = true;
          else if (!keyword.startsWith("exclusive")) this.#lose(keyword, value, pointer, facts, constraintInWords(keyword, value));
      }
    }
    if (conditional) {
      facts.push(...describeConstraint(node));
      for (const keyword of CONDITIONS) if (keyword in node) this.#notes.add(`${keyword}.dropped`, pointTo(pointer, keyword), node[keyword], null, "widened");
    }
    inclusiveBounds(node, out, pointer, facts, this.#notes);
    if (node["items"] === false)
      out["maxItems"] = Math.min(branchesOf(node, "prefixItems").length, typeof node["maxItems"] === "number" ? node["maxItems"] : Number.POSITIVE_INFINITY);
    this.#members(node, out, pointer, cycle);
    return out;
  }

  #lose(keyword: string, value: Json, pointer: string, facts: string[], words: string | undefined): void {
    const silent = words === undefined && SILENT.has(keyword);
    if (words !== undefined) facts.push(words);
    this.#notes.add(`${keyword}.dropped`, pointTo(pointer, keyword), value, words ?? null, silent ? "annotated" : "widened");
  }

  #patterns(node: Node, out: Node, pointer: string, facts: string[], cycle: ReadonlySet<string> | undefined): void {
    const all = Object.entries(node["patternProperties"] as JsonObject);
    const patterns = all.filter(([, child]) => child !== false);
    const more = node["additionalProperties"];
    if (patterns.length > 0) facts.push(`keys match ${patterns.map(([pattern]) => pattern).join(" or ")}`);
    for (const [pattern, child] of all) if (child === false) facts.push(`no key matches ${pattern}`);
    const children = patterns.map(([pattern, child]) => this.node(child, pointTo(pointer, "patternProperties", pattern), cycle));
    if (more !== undefined && more !== false && !isBare(more)) children.push(this.node(more, `${pointer}/additionalProperties`, cycle));
    const closed = more === false;
    this.#notes.add("patternProperties.as_map", pointTo(pointer, "patternProperties"), node["patternProperties"], null, closed ? "widened" : "narrowed");
    if (children.length === 0) {
      out["additionalProperties"] = !closed;
      return;
    }
    out["additionalProperties"] = children.some(isBare) ? true : children.length === 1 ? children[0]! : { anyOf: children };
  }

  #members(node: Node, out: Node, pointer: string, cycle: ReadonlySet<string> | undefined): void {
    if (saysType(node, "array") && out["items"] === undefined && out["prefixItems"] === undefined) {
      out["items"] = {};
      if (node["items"] === false) out["maxItems"] = 0;
    }
    if (saysType(node, "object") && pointer !== "" && isFreeForm(node)) {
      out["additionalProperties"] = true;
      delete out["properties"];
    }
    const required = requiredOf(node);
    if (required.length === 0) return;
    const properties = propertiesOf(node) ?? {};
    const kept = required.filter((name) => {
      if (!Object.hasOwn(properties, name)) return false;
      const cyclic = cycle !== undefined && [...refsIn(properties[name]!)].some((ref) => cycle.has(ref));
      if (cyclic) this.#notes.add("gemini.cyclic_required_relaxed", pointTo(pointer, "required", name), name, null, "widened");
      return !cyclic;
    });
    if (kept.length > 0) out["required"] = kept;
    else delete out["required"];
  }

  /** Enums without null, booleans and empty strings; type lists without objects and arrays: where they are, anyOf says it. */
  #typed(node: Node, pointer: string): Node {
    if (Array.isArray(node["enum"])) return geminiEnum(node, pointer, this.#notes);
    if (typeof node["type"] === "string") return node;
    const types = typesOf(node);
    if (types.length < 2 || !types.some((type) => type === "object" || type === "array")) return node;
    const { title, description, anyOf, ...rest } = node;
    const branches = types.map((type) => {
      const branch: Node = { type };
      for (const [key, value] of Object.entries(rest)) if (KEYS_OF_TYPE.get(type)?.has(key)) setOwn(branch, key, value);
      return branch;
    });
    if (anyOf !== undefined) this.#notes.add("anyOf.dropped", pointTo(pointer, "anyOf"), anyOf, null, "widened");
    return { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }), anyOf: branches };
  }
}

/** Lost keywords that need no words. */
const SILENT: ReadonlySet<string> = new Set(["examples", "example", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType"]);

const KEYS_OF_TYPE: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["object", new Set(["properties", "additionalProperties", "required"])],
  ["array", new Set(["items", "prefixItems", "minItems", "maxItems"])],
  ["string", new Set(["format"])],
  ["number", new Set(["minimum", "maximum"])],
  ["integer", new Set(["minimum", "maximum"])],
]);
