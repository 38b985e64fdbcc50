import { readdir, rename, stat, unlink } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import { own, type JsonObject } from "../base/json.ts";
import { makeFolder } from "../base/make-folder.ts";
import { isCode, writeFileAtomic } from "./atomic-write.ts";
import { ringOnChange } from "./folder-bell.ts";
import { contentDigest, openIdLedger, type IdLedger } from "./id-ledger.ts";
import { listEvents } from "./inbox-folder.ts";
import { inboxFolders, type InboxFolders } from "./inbox-names.ts";
import { MAX_EVENT_BYTES, readEvent } from "./read-event.ts";

/** One event as a reader gets it. */
export interface InboxEvent {
  /** `header.message_id`, or `id` of the flat form: the key to make handling idempotent with. */
  readonly id: string;
  readonly type: string;
  /** The envelope, or the flat AppEvent, as it stands in the file. */
  readonly event: JsonObject;
  /** Whether `expire_at` has passed. */
  readonly expired: boolean;
  /** Counts from 1. */
  readonly attempt: number;
}

/** How an inbox is read. Times are milliseconds. */
export interface InboxReaderOptions {
  /** `inbox.dir` of the topology. */
  readonly dir: string;
  /** Handles one event. When it throws, the event is tried again, and goes to `dead/` after `maxAttempts`. */
  readonly handle: (event: InboxEvent, signal: AbortSignal) => Promise<void> | void;
  /** Ends the reading; the event being handled is finished first. */
  readonly signal: AbortSignal;
  /** Whether handled files are kept in `done/` or deleted (the default). */
  readonly done?: "keep" | "delete";
  /** Whether this is the only reader of the inbox (the default): then everything in `processing/` at start is taken up again at once. */
  readonly exclusive?: boolean;
  /** With several readers: how old a claim must be before another reader takes it up; default 10 min. */
  readonly claimMs?: number;
  readonly maxAttempts?: number;
  /** First pause before an event is tried again; doubles each time, up to 5 min. Default 500. */
  readonly retryMs?: number;
  /** How often the folder is looked at even when nothing is heard; default 500. */
  readonly pollMs?: number;
  /** Largest file; default 8 MiB. */
  readonly maxBytes?: number;
  readonly onProblem?: (message: string) => void;
}

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 300_000;
const LEDGER_SIZE = 20_000;

/**
 * Reads an inbox until the signal ends it: claims each file by a rename to `processing/`, checks it, hands it on, and then deletes it
 * or moves it to `done/`. At least once: a crash while an event is handled gives it again. An id that was handled before is dropped;
 * with other content, or a file that is no event, it goes to `dead/` with a `.reason` file beside it. docs/inbox.md has the protocol.
 */
export async function readInbox(options: InboxReaderOptions): Promise<void> {
  const folders = inboxFolders(options.dir);
  for (const folder of Object.values(folders) as string[]) await makeFolder(folder, 0o700);
  const ledger = await openIdLedger(path.join(folders.processing, ".handled.jsonl"), LEDGER_SIZE);
  const bell = ringOnChange(folders.pending, options.signal);
  try {
    if (options.exclusive ?? true) await returnClaims(folders, 0);
    while (!options.signal.aborted) {
      if (options.exclusive === false) await returnClaims(folders, options.claimMs ?? 600_000);
      const names = await listEvents(folders.pending);
      for (const name of names) {
        if (options.signal.aborted) break;
        await takeOne(folders, name, ledger, options);
      }
      if (names.length === 0) await bell.wait(options.pollMs ?? 500);
    }
  } finally {
    bell.close();
    await ledger.close();
  }
}

/** Claims and processes one file. A fault of the disk puts it back and is told; the reading goes on. */
async function takeOne(folders: InboxFolders, name: string, ledger: IdLedger, options: InboxReaderOptions): Promise<void> {
  try {
    if (await claim(folders, name)) await processClaim(folders, name, ledger, options);
  } catch (error) {
    options.onProblem?.(`${name}: ${messageOf(error)}`);
    await rename(path.join(folders.processing, name), path.join(folders.pending, name)).catch(() => {});
    await sleep(options.retryMs ?? FIRST_RETRY_MS, undefined, { signal: options.signal }).catch(() => {});
  }
}

async function claim(folders: InboxFolders, name: string): Promise<boolean> {
  try {
    await rename(path.join(folders.pending, name), path.join(folders.processing, name));
    return true;
  } catch (error) {
    if (isCode(error, "ENOENT")) return false; // Another reader was quicker.
    throw error;
  }
}

async function processClaim(folders: InboxFolders, name: string, ledger: IdLedger, options: InboxReaderOptions): Promise<void> {
  const file = path.join(folders.processing, name);
  const bury = async (reason: string): Promise<void> => {
    await writeFileAtomic(path.join(folders.dead, `${name}.reason`), `${reason}\n`, { fsync: false });
    await rename(file, path.join(folders.dead, name));
    options.onProblem?.(`${name} went to dead/: ${reason}`);
  };
  const reading = await readEvent(file, options.maxBytes ?? MAX_EVENT_BYTES);
  if (!reading.ok) return bury(reading.reason);
  const { event, id, type } = reading;
  const digest = contentDigest(event);
  const seen = ledger.check(id, digest);
  if (seen === "conflict") return bury(`id-conflict: ${id} was handled before with other content`);
  if (seen === "new") {
    const failed = await handleWithRetry({ id, type, event, expired: isExpired(event) }, options);
    if (failed !== null && options.signal.aborted) {
      await rename(file, path.join(folders.pending, name));
      return;
    }
    if (failed !== null) return bury(failed);
    await ledger.add([{ id, digest, at: new Date().toISOString() }], true);
  }
  if (options.done === "keep") await rename(file, path.join(folders.done, name));
  else await unlink(file);
}

/** Gives null when the event was handled, else why it was given up. */
async function handleWithRetry(event: Omit<InboxEvent, "attempt">, options: InboxReaderOptions): Promise<string | null> {
  const maxAttempts = options.maxAttempts ?? 5;
  let pause = options.retryMs ?? FIRST_RETRY_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await options.handle({ ...event, attempt }, options.signal);
      return null;
    } catch (error) {
      const reason = messageOf(error);
      if (error instanceof GiveUp || attempt >= maxAttempts || options.signal.aborted) return `given up after ${attempt} attempts: ${reason}`;
      options.onProblem?.(`${event.type} ${event.id}: attempt ${attempt} failed: ${reason}`);
      await sleep(pause, undefined, { signal: options.signal }).catch(() => {});
      pause = Math.min(pause * 2, LAST_RETRY_MS);
    }
  }
}

/** Thrown by a handler to send an event to `dead/` at once: trying again would not help. */
export class GiveUp extends Error {
  override readonly name = "GiveUp";
}

function isExpired(event: JsonObject): boolean {
  const at = own(event, "expire_at") ?? own(own(event, "payload"), "expire_at");
  return typeof at === "string" && Date.parse(at) <= Date.now();
}

/** Puts claims of dead readers back; a claim's age counts from the rename that made it. */
async function returnClaims(folders: InboxFolders, olderThanMs: number): Promise<void> {
  for (const name of await readdir(folders.processing)) {
    if (name.startsWith(".")) continue;
    const file = path.join(folders.processing, name);
    try {
      if (olderThanMs > 0 && Date.now() - (await stat(file)).ctimeMs < olderThanMs) continue;
      await rename(file, path.join(folders.pending, name));
    } catch (error) {
      if (!isCode(error, "ENOENT")) throw error;
    }
  }
}
