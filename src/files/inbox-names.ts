import path from "node:path";

const MAX_TYPE_IN_NAME = 100;
const TEMP = /^\.aurora-([0-9a-z]+)-(\d+)-([0-9a-z]+)-(\d+)\.part$/;
const EVENT_FILE = /^event_(.+)_([^_]+)\.json$/;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Whether a message id is safe to use as part of a file name on every system: no separators, control characters or device names. */
export function isSafeId(id: unknown): id is string {
  return typeof id === "string" && ID.test(id) && !DEVICE.test(id);
}

/** `event_{type}_{id}.json` (guide 16.4): in the type, what is not `[A-Za-z0-9._-]` becomes `_`, so does a leading dot, and it is cut to 100 characters. */
export function eventFileName(type: string, id: string): string {
  const safe = type
    .replaceAll(/[^A-Za-z0-9._-]/g, "_")
    .replace(/^\.+/, "_")
    .slice(0, MAX_TYPE_IN_NAME);
  return `event_${safe}_${id}.json`;
}

/** Type (as far as the name can say it) and id of an event file, or null for any other name: temp files, ledgers, foreign files. */
export function parseEventFileName(name: string): { readonly type: string; readonly id: string } | null {
  const match = EVENT_FILE.exec(name);
  return match ? { type: match[1]!, id: match[2]! } : null;
}

/** Whether readers take a name for an event: it ends in `.json` and does not start with a dot. */
export function isReadable(name: string): boolean {
  return name.endsWith(".json") && !name.startsWith(".");
}

/** Oldest first: UUIDv7 ids rise with time, so names are ordered by id before type. Gives a new list. */
export function sortEventNames(names: readonly string[]): string[] {
  const keyed = names.map((name) => ({ name, key: name.slice(name.lastIndexOf("_") + 1) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.name < b.name ? -1 : 1));
  return keyed.map(({ name }) => name);
}

/** One run of one process on one machine, as temp files name it. */
export interface WriterInstance {
  readonly host: string;
  readonly pid: number;
  /** Differs between two processes that had the same pid. */
  readonly start: string;
}

/** Name of a temp file: hidden, not ending in `.json`, with its writer. */
export function tempFileName(writer: WriterInstance, sequence: number): string {
  return `.aurora-${writer.host}-${writer.pid}-${writer.start}-${sequence}.part`;
}

/** The writer of a temp file, or null when the name is not of our form. */
export function parseTempFileName(name: string): WriterInstance | null {
  const match = TEMP.exec(name);
  return match ? { host: match[1]!, pid: Number(match[2]), start: match[3]! } : null;
}

/** The folders of an inbox: beside `pending` when it has that name, else inside the inbox folder. */
export interface InboxFolders {
  readonly pending: string;
  /** Claimed by a reader. */
  readonly processing: string;
  readonly done: string;
  /** What could not be read or handled, and what the host took out of a full inbox. */
  readonly dead: string;
}

/** The folders that belong to `inbox.dir`. */
export function inboxFolders(dir: string): InboxFolders {
  const pending = path.resolve(dir);
  const base = path.basename(pending) === "pending" ? path.dirname(pending) : pending;
  return { pending, processing: path.join(base, "processing"), done: path.join(base, "done"), dead: path.join(base, "dead") };
}
