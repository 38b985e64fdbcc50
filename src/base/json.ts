import { createHash, createHmac } from "node:crypto";
import { ExactNumber } from "./exact-json.ts";

export type JsonPrimitive = string | number | boolean | null;
export type Json = JsonPrimitive | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Whether a value is a plain JSON object (not null, not a list). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Own property of an object, or undefined; safe for names that a model or a server gave (`__proto__`, `constructor`). */
export function own(object: unknown, key: string): unknown {
  return typeof object === "object" && object !== null && Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

/**
 * Sets an own, enumerable property whatever its name is (`__proto__` becomes an ordinary key).
 */
export function setOwn(object: object, key: string, value: unknown): void {
  // Only `__proto__` is special to an assignment, and an assignment is many times faster.
  if (key !== "__proto__") (object as Record<string, unknown>)[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/**
 * Canonical JSON text: keys sorted by UTF-16 code unit (as RFC 8785), no spaces, undefined members left out.
 * Equal values give equal bytes. Throws a TypeError for cycles, functions, symbols and bigints.
 */
export function canonicalJson(value: unknown): string {
  const text = write(value, 0);
  if (text === undefined) throw new TypeError("value has no JSON form");
  return text;
}

const MAX_DEPTH = 1000;

function write(value: unknown, depth: number): string | undefined {
  if (depth > MAX_DEPTH) throw new TypeError("value is nested too deeply or has a cycle");
  if (value === null || typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "number") return JSON.stringify(value);
  if (value === undefined) return undefined;
  if (value instanceof ExactNumber) return value.digits;
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1) ?? "null").join(",")}]`;
  if (typeof value === "object") {
    const object = value as Record<string, unknown>;
    let members = "";
    for (const key of Object.keys(object).sort()) {
      const text = write(object[key], depth + 1);
      if (text !== undefined) members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${text}`;
    }
    return `{${members}}`;
  }
  throw new TypeError(`a ${typeof value} has no JSON form`);
}

/** `sha256:<hex>` of the canonical JSON of a value; `tag` separates uses of the hash from one another. */
export function digest(value: unknown, tag: string): string {
  return `sha256:${createHash("sha256").update(tag).update("\0").update(canonicalJson(value)).digest("hex")}`;
}

/** As {@link digest}, keyed: equal only for whoever has the key. Used where the value may hold secrets. */
export function keyedDigest(value: unknown, tag: string, key: string): string {
  return `hmac:${createHmac("sha256", key).update(tag).update("\0").update(canonicalJson(value)).digest("hex")}`;
}

/** Freezes a plain value and everything in it; returns the same object. Maps and Sets are left alone. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
  return value;
}

/** UTF-8 length of a text in bytes. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** Whether the JSON form of a value is surely larger than `limit` bytes; stops as soon as it knows. Counts text, keys and a little per value. */
export function isLargerThan(value: unknown, limit: number): boolean {
  let size = 0;
  const visit = (item: unknown): boolean => {
    if (typeof item === "string") size += item.length > limit - size ? byteLength(item) : textBytes(item);
    else size += 4;
    if (size > limit) return true;
    if (Array.isArray(item)) return item.some(visit);
    if (!isObject(item)) return false;
    for (const key of Object.keys(item)) {
      size += key.length + 4;
      if (size > limit || visit(item[key])) return true;
    }
    return size > limit;
  };
  return visit(value);
}

/** Bytes of a text: exact for long ones, where it matters; characters for short ones, where it is cheap. */
function textBytes(text: string): number {
  return text.length < 256 ? text.length : byteLength(text);
}
