import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";
import { isCode } from "./atomic-write.ts";
import { isSafeId } from "./inbox-names.ts";

/** An event as its file has it, or why the file is no event: a word such as `bad-json`, a colon, and the rest in words. */
export type EventReading =
  | { readonly ok: true; readonly id: string; readonly type: string; readonly event: JsonObject }
  | { readonly ok: false; readonly reason: string };

/** Largest event file that readers take, in bytes. */
export const MAX_EVENT_BYTES = 8 * 1024 * 1024;

const MAX_DEPTH = 200;
const TORN_TRIES = 10;
const TORN_PAUSE_MS = 50;
const NOT_A_FILE = "not-a-file: a link, folder or pipe in the place of an event";

/** Reads and checks one event file. A file that is still being written by a careless writer is read again, up to `tries` times with short pauses. */
export async function readEvent(file: string, maxBytes: number, tries = TORN_TRIES): Promise<EventReading> {
  for (let attempt = 1; ; attempt += 1) {
    const content = await readBounded(file, maxBytes);
    if (!Buffer.isBuffer(content)) return { ok: false, reason: content };
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
      if (tooDeep(text)) return { ok: false, reason: `bad-json: nested deeper than ${MAX_DEPTH} levels` };
      return checkShape(JSON.parse(text));
    } catch (error) {
      if (attempt >= tries) return { ok: false, reason: `bad-json: ${messageOf(error)}` };
      await sleep(TORN_PAUSE_MS);
    }
  }
}

/** The content of a regular file of bounded size, or why it is not read. What it is and how large is asked of the open file, so that nothing can be put in its place in between. */
async function readBounded(file: string, maxBytes: number): Promise<Buffer | string> {
  let handle: FileHandle;
  try {
    // Not through a link, and without waiting for a pipe's other end.
    handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (isCode(error, "ELOOP", "ENXIO")) return NOT_A_FILE;
    throw error;
  }
  try {
    const info = await handle.stat();
    if (!info.isFile()) return NOT_A_FILE;
    if (info.size > maxBytes) return `too-large: over ${maxBytes} bytes`;
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Whether brackets outside strings nest deeper than any event does; looked at before parsing. */
function tooDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    if (quoted) {
      if (c === 0x5c) i += 1;
      else if (c === 0x22) quoted = false;
    } else if (c === 0x22) quoted = true;
    else if (c === 0x7b || c === 0x5b) depth += 1;
    else if (c === 0x7d || c === 0x5d) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function checkShape(value: unknown): EventReading {
  if (!isObject(value)) return { ok: false, reason: "bad-shape: an event is a JSON object" };
  const flat = !Object.hasOwn(value, "header");
  const id = flat ? own(value, "id") : own(own(value, "header"), "message_id");
  const type = flat ? own(value, "type") : own(own(value, "payload"), "type");
  if (!isSafeId(id)) return { ok: false, reason: `bad-id: ${flat ? "id" : "header.message_id"} must be letters, digits, ".", "_" and "-"` };
  if (typeof type !== "string" || type === "") return { ok: false, reason: `bad-shape: ${flat ? "type" : "payload.type"} is missing` };
  return { ok: true, id, type, event: value as JsonObject };
}
