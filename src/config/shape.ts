import { createRequire } from "node:module";
import { isObject, own } from "../base/json.ts";

export type ShapeType = "object" | "array" | "string" | "number" | "integer" | "boolean";
export type Unit = "duration" | "size" | "rate";

/** A JSON Schema in the form that checking, defaults and key completion need: references followed, patterns compiled. */
export interface Shape {
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** Allowed kinds of value; empty means any. */
  readonly types: readonly ShapeType[];
  readonly unit: Unit | undefined;
  /** `x-text`: a number or boolean keeps the text that was written. */
  readonly text: boolean;
  /** `x-legacy`: accepted and unused. */
  readonly legacy: boolean;
  readonly reload: string | undefined;
  readonly fallback: unknown;
  readonly choices: readonly (string | number | boolean)[] | undefined;
  readonly pattern: RegExp | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly minItems: number | undefined;
  readonly minProperties: number | undefined;
  readonly properties: ReadonlyMap<string, Shape>;
  readonly required: readonly string[];
  /** Shape of keys that are not in `properties`; null when there may be none. */
  readonly additional: Shape | null;
  readonly keyPattern: RegExp | undefined;
  readonly items: Shape | undefined;
  /** Alternatives; the one to report against is chosen by the kind of the value, then by `branch`. */
  readonly anyOf: readonly Shape[];
  readonly branch: string | undefined;
}

/** Every keyword the schemas use. Another one stops the start: it would be checked by editors and not by us. */
const KEYWORDS: ReadonlySet<string> = new Set(
  "$schema $id $ref $defs title description type const enum pattern minimum maximum minLength maxLength minItems minProperties properties required additionalProperties propertyNames items anyOf default x-reload x-branch x-unit x-text x-legacy".split(
    " ",
  ),
);

const load = createRequire(import.meta.url);
const documents = new Map<string, Record<string, unknown>>();

function schemaDocument(id: string): Record<string, unknown> {
  let found = documents.get(id);
  if (!found) documents.set(id, (found = load(`../../schemas/${id}`) as Record<string, unknown>));
  return found;
}

const shapes = new Map<string, Shape>();

/** The shape of one of the kit's schemas, such as `app.schema.json` or `app.schema.json#/$defs/entry`. Made once. */
export function schemaShape(reference: string): Shape {
  let shape = shapes.get(reference);
  if (!shape) {
    const [id = "", pointer = ""] = reference.split("#");
    shapes.set(reference, (shape = compile(resolvePointer(id, pointer), id)));
  }
  return shape;
}

function resolvePointer(id: string, pointer: string): Record<string, unknown> {
  let node: unknown = schemaDocument(id);
  for (const step of pointer.split("/").slice(1)) node = own(node, step);
  if (!isObject(node)) throw new Error(`schemas: nothing at ${id}#${pointer}`);
  return node;
}

function compile(node: Record<string, unknown>, id: string): Shape {
  for (const key of Object.keys(node)) if (!KEYWORDS.has(key)) throw new Error(`schemas/${id}: the keyword "${key}" is not known to src/config/shape.ts`);
  const target = typeof node["$ref"] === "string" ? referenced(node["$ref"], id) : undefined;
  const text = (key: string): string | undefined => (typeof node[key] === "string" ? node[key] : undefined);
  const number = (key: string): number | undefined => (typeof node[key] === "number" ? node[key] : undefined);
  const list = (key: string): readonly unknown[] | undefined => (Array.isArray(node[key]) ? node[key] : undefined);
  const sub = (value: unknown): Shape => (isObject(value) ? compile(value, id) : ANYTHING);
  const additional = node["additionalProperties"];
  const properties = isObject(node["properties"]) ? new Map(Object.entries(node["properties"]).map(([key, value]) => [key, sub(value)])) : undefined;
  const choices = Object.hasOwn(node, "const") ? [node["const"]] : list("enum");
  return {
    title: text("title") ?? target?.title,
    description: text("description") ?? target?.description,
    types: (list("type") ?? (text("type") ? [text("type")] : (target?.types ?? []))) as readonly ShapeType[],
    unit: (text("x-unit") ?? target?.unit) as Unit | undefined,
    text: node["x-text"] === true || (target?.text ?? false),
    legacy: node["x-legacy"] === true || (target?.legacy ?? false),
    reload: text("x-reload") ?? target?.reload,
    fallback: node["default"] ?? target?.fallback,
    choices: (choices as Shape["choices"]) ?? target?.choices,
    pattern: text("pattern") ? new RegExp(text("pattern")!, "u") : target?.pattern,
    minimum: number("minimum") ?? target?.minimum,
    maximum: number("maximum") ?? target?.maximum,
    minLength: number("minLength") ?? target?.minLength,
    maxLength: number("maxLength") ?? target?.maxLength,
    minItems: number("minItems") ?? target?.minItems,
    minProperties: number("minProperties") ?? target?.minProperties,
    properties: properties ?? target?.properties ?? new Map<string, Shape>(),
    required: (list("required") as readonly string[] | undefined) ?? target?.required ?? [],
    additional: additional === undefined ? (target ? target.additional : ANYTHING) : additional === false ? null : sub(additional),
    keyPattern: isObject(node["propertyNames"]) ? new RegExp(String(node["propertyNames"]["pattern"]), "u") : target?.keyPattern,
    items: isObject(node["items"]) ? sub(node["items"]) : target?.items,
    anyOf: list("anyOf")?.map(sub) ?? target?.anyOf ?? [],
    branch: text("x-branch") ?? target?.branch,
  };
}

function referenced(reference: string, id: string): Shape {
  return schemaShape(reference.startsWith("#") ? `${id}${reference}` : reference);
}

/** The shape that fits every value. */
const ANYTHING: Shape = {
  title: undefined,
  description: undefined,
  types: [],
  unit: undefined,
  text: false,
  legacy: false,
  reload: undefined,
  fallback: undefined,
  choices: undefined,
  pattern: undefined,
  minimum: undefined,
  maximum: undefined,
  minLength: undefined,
  maxLength: undefined,
  minItems: undefined,
  minProperties: undefined,
  properties: new Map(),
  required: [],
  get additional() {
    return ANYTHING;
  },
  keyPattern: undefined,
  items: undefined,
  anyOf: [],
  branch: undefined,
};

/** Whether a shape takes values of a type. */
export function allows(shape: Shape, type: ShapeType): boolean {
  // A shape with a list of words and no type is met by scalars only.
  if (shape.types.length === 0) return shape.choices === undefined || (type !== "object" && type !== "array");
  return shape.types.includes(type);
}

/** Whether a shape, or one of its alternatives, says that it takes maps. */
export function mayBeMap(shape: Shape): boolean {
  return shape.types.includes("object") || shape.anyOf.some(mayBeMap);
}

/** The alternative that fits the kind of a value; else all of them as one. */
export function chooseBranch(shape: Shape, kind: ShapeType | "null"): Shape {
  const fitting = shape.anyOf.find((branch) => branch.types.some((type) => type === kind));
  if (fitting) return fitting;
  // All branches' types together make the better message: "must be text or a list".
  return { ...shape, types: shape.anyOf.flatMap((branch) => branch.types), anyOf: [] };
}
