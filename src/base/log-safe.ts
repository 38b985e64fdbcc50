import { ExactNumber } from "./exact-json.ts";
import { isObject, setOwn } from "./json.ts";
import { isInvisible } from "./text.ts";

/**
 * JSON text in one line that no value can break out of: besides what JSON escapes, every invisible character (line separators,
 * bidi marks, C1 controls, zero-width) is written as `\uXXXX`. Parsing gives the same value back.
 */
export function jsonLine(value: unknown): string {
  return inOneLine(JSON.stringify(value));
}

/** JSON text as {@link jsonLine} writes it. */
export function inOneLine(text: string): string {
  if (PLAIN_ASCII.test(text)) return text;
  let out = "";
  for (const char of text) out += isInvisible(char) ? escapeUnits(char) : char;
  return out;
}

const PLAIN_ASCII = /^[\x20-\x7e]*$/;

function escapeUnits(char: string): string {
  let out = "";
  for (let i = 0; i < char.length; i += 1) out += `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`;
  return out;
}

const MAX_CAUSES = 5;

/** An error as plain data: name, message, stack, code and its chain of causes; anything else as it is. For logs, which mask it afterwards. */
export function errorFields(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const code: unknown = (error as { code?: unknown }).code;
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth >= MAX_CAUSES ? {} : { cause: errorFields(error.cause, depth + 1) }),
    ...(error instanceof AggregateError && depth < MAX_CAUSES ? { errors: error.errors.slice(0, 10).map((e) => errorFields(e, depth + 1)) } : {}),
  };
}

/** The shape of a JSON value without its content: `{ q: "string(12)", n: "number", tags: ["string(3)"] }`. Long lists are counted. */
export function shapeOf(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return `string(${value.length})`;
  if (value === null) return "null";
  if (Array.isArray(value)) return depth > 8 || value.length > 5 ? `list(${value.length})` : value.map((item) => shapeOf(item, depth + 1));
  if (value instanceof ExactNumber) return "number";
  if (!isObject(value)) return typeof value;
  const entries = Object.entries(value);
  if (depth > 8 || entries.length > 50) return `map(${entries.length})`;
  const out = {};
  for (const [key, item] of entries) setOwn(out, key, shapeOf(item, depth + 1));
  return out;
}
