/** A JSON object whose values are not known yet. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is a JSON object (not null, not a list). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
