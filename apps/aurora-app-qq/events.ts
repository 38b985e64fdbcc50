import type { AuroraEvent } from "../common/app.ts";
import { isJsonObject, type JsonObject } from "../common/json.ts";
import { readMessage } from "./message.ts";

/** How long a message or reaction is worth telling, in milliseconds (guide 16.2 gives a message five minutes). */
const LIFE = 300_000;

/**
 * What a OneBot event means for the host, or undefined where it means nothing: heartbeats, the bot's own messages, requests.
 * `now` is in milliseconds since 1970. Summaries hold no chat text.
 */
export function toAuroraEvent(event: JsonObject, now: number): AuroraEvent | undefined {
  const made = event["post_type"] === "message" ? message(event) : event["post_type"] === "notice" ? notice(event) : undefined;
  if (!made) return undefined;
  const key = `${id(event, "self_id") ?? "0"}:${made.idempotency_key}`.slice(0, 500);
  // Who came and went stays of interest; what was said does not.
  const expiry = made.type.startsWith("message.") ? { expire_at: new Date(now + LIFE).toISOString() } : {};
  return { ...made, ...expiry, idempotency_key: key };
}

function message(event: JsonObject): AuroraEvent | undefined {
  const { user, group, session } = people(event);
  const messageId = id(event, "message_id");
  if (user === undefined || session === undefined || messageId === undefined || user === id(event, "self_id")) return undefined;
  const read = readMessage(event["message"] ?? event["raw_message"]);
  const sender = isJsonObject(event["sender"]) ? (name(event["sender"], "card") ?? name(event["sender"], "nickname")) : undefined;
  return {
    type: "message.received",
    session_id: session,
    summary: group === undefined ? "私聊收到一条新消息" : "群聊收到一条新消息",
    data: given({
      user_id: user,
      group_id: group,
      message_id: messageId,
      message_text: read.text,
      is_group: group !== undefined,
      sender_name: sender,
      mentions: read.mentions,
      mentions_me: read.mentions.includes(id(event, "self_id") ?? ""),
      reply_to: read.replyTo,
    }),
    idempotency_key: `message:${messageId}`,
  };
}

function notice(event: JsonObject): AuroraEvent | undefined {
  switch (event["notice_type"]) {
    case "group_msg_emoji_like":
    case "reaction":
    case "notify":
      return reaction(event);
    case "group_increase":
    case "friend_add":
      return membership(event, "session.created");
    case "group_decrease":
      return membership(event, "session.closed");
    default:
      return undefined;
  }
}

/** An emoji put on a message (OneBot has no standard form; these are the ones in use) or a poke. */
function reaction(event: JsonObject): AuroraEvent | undefined {
  const poke = event["sub_type"] === "poke";
  if (event["notice_type"] === "notify" && !poke) return undefined;
  const { user = id(event, "operator_id"), group, session } = people(event);
  if (user === undefined || session === undefined || user === id(event, "self_id")) return undefined;
  const likes = Array.isArray(event["likes"]) ? event["likes"].filter(isJsonObject) : [];
  const emoji = likes.flatMap((like) => id(like, "emoji_id") ?? []);
  const code = id(event, "code");
  if (code !== undefined) emoji.push(code);
  const messageId = id(event, "message_id");
  const action = event["sub_type"] === "remove" || event["is_add"] === false ? "remove" : "add";
  const target = id(event, "target_id");
  return {
    type: "message.reaction",
    session_id: session,
    summary: poke ? "收到一次戳一戳" : "消息收到一个表情回应",
    data: given({
      user_id: user,
      group_id: group,
      message_id: messageId,
      is_group: group !== undefined,
      kind: poke ? "poke" : "emoji",
      action,
      emoji,
      target_id: target,
    }),
    idempotency_key: ["reaction", messageId, session, user, target, action, emoji.join("+"), id(event, "time")]
      .filter((part) => part !== undefined && part !== "")
      .join(":"),
  };
}

/** Somebody, or the bot itself (`is_self`), came into a group or left it, or became a friend. */
function membership(event: JsonObject, type: "session.created" | "session.closed"): AuroraEvent | undefined {
  const { user, group, session } = people(event);
  if (user === undefined || session === undefined) return undefined;
  const came = type === "session.created";
  return {
    type,
    session_id: session,
    summary: group === undefined ? "新增一位好友" : came ? "有成员加入群聊" : "有成员离开群聊",
    data: given({
      user_id: user,
      group_id: group,
      is_group: group !== undefined,
      is_self: user === id(event, "self_id"),
      operator_id: id(event, "operator_id"),
      reason: name(event, "sub_type"),
    }),
    idempotency_key: [type, session, user, id(event, "time")].filter((part) => part !== undefined).join(":"),
  };
}

function people(event: JsonObject): { user: string | undefined; group: string | undefined; session: string | undefined } {
  const user = id(event, "user_id");
  // A private message may carry the group over which the two know each other; it is no group message.
  const group = event["message_type"] === "private" ? undefined : id(event, "group_id");
  const session = group !== undefined ? `group_${group}` : user !== undefined ? `private_${user}` : undefined;
  return { user, group, session };
}

/** An id as text; OneBot programs send numbers or texts, and 0 for nobody. */
function id(event: JsonObject, key: string): string | undefined {
  const value = event[key];
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  return text === "" || text === "0" || text.length > 100 ? undefined : text;
}

function name(event: JsonObject, key: string): string | undefined {
  const value = event[key];
  return typeof value === "string" && value !== "" ? value.slice(0, 200) : undefined;
}

function given(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
