import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { orderOwnKeywords } from "./keyword-order.ts";
import type { PreparedSchema } from "./prepare.ts";
import { refName } from "./schema-definitions.ts";
import { sharedType } from "./schema-keywords.ts";
import { intersect, isBare, sameShape } from "./schema-merge.ts";
import type { Notes } from "./schema-node.ts";
import { branchesOf, childPointer, omit, pointTo, propertiesOf, requiredOf, typesOf, type Node } from "./schema-node.ts";
import { tupleAsList } from "./schema-shape.ts";
import { geminiParts, type GeminiSchema } from "./target-gemini.ts";
import { valueInWords, withFacts } from "./words.ts";

/** Most subschemas that references, or what branches of a union share, are expanded to; beyond it they end in a free form or without the union. */
const EXPANSION_BUDGET = 2_000;

/**
 * The portable profile for LiteLLM: OpenAI's shape with references inlined, one type a node and `anyOf` for the rest, enums of
 * strings only, inclusive bounds, everything else in words, so that no back end's rewriting has anything to lose.
 */
export function portableSchema(prepared: PreparedSchema, notes: Notes): Node {
  const walker = new SingleTypes(geminiParts(prepared, notes), notes, PORTABLE);
  const root = walker.node(walker.source.root, "", []);
  return orderOwnKeywords({ ...root, properties: root["properties"] ?? {} }) as Node;
}

/** The schema for Gemini's older OpenAPI form, or undefined when the tool takes no arguments: that form has no empty object. */
export function geminiLegacySchema(prepared: PreparedSchema, notes: Notes): Node | undefined {
  const walker = new SingleTypes(geminiParts(prepared, notes), notes, LEGACY);
  const { root } = walker.source;
  if (Object.keys(propertiesOf(root) ?? {}).length === 0) return undefined;
  return orderOwnKeywords(walker.node(root, "", [])) as Node;
}

/** What differs between the two profiles. */
interface Profile {
  readonly formats: ReadonlySet<string>;
  /** An object whose members are not declared. */
  freeObject(node: Node): Node;
  /** Any value. */
  anything(): Node;
  /** Adds null to a node. */
  withNull(node: Node): Node;
  readonly keepsMaps: boolean;
}

const AS_TEXT = "written as JSON text";

const LEGACY: Profile = {
  formats: new Set(["date-time"]),
  freeObject: (node) => withFacts({ ...words(node), type: "string" }, [`a JSON object, ${AS_TEXT}`]),
  anything: () => ({ type: "string", description: `Any JSON value, ${AS_TEXT}` }),
  withNull: (node) => ({ ...node, nullable: true }),
  keepsMaps: false,
};

const PORTABLE: Profile = {
  formats: new Set(["date-time", "date", "time"]),
  freeObject: (node) => ({ ...words(node), type: "object", properties: {}, additionalProperties: true }),
  anything: () => ({
    anyOf: [
      { type: "string" },
      { type: "number" },
      { type: "boolean" },
      { type: "object", properties: {}, additionalProperties: true },
      { type: "array", items: { type: "string" } },
    ],
  }),
  withNull: (node) => {
    const bare = omit(node, "title", "description");
    const branches = Array.isArray(bare["anyOf"]) && Object.keys(bare).length === 1 ? bare["anyOf"] : [bare];
    return { ...words(node), anyOf: [...branches, { type: "null" }] };
  },
  keepsMaps: true,
};

function words(node: Node): Node {
  const out: Node = {};
  if (node["title"] !== undefined) out["title"] = node["title"];
  if (node["description"] !== undefined) out["description"] = node["description"];
  return out;
}

/** A node of one type, with the words of another. */
function typed(type: string, from: Node): Node {
  const out: Node = { type };
  if (from["title"] !== undefined) out["title"] = from["title"];
  if (from["description"] !== undefined) out["description"] = from["description"];
  return out;
}

/** A branch of a union with what stands beside the union in it; undefined when one node cannot say both. */
function withCommon(common: Node, branch: Json): Json | undefined {
  if (Object.keys(common).length === 0) return branch;
  if (!isObject(branch) || refName(branch) !== undefined) return undefined;
  const { node, lost } = intersect(common, branch as Node);
  return lost.length === 0 ? node : undefined;
}

class SingleTypes {
  readonly source: GeminiSchema;
  readonly #notes: Notes;
  readonly #profile: Profile;
  #expanded = 0;

  constructor(source: GeminiSchema, notes: Notes, profile: Profile) {
    this.source = source;
    this.#notes = notes;
    this.#profile = profile;
  }

  /** `inside`: the definitions that are being expanded. */
  node(schema: Json, pointer: string, inside: readonly string[]): Node {
    if (!isObject(schema)) return this.#anything(schema, pointer);
    const node = schema as Node;
    const name = refName(node);
    if (name !== undefined) return this.#reference(name, pointer, inside);
    if (branchesOf(node, "anyOf").length > 0) return this.#union(node, pointer, inside);
    if (Array.isArray(node["enum"]) && typesOf(node).length !== 1) return this.#mixedEnum(node, pointer);
    if (typeof node["type"] === "string" && node["type"] !== "null") return this.#single(node, pointer, inside);
    const types = typesOf(node).filter((type) => type !== "null");
    const nullable = types.length < typesOf(node).length;
    if (typesOf(node).length === 0) return this.#anything(node, pointer);
    if (types.length === 0) return this.#onlyNull(node);
    const single =
      types.length === 1
        ? this.#single({ ...node, type: types[0]! }, pointer, inside)
        : { ...words(node), anyOf: types.map((type) => this.#single(omit({ ...node, type }, "title", "description"), pointer, inside)) };
    return nullable ? this.#profile.withNull(single) : single;
  }

  #anything(node: Json, pointer: string): Node {
    this.#notes.add("any.spelled_out", pointer, {}, null, "narrowed");
    const any = this.#profile.anything();
    if (!isObject(node)) return any;
    return typeof node["description"] === "string" && typeof any["description"] === "string"
      ? { ...any, ...words(node as Node), description: `${node["description"]} (${any["description"]})` }
      : { ...any, ...words(node as Node) };
  }

  #onlyNull(node: Node): Node {
    return this.#profile.keepsMaps ? { ...words(node), type: "null" } : { ...words(node), type: "string", nullable: true };
  }

  #reference(name: string, pointer: string, inside: readonly string[]): Node {
    const target = this.source.definitions.get(name);
    this.#expanded += 1;
    if (!isObject(target)) return this.#anything({}, pointer);
    if (!inside.includes(name) && inside.length < 12 && this.#expanded < EXPANSION_BUDGET) return this.node(target as Json, pointer, [...inside, name]);
    this.#notes.add("ref.cut", pointer, `#/$defs/${name}`, null, "narrowed");
    const types = typesOf(target as Node);
    if (types.length === 1 && types[0] === "object") return this.#profile.freeObject(words(target as Node));
    return types.length === 1 && types[0] !== "array"
      ? this.node(omit(target as Node, "items", "prefixItems", "properties", "anyOf"), pointer, inside)
      : this.#anything(words(target as Node), pointer);
  }

  #union(node: Node, pointer: string, inside: readonly string[]): Node {
    const common = omit(node, "anyOf", "title", "description");
    const repeated = Object.keys(propertiesOf(common) ?? {}).length * branchesOf(node, "anyOf").length;
    const whole = repeated > EXPANSION_BUDGET ? [undefined] : branchesOf(node, "anyOf").map((branch) => withCommon(common, branch));
    if (whole.includes(undefined)) {
      this.#notes.add("anyOf.dropped", pointTo(pointer, "anyOf"), node["anyOf"], null, "widened");
      return this.node(omit(node, "anyOf"), pointer, inside);
    }
    const branches: Node[] = [];
    let nullable = false;
    const add = (branch: Json, at: string): void => {
      if (isObject(branch) && branch["type"] === "null") {
        nullable = true;
        return;
      }
      const plain = this.node(branch, at, inside);
      const inner = branchesOf(plain, "anyOf").length > 0 ? (branchesOf(plain, "anyOf") as Node[]) : [plain];
      if (plain["nullable"] === true) nullable = true;
      for (const item of inner) {
        if (item["type"] === "null") nullable = true;
        else if (!branches.some((other) => sameShape(other, omit(item, "nullable")))) branches.push(omit(item, "nullable"));
      }
    };
    whole.forEach((branch, i) => add(branch!, pointTo(pointer, "anyOf", i)));
    if (branches.length === 0) return this.#onlyNull(node);
    const out: Node = branches.length === 1 ? { ...branches[0]!, ...words(node) } : { ...words(node), anyOf: branches };
    return nullable ? this.#profile.withNull(out) : out;
  }

  #mixedEnum(node: Node, pointer: string): Node {
    const values = node["enum"] as Json[];
    const texts = values.filter((value) => typeof value === "string");
    const numbers = values.filter((value) => typeof value === "number");
    const branches: Node[] = [...(texts.length > 0 ? [{ type: "string", enum: texts }] : []), ...(numbers.length > 0 ? [{ type: sharedType(numbers)! }] : [])];
    if (numbers.length > 0) this.#notes.add("enum.dropped", pointTo(pointer, "enum"), numbers, null, "widened");
    const facts = numbers.length > 0 ? [`one of ${values.map(valueInWords).join(", ")}`] : [];
    return withFacts(branches.length === 1 ? { ...words(node), ...branches[0]! } : { ...words(node), anyOf: branches }, facts);
  }

  #single(node: Node, pointer: string, inside: readonly string[]): Node {
    const type = node["type"] as string;
    if (type === "object") return this.#object(node, pointer, inside);
    if (type === "array") return this.#array(node, pointer, inside);
    const out = typed(type, node);
    if (type === "string") {
      if (Array.isArray(node["enum"])) out["enum"] = node["enum"];
      if (this.#profile.formats.has(String(node["format"]))) out["format"] = node["format"]!;
      else if (node["format"] !== undefined) this.#notes.add("format.dropped", pointTo(pointer, "format"), node["format"], null, "widened");
      return out;
    }
    if (type === "number" || type === "integer") for (const key of ["minimum", "maximum"]) if (key in node) out[key] = node[key]!;
    if (!Array.isArray(node["enum"])) return out;
    this.#notes.add("enum.dropped", pointTo(pointer, "enum"), node["enum"], null, "widened");
    return withFacts(out, [`one of ${node["enum"].map(valueInWords).join(", ")}`]);
  }

  #array(node: Node, pointer: string, inside: readonly string[]): Node {
    const list = Array.isArray(node["prefixItems"]) ? tupleAsList(node, pointer, this.#notes) : node;
    const out = typed("array", list);
    out["items"] = this.node(list["items"] ?? {}, `${pointer}/items`, inside);
    for (const key of ["minItems", "maxItems"]) if (key in list) out[key] = list[key]!;
    return out;
  }

  #object(node: Node, pointer: string, inside: readonly string[]): Node {
    const properties = propertiesOf(node) ?? {};
    const names = Object.keys(properties);
    const more = node["additionalProperties"];
    if (names.length === 0 && pointer !== "") {
      if (this.#profile.keepsMaps && isObject(more) && !isBare(more as Json))
        return {
          ...words(node),
          type: "object",
          properties: {},
          additionalProperties: this.node(more as Json, pointTo(pointer, "additionalProperties"), inside),
        };
      if (this.#profile.keepsMaps && more === false) {
        this.#notes.add("additionalProperties.dropped", pointTo(pointer, "additionalProperties"), false, null, "widened");
        return { ...words(node), type: "object", properties: {} };
      }
      if (!this.#profile.keepsMaps) this.#notes.add("object.as_text", pointer, null, null, "narrowed");
      return this.#profile.freeObject(node);
    }
    const out = typed("object", node);
    const map: JsonObject = {};
    const at = `${pointer}/properties`;
    for (const name of names) setOwn(map, name, this.node(properties[name]!, childPointer(at, name), inside));
    out["properties"] = map;
    const required = requiredOf(node).filter((name) => Object.hasOwn(map, name));
    if (required.length > 0) out["required"] = required;
    if (more !== undefined && more !== false && this.#profile.keepsMaps && isObject(more))
      out["additionalProperties"] = this.node(more as Json, pointTo(pointer, "additionalProperties"), inside);
    else if (more !== undefined) this.#notes.add("additionalProperties.dropped", pointTo(pointer, "additionalProperties"), more, null, "widened");
    return out;
  }
}
