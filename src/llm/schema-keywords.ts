import { isObject, type Json } from "../base/json.ts";
import { distinctValues, typeOfValue } from "./schema-node.ts";

/** The type names of JSON Schema. */
export const TYPE_NAMES: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** Keywords that name or describe the document, and vendor keywords: no provider needs them. */
const DROPPED: ReadonlySet<string> = new Set(["$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment", "__proto__"]);

/** Whether a keyword never leaves the kit. `id` is dropped only where it is draft-04's name of a schema, a string. */
export function isDroppedKeyword(keyword: string, value: Json): boolean {
  if (keyword === "id") return typeof value === "string";
  return DROPPED.has(keyword) || keyword.startsWith("x-");
}

const isNumber = (value: Json): boolean => typeof value === "number" && Number.isFinite(value);
const isCount = (value: Json): boolean => typeof value === "number" && Number.isInteger(value) && value >= 0;
const isText = (value: Json): boolean => typeof value === "string";
const isFlag = (value: Json): boolean => typeof value === "boolean";

/** What the plain keywords of 2020-12 may hold; a value that does not fit makes the keyword count as absent. */
const FORMS: ReadonlyMap<string, (value: Json) => boolean> = new Map([
  ["title", isText],
  ["description", isText],
  ["format", isText],
  ["pattern", isText],
  ["contentEncoding", isText],
  ["contentMediaType", isText],
  ["minLength", isCount],
  ["maxLength", isCount],
  ["minItems", isCount],
  ["maxItems", isCount],
  ["minProperties", isCount],
  ["maxProperties", isCount],
  ["minContains", isCount],
  ["maxContains", isCount],
  ["minimum", isNumber],
  ["maximum", isNumber],
  ["multipleOf", (value) => isNumber(value) && (value as number) > 0],
  ["uniqueItems", isFlag],
  ["deprecated", isFlag],
  ["readOnly", isFlag],
  ["writeOnly", isFlag],
  ["enum", (value) => Array.isArray(value) && value.length > 0],
  ["examples", (value) => Array.isArray(value)],
  ["dependentRequired", (value) => isObject(value) && Object.values(value).every(isNameList)],
]);

/** Longest property name that every provider takes. */
export const MAX_KEY = 64;

/** Whether a property name is one that every provider takes: a letter or `_`, then letters, digits and `_`, at most 64 in all. */
export function isPlainKey(name: string): boolean {
  if (name === "" || name.length > MAX_KEY) return false;
  for (let i = 0; i < name.length; i += 1) {
    const code = name.charCodeAt(i);
    const letter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
    if (!letter && (i === 0 || code < 48 || code > 57)) return false;
  }
  return true;
}

/** Whether a value is a list of texts. */
export function isNameList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Whether the value of a plain keyword has the form that the dialect asks for; true for keywords it does not know. */
export function hasRightForm(keyword: string, value: Json): boolean {
  return FORMS.get(keyword)?.(value) ?? true;
}

/** `type` as 2020-12 wants it: a known name or a list of several; undefined when it names a type that JSON has not. */
export function repairedType(value: Json): Json | undefined {
  if (typeof value === "string") return TYPE_NAMES.has(value) ? value : undefined;
  if (!isNameList(value) || value.length === 0 || !value.every((name) => TYPE_NAMES.has(name))) return undefined;
  const names = [...new Set(value)];
  return names.length === 1 ? names[0] : names;
}

/** The one type that all values share (`number` for whole and broken numbers together), or undefined. */
export function sharedType(values: readonly Json[]): string | undefined {
  const types = new Set(values.map(typeOfValue));
  if (types.size === 2 && types.has("integer") && types.has("number")) return "number";
  return types.size === 1 ? [...types][0] : undefined;
}

/** Type names with `null` added at the end. */
export function withNull(type: Json): Json {
  const types = Array.isArray(type) ? (type as string[]) : [type as string];
  return types.includes("null") ? type : [...types, "null"];
}

/** Enum values with null among them. */
export function enumWithNull(values: readonly Json[]): Json[] {
  return distinctValues([...values, null]);
}

/** The values of an enum that a list of type names admits; all of them where it admits none, for then the types are the mistake. */
export function valuesOfTypes(values: readonly Json[], types: readonly string[]): Json[] {
  const kept = types.length === 0 ? values : fittingValues(values, types);
  return kept.length > 0 ? [...kept] : [...values];
}

/** The values that a list of type names admits. */
export function fittingValues(values: readonly Json[], types: readonly string[]): Json[] {
  return values.filter((value) => types.includes(typeOfValue(value)) || (typeof value === "number" && types.includes("number")));
}
