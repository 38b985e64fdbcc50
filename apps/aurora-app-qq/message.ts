import { isJsonObject, type JsonObject } from "../common/json.ts";

/** A piece of a OneBot message. */
export interface Segment {
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

/** An incoming message as people read it. */
export interface ReadMessage {
  /** Plain text; pictures and the like as `[图片]`, mentions as `@123`. */
  readonly text: string;
  /** User ids that are mentioned, `all` for everyone. */
  readonly mentions: readonly string[];
  /** Id of the message it answers. */
  readonly replyTo: string | undefined;
}

/** An outgoing text. As a segment of its own it stays text: `[CQ:…]` in it is shown, never obeyed. */
export function textSegment(text: string): Segment {
  return { type: "text", data: { text } };
}

/** An outgoing mention of a user. */
export function atSegment(userId: string): Segment {
  return { type: "at", data: { qq: userId } };
}

/** Reads a message in either of OneBot's forms: a list of segments, or a string with CQ codes. */
export function readMessage(message: unknown): ReadMessage {
  const segments = typeof message === "string" ? parseCq(message) : listOf(message);
  return {
    text: segments.map(shown).join("").trim(),
    mentions: segments.filter((segment) => segment.type === "at").flatMap((segment) => field(segment, "qq") ?? []),
    replyTo: segments.filter((segment) => segment.type === "reply").map((segment) => field(segment, "id"))[0],
  };
}

/** Takes a string with CQ codes apart: `hi [CQ:at,qq=1]` is a text and a mention. Whatever is no CQ code is text. */
export function parseCq(message: string): Segment[] {
  const segments: Segment[] = [];
  // No part may hold a bracket (they are escaped inside a code), which also keeps the search linear in the message's length.
  const code = /\[CQ:([A-Za-z0-9_.-]+)((?:,[^,[\]]*)*)\]/g;
  let end = 0;
  for (const match of message.matchAll(code)) {
    if (match.index > end) segments.push(textSegment(unescapeCq(message.slice(end, match.index))));
    segments.push({ type: match[1] ?? "", data: parameters(match[2] ?? "") });
    end = match.index + match[0].length;
  }
  if (end < message.length) segments.push(textSegment(unescapeCq(message.slice(end))));
  return segments;
}

function parameters(text: string): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair.includes("="));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), unescapeCq(pair.slice(pair.indexOf("=") + 1))]));
}

/** `&amp;` comes last, so that `&amp;#91;` is the text `&#91;`. */
function unescapeCq(text: string): string {
  return text.replaceAll("&#44;", ",").replaceAll("&#91;", "[").replaceAll("&#93;", "]").replaceAll("&amp;", "&");
}

function listOf(message: unknown): Segment[] {
  const pieces = Array.isArray(message) ? message : [message];
  return pieces.filter(isJsonObject).map((piece) => ({ type: String(piece["type"]), data: strings(isJsonObject(piece["data"]) ? piece["data"] : {}) }));
}

function strings(data: JsonObject): Record<string, string> {
  const simple = Object.entries(data).filter(([, value]) => typeof value === "string" || typeof value === "number");
  return Object.fromEntries(simple.map(([key, value]) => [key, String(value)]));
}

function field(segment: Segment, key: string): string | undefined {
  return Object.hasOwn(segment.data, key) ? segment.data[key] : undefined;
}

const SHOWN: ReadonlyMap<string, string> = new Map([
  ["reply", ""],
  ["face", "[表情]"],
  ["mface", "[表情]"],
  ["image", "[图片]"],
  ["record", "[语音]"],
  ["video", "[视频]"],
  ["file", "[文件]"],
  ["location", "[位置]"],
  ["share", "[链接]"],
  ["music", "[音乐]"],
  ["forward", "[聊天记录]"],
  ["json", "[卡片]"],
  ["xml", "[卡片]"],
]);

function shown(segment: Segment): string {
  if (segment.type === "text") return field(segment, "text") ?? "";
  if (segment.type === "at") return field(segment, "qq") === "all" ? "@全体成员 " : `@${field(segment, "qq") ?? ""} `;
  return SHOWN.get(segment.type) ?? `[${segment.type}]`;
}
