import { own, type JsonObject } from "../base/json.ts";

/** A call that was sent, and whose end is not in the log: the host died while it ran. */
export interface UnfinishedCall {
  /** The record of its sending. */
  readonly record: JsonObject;
  readonly callId: string;
  readonly at: number;
}

/** How the records of calls begin; written so by the log itself. */
const CALL = /^\{"seq":\d+,"at":"[^"]*","event":"call\.(sent|done|refused)","call_id":"([^"]+)"/;

/** The calls in the last lines of an audit log that were sent and did not end, oldest first. */
export function unfinishedCalls(text: string): UnfinishedCall[] {
  const open = new Map<string, string>();
  for (const line of text.split("\n")) {
    const match = CALL.exec(line);
    if (match?.[1] === "sent") open.set(match[2]!, line);
    else if (match) open.delete(match[2]!);
  }
  return [...open.values()].flatMap((line) => {
    const record = parse(line);
    return record === null ? [] : [{ record, callId: String(own(record, "call_id")), at: Date.parse(String(own(record, "at"))) }];
  });
}

function parse(line: string): JsonObject | null {
  try {
    return JSON.parse(line) as JsonObject;
  } catch {
    return null;
  }
}
