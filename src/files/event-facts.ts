import { isObject, own, type JsonObject } from "../base/json.ts";

/** What filters and print-outs look at, the same for an AMP envelope and for the flat form; what an event does not say is an empty text. */
export interface EventFacts {
  /** When it happened, ISO 8601. */
  readonly at: string;
  readonly app: string;
  readonly type: string;
  readonly session: string;
  readonly summary: string;
}

/** The facts of an event as its file has it. Never throws, whatever stands in the file. */
export function eventFacts(event: JsonObject): EventFacts {
  const word = (from: unknown, key: string): string => {
    const value = own(from, key);
    return typeof value === "string" ? value : "";
  };
  if (isFlat(event))
    return {
      at: word(event, "created_at"),
      app: word(event, "source"),
      type: word(event, "type"),
      session: word(event, "session_id"),
      summary: word(event, "summary"),
    };
  const [header, payload] = [own(event, "header"), own(event, "payload")];
  return {
    at: word(header, "timestamp"),
    app: word(own(header, "source"), "app"),
    type: word(payload, "type"),
    session: word(payload, "session_id"),
    summary: word(payload, "summary"),
  };
}

/** The same event as a new one, under another id and time. */
export function renewedEvent(event: JsonObject, id: string, timestamp: string): JsonObject {
  if (isFlat(event)) return { ...event, id, created_at: timestamp };
  const header = own(event, "header");
  return { ...event, header: { ...(isObject(header) ? (header as JsonObject) : {}), message_id: id, timestamp } };
}

/** Whether an event has AuroraBot's older flat form (`inbox.format: app_event`). */
function isFlat(event: JsonObject): boolean {
  return !Object.hasOwn(event, "header");
}
