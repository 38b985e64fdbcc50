import { byteLength, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { escapeInvisible, truncate } from "../base/text.ts";

/** Longest summary, in characters (contracts 7). */
export const MAX_SUMMARY = 500;
/** Longest session id, in characters. */
export const MAX_SESSION = 500;
/** Longest event type, in characters. */
export const MAX_TYPE = 200;
const MAX_DEPTH = 64;
const KEPT_OF_CUT = 1000;

/** A summary: one line of at most {@link MAX_SUMMARY} characters, line breaks as spaces, invisible characters shown. */
export function boundSummary(text: string): string {
  // Cut first, so that a text of many megabytes costs nothing; escapes may make it longer again.
  const line = truncate(text, MAX_SUMMARY * 2)
    .replaceAll(/\s+/g, " ")
    .trim();
  return truncate(escapeInvisible(line), MAX_SUMMARY);
}

/** An event type: spaces and invisible characters become `_`, cut to a safe length, never empty. */
export function boundType(text: string): string {
  const plain = truncate(text, MAX_TYPE).replaceAll(/[\p{C}\p{Z}]/gu, "_");
  return plain === "" ? "unknown" : plain;
}

/**
 * An event's data in at most `maxBytes` of JSON: the largest members are cut first, and `cut` then names them with their size in
 * bytes. Nesting over 64 levels is cut too.
 */
export function boundData(value: JsonObject, maxBytes: number): JsonObject {
  const data = boundDepth(value, 0) as JsonObject;
  if (jsonBytes(data) <= maxBytes) return data;
  return cutLargest(data, maxBytes);
}

function cutLargest(data: JsonObject, maxBytes: number): JsonObject {
  const kept = Math.min(KEPT_OF_CUT, Math.floor(maxBytes / 16));
  const sizes = Object.entries(data).map(([key, value]) => ({ key, value, bytes: jsonBytes(key) + jsonBytes(value) + 2 }));
  const out = { ...data };
  const cut: JsonObject = {};
  let total = sizes.reduce((sum, member) => sum + member.bytes, 2 + jsonBytes("cut") + 4);
  for (const { key, value, bytes } of sizes.toSorted((a, b) => b.bytes - a.bytes)) {
    if (total <= maxBytes) break;
    const left = typeof value === "string" ? truncate(value, kept) : null;
    setOwn(out, key, left);
    setOwn(cut, key, bytes);
    total += jsonBytes(left) - jsonBytes(value) + jsonBytes(key) + jsonBytes(bytes) + 2;
  }
  setOwn(out, "cut", cut);
  // So many or so long names that even empty members do not fit.
  return total <= maxBytes ? out : { cut: { members: sizes.length, bytes: sizes.reduce((sum, member) => sum + member.bytes, 0) } };
}

function jsonBytes(value: Json): number {
  return byteLength(JSON.stringify(value));
}

function boundDepth(value: Json, depth: number): Json {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((item) => boundDepth(item, depth + 1));
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) setOwn(out, key, boundDepth(item, depth + 1));
  return out;
}
