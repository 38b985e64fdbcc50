import { isObject, own, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { truncate } from "../base/text.ts";
import { isReservedType } from "./reserved.ts";
import { isTimestamp } from "./timestamp.ts";

/** An Aurora-native event as it may be used, or why it is refused, in words for the app's author. */
export type AuroraEventReading = { readonly ok: true; readonly event: JsonObject } | { readonly ok: false; readonly reason: string };

const MAX_KEY = 500;

/**
 * Reads an Aurora-native event (guide 16.1, contracts 7): a notification `aurora/event`, or a logging message with logger
 * `aurora/event`, whose data may be an object or its JSON text. Gives null for any other notification. Members that are null count as
 * absent, members that the schema does not know are left out; reserved types and wrong shapes are refused.
 */
export function readAuroraEvent(method: string, params: unknown): AuroraEventReading | null {
  if (method === "aurora/event" || method === "notifications/aurora/event") return check(params);
  if (method === "notifications/message" && own(params, "logger") === "aurora/event") return check(fromText(own(params, "data")));
  return null;
}

/** Python logging helpers can only send texts. */
function fromText(data: unknown): unknown {
  if (typeof data !== "string") return data;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return data;
  }
}

function check(params: unknown): AuroraEventReading {
  if (!isObject(params)) return refuse(`an aurora/event needs an object with a type, not ${describe(params)}`);
  const type = own(params, "type");
  if (typeof type !== "string" || type.length > 200 || !/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(type)) {
    return refuse(`type must be dotted words of letters, digits, _ and - (at most 200 characters), not ${describe(type)}`);
  }
  if (isReservedType(type)) return refuse(`type ${type} is reserved for the host; choose another first word`);
  const event: JsonObject = { type };
  for (const [key, problem] of MEMBERS) {
    const value = own(params, key) ?? undefined;
    if (value === undefined) continue;
    const wrong = problem(value);
    if (wrong) return refuse(`${key} of event ${type} ${wrong}, not ${describe(value)}`);
    setOwn(event, key, value);
  }
  return { ok: true, event };
}

const MEMBERS: readonly (readonly [string, (value: unknown) => string | null])[] = [
  ["session_id", (v) => (typeof v === "string" && v.length <= MAX_KEY ? null : `must be a text of at most ${MAX_KEY} characters`)],
  ["summary", (v) => (typeof v === "string" ? null : "must be a text")],
  ["data", (v) => (isObject(v) ? null : "must be an object")],
  ["idempotency_key", (v) => (typeof v === "string" && v !== "" && v.length <= MAX_KEY ? null : `must be a text of 1 to ${MAX_KEY} characters`)],
  ["expire_at", (v) => (isTimestamp(v) ? null : "must be an ISO 8601 time with offset, such as 2026-06-17T14:35:00+08:00")],
];

function refuse(reason: string): AuroraEventReading {
  return { ok: false, reason };
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return truncate(JSON.stringify(value as Json) ?? String(value), 80);
}
