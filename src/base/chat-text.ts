import { ExactNumber } from "./exact-json.ts";
import { isObject, setOwn } from "./json.ts";

/** Members that hold what people wrote to each other, in chat protocols and in tools that send messages. */
const CHAT_KEYS: ReadonlySet<string> = new Set(["text", "message", "raw_message", "content", "caption", "body"]);
const MAX_DEPTH = 20;
/** Shorter words would be found in a summary by chance. */
const SHORTEST = 2;

/** A copy of a JSON value in which chat texts are only counted: `text: "string(12)"` (guide 11.5). */
export function withoutChatText(value: unknown): unknown {
  return copy(value, false, 0);
}

function copy(value: unknown, chat: boolean, depth: number): unknown {
  if (typeof value === "string") return chat ? `string(${value.length})` : value;
  if (depth > MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((item) => copy(item, chat, depth + 1));
  if (!isObject(value) || value instanceof ExactNumber) return value;
  const out = {};
  for (const [key, item] of Object.entries(value)) setOwn(out, key, copy(item, CHAT_KEYS.has(key), depth + 1));
  return out;
}

/** A summary of an event without the chat texts that stand in its data. */
export function summaryWithoutChat(summary: string, data: unknown): string {
  const texts = [...chatTexts(data, false, 0)].filter((text) => text.length >= SHORTEST);
  // Longest first, or the rest of a text would stay that begins with another.
  return texts.sort((a, b) => b.length - a.length).reduce((out, text) => out.replaceAll(text, "…"), summary);
}

function* chatTexts(value: unknown, chat: boolean, depth: number): Generator<string> {
  if (typeof value === "string") {
    if (chat) yield value;
  } else if (depth <= MAX_DEPTH && Array.isArray(value)) {
    for (const item of value) yield* chatTexts(item, chat, depth + 1);
  } else if (depth <= MAX_DEPTH && isObject(value)) {
    for (const [key, item] of Object.entries(value)) yield* chatTexts(item, CHAT_KEYS.has(key), depth + 1);
  }
}
