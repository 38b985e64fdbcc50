import { isObject, own, type JsonObject } from "../base/json.ts";

const FORM = new Set(["$schema", "type", "properties", "required", "title", "description", "additionalProperties"]);
const COMMON = ["type", "title", "description", "default"];
const NUMBER = new Set([...COMMON, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]);
/** What a field of each type may say. */
const FIELDS: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ["string", new Set([...COMMON, "minLength", "maxLength", "pattern", "format", "enum", "enumNames", "oneOf"])],
  ["number", NUMBER],
  ["integer", NUMBER],
  ["boolean", new Set(COMMON)],
  ["array", new Set([...COMMON, "items", "minItems", "maxItems", "uniqueItems"])],
]);

/**
 * Why a form is none of MCP 2025-11-25, or null: an object of flat fields, each a text, a number, a yes or no, a choice of texts, or several of them.
 * Whatever else a schema can say could ask for more than a person is shown.
 */
export function formFault(form: unknown): string | null {
  if (!isObject(form) || own(form, "type") !== "object") return 'requestedSchema must be a schema of type "object"';
  const odd = Object.keys(form).find((key) => !FORM.has(key));
  if (odd !== undefined) return `a form has no ${JSON.stringify(odd)}`;
  if (isObject(own(form, "additionalProperties"))) return "additionalProperties must be true or false";
  const properties = own(form, "properties") ?? {};
  if (!isObject(properties)) return "properties must be an object";
  for (const [name, field] of Object.entries(properties)) {
    const fault = fieldFault(field);
    if (fault !== null) return `field ${JSON.stringify(name)} ${fault}`;
  }
  return null;
}

function fieldFault(field: unknown): string | null {
  const optional = optionalField(field);
  if (optional !== null) return fieldFault(optional);
  const keys = FIELDS.get(own(field, "type"));
  if (!isObject(field) || keys === undefined) return "must be of type string, number, integer, boolean, or array of choices";
  const odd = Object.keys(field).find((key) => !keys.has(key));
  if (odd !== undefined) return `has ${JSON.stringify(odd)}, which fields of a form have not`;
  if (Object.hasOwn(field, "oneOf") && !areChoices(field["oneOf"])) return "must have oneOf as a list of { const, title }";
  if (own(field, "type") === "array" && !isSelection(own(field, "items")))
    return "must have items that are choices: an enum of texts, or anyOf { const, title }";
  return null;
}

/** A field that may be left empty as Python's servers write it, `anyOf` of one kind and null, as that kind; null for any other. */
function optionalField(field: unknown): JsonObject | null {
  const kinds = own(field, "anyOf");
  if (!isObject(field) || own(field, "type") !== undefined || !Array.isArray(kinds) || kinds.length !== 2) return null;
  const { anyOf: _kinds, ...words } = field as JsonObject;
  const [kind, none] = own(kinds[0], "type") === "null" ? [kinds[1], kinds[0]] : kinds;
  // The words stand beside it: those of a kind would not be shown.
  const plain = isObject(kind) && !["title", "description", "anyOf"].some((key) => Object.hasOwn(kind, key));
  return plain && isObject(none) && own(none, "type") === "null" && Object.keys(none).length === 1 ? ({ ...kind, ...words } as JsonObject) : null;
}

function isSelection(items: unknown): boolean {
  if (!isObject(items) || !Object.keys(items).every((key) => ["type", "enum", "anyOf"].includes(key))) return false;
  return areChoices(own(items, "anyOf")) || (own(items, "type") === "string" && isTexts(own(items, "enum")));
}

function areChoices(list: unknown): boolean {
  return (
    Array.isArray(list) &&
    list.every(
      (one: JsonObject) => isObject(one) && isTexts([one["const"], one["title"] ?? ""]) && Object.keys(one).every((key) => ["const", "title"].includes(key)),
    )
  );
}

function isTexts(list: unknown): boolean {
  return Array.isArray(list) && list.every((one) => typeof one === "string");
}
