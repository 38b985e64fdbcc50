import { hash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { ExactNumber } from "../base/exact-json.ts";
import { isObject, own, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { jsonLine, shapeOf } from "../base/log-safe.ts";
import type { Masker } from "../base/masking.ts";
import { remember } from "../base/remember.ts";
import { truncate } from "../base/text.ts";
import { unfinishedCalls, type UnfinishedCall } from "./unfinished-calls.ts";

/** Where audit lines go. Implemented by `files/audit-file.ts`. */
export interface AuditFile {
  /** The last whole lines that are there (up to some megabytes; empty in a new log), and the head that was kept apart. */
  open(): Promise<{ readonly lines: string; readonly head: AuditHead | null }>;
  /**
   * Adds whole lines: when this returns they are in the file, though perhaps not yet on the disk. Throws when they could not be
   * written, and then nothing of them stays behind. `head` names the last record, and is kept apart so that a cut tail shows.
   */
  append(lines: string, head: AuditHead): void;
  /** Resolves when the record with this number, and all before it, are on the disk; rejects when that cannot be said of it. Many may wait for the same sync. */
  sync(seq: number): Promise<void>;
  close(): Promise<void>;
}

/** The newest record of a log: its number and its hash. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** One thing to record. `event` says what: `call.sent`, `call.done`, `call.refused`, `approval.decided`, `pin.quarantined`, … */
export interface AuditEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** Members that records of like calls share. Who records keeps one object for them, so that its text is made once. */
export type AuditSubject = Readonly<Record<string, unknown>>;

/** The audit log: JSON lines, each with the hash of the one before (contracts 5, 6). */
export interface Audit {
  /**
   * Records one event: it is on the disk when the promise resolves. Rejects when it could not be written, and then a call that needs
   * its record must not be sent. Everything is masked; `arguments` as the setting says. The members of `subject` follow the event's.
   */
  append(event: AuditEvent, subject?: AuditSubject): Promise<void>;
  /**
   * Records one event that nothing hangs on: it stands in the file, though perhaps not yet on the disk, when the promise resolves, or
   * a fault was told instead. The records of one turn of the event loop are written together, at its end.
   */
  note(event: AuditEvent, subject?: AuditSubject): Promise<void>;
  /** What an earlier host had sent when it died. */
  readonly unfinished: readonly UnfinishedCall[];
  configure(settings: { readonly arguments: "masked" | "shapes" }): void;
  close(): Promise<void>;
}

const GENESIS = "0".repeat(64);
/** Longest text kept of one value. */
const MAX_VALUE_CHARS = 4000;

/** Opens the audit log and goes on with its chain. */
export async function openAudit(options: {
  readonly file: AuditFile;
  readonly clock: Clock;
  readonly masker: Masker;
  readonly arguments: "masked" | "shapes";
  /** Told why what was only noted could not be written. */
  readonly onFault: (error: unknown) => void;
}): Promise<Audit> {
  const { file, clock, masker, onFault } = options;
  let mode = options.arguments;
  const membersOf = membersText(masker);
  const textOfSubject = subjectTexts(masker, membersOf);
  const timestamp = timestamps();
  const found = await file.open();
  let head = headOf(lastLineOf(found.lines));
  const lost = (found.head?.seq ?? 0) - head.seq;
  let turn: Turn | null = null;
  /** Records that could not be written, and are not told in the log yet. */
  let missing = 0;
  const beginTurn = (): Turn => {
    const before = head;
    const untold = missing;
    missing = 0;
    const written = new Promise<void>((resolve, reject) => {
      // Comes when whatever was ready has been handled, so after every record of calls that came together, also by several sockets.
      setImmediate(() => {
        const { lines, records } = turn!;
        turn = null;
        try {
          file.append(lines, head);
          resolve();
        } catch (error) {
          // The chain goes back, so the next record that can be written fits on; it follows one that tells of the gap.
          head = before;
          missing = untold + records;
          reject(error as Error);
        }
      });
    });
    turn = { lines: "", records: 0, written, noted: written.catch(onFault) };
    if (untold > 0) write(turn, { event: MISSING, records: untold }, undefined);
    return turn;
  };
  /** Adds a record to the turn. Its number is the head's, until the next one is added. */
  const add = (event: AuditEvent, subject: AuditSubject | undefined): Turn => {
    const into = turn ?? beginTurn();
    write(into, event, subject);
    into.records += 1;
    return into;
  };
  const write = (into: Turn, event: AuditEvent, subject: AuditSubject | undefined): void => {
    const content = `{"at":"${timestamp(clock.now())}"${membersOf(event, mode)}${subject === undefined ? "" : textOfSubject(subject)}}`;
    const seq = head.seq + 1;
    const next = { seq, hash: hashOf(content, seq, head.hash) };
    into.lines += `${lineOf(content, seq, head.hash, next.hash)}\n`;
    head = next;
  };
  const audit: Audit = {
    async append(event, subject) {
      const { written } = add(event, subject);
      const { seq } = head;
      await written;
      await file.sync(seq);
    },
    note: (event, subject) => add(event, subject).noted,
    unfinished: unfinishedCalls(found.lines),
    configure(settings) {
      mode = settings.arguments;
    },
    async close() {
      await turn?.noted;
      await file.close();
    },
  };
  // The head will move on now, so what it knew of the lost records has to stand in the log itself.
  if (lost > 0) await audit.append({ event: LOST, records: lost, last_seq: found.head!.seq, last_hash: found.head!.hash });
  return audit;
}

/** Records that are made in one turn of the event loop, to be written with its end. */
interface Turn {
  lines: string;
  /** How many, but for one that tells of a gap. */
  records: number;
  readonly written: Promise<void>;
  /** As `written`, with a fault told instead. */
  readonly noted: Promise<void>;
}

/** The event that tells of records that could not be written, such as on a full disk. */
const MISSING = "audit.records_missing";

/** The event that a log begins anew with when its end was gone: cut off by someone, or never on the disk when the power failed. */
const LOST = "audit.records_lost";

/** What `audit verify` found. `line` counts from 1 over all lines handed in. */
export type AuditVerdict =
  | { readonly ok: true; readonly records: number; readonly head: AuditHead | null; readonly note: string | null }
  | { readonly ok: false; readonly line: number; readonly reason: string };

/**
 * Checks a whole log, oldest line first: each record's own hash, its link to the one before, and its number. `head` is what was
 * kept apart; a log that ends before it has lost its tail.
 */
export function verifyAudit(lines: Iterable<string>, head: AuditHead | null = null): AuditVerdict {
  let last: AuditHead | null = null;
  let line = 0;
  let sawHead = head === null;
  const notes: string[] = [];
  for (const text of lines) {
    line += 1;
    const record = parse(text);
    if (!record) return { ok: false, line, reason: text.trim() === "" ? "the line is empty" : "the line is not a whole record" };
    const { seq, prev, hash } = record;
    const content = jsonLine(record.fields);
    if (hash !== hashOf(content, seq, prev)) return { ok: false, line, reason: "the record was changed: its hash does not fit its content" };
    if (lineOf(content, seq, prev, hash) !== text) return { ok: false, line, reason: "the line was changed: it is not written as the log writes it" };
    if (last === null) {
      if (seq > 1) notes.push(`the log begins with record ${seq}; older files are not here`);
      if (seq === 1 && prev !== GENESIS) return { ok: false, line, reason: "the first record does not begin a chain" };
    } else if (seq !== last.seq + 1 || prev !== last.hash) {
      return {
        ok: false,
        line,
        reason: `the record does not follow the one before it (number ${seq} after ${last.seq}): a line was taken out, put in or moved`,
      };
    }
    if (head !== null && seq === head.seq) {
      if (hash !== head.hash) return { ok: false, line, reason: "the record is not the one whose hash was kept apart: the log was written anew" };
      sawHead = true;
    }
    if (record.fields["event"] === MISSING) notes.push(`before record ${seq}, ${String(record.fields["records"])} could not be written`);
    if (record.fields["event"] === LOST) notes.push(`before record ${seq}, ${String(record.fields["records"])} written earlier are gone`);
    last = { seq, hash };
  }
  if (!sawHead)
    return { ok: false, line: line + 1, reason: `the log ends with record ${last?.seq ?? 0}, but record ${head!.seq} was written: the end was cut off` };
  return { ok: true, records: line, head: last, note: notes.length > 0 ? notes.join("; ") : null };
}

/** JSON text of what may stand in the log of an object's members, each after a comma: masked and bounded. */
type MembersText = (members: AuditSubject, mode: "masked" | "shapes") => string;

function membersText(masker: Masker): MembersText {
  const textOf = maskedTexts(masker);
  const valueOf = (value: unknown): string => {
    if (typeof value === "string") return textOf(value);
    return typeof value === "number" ? String(jsonNumber(value)) : jsonLine(bounded(masker.value(value)));
  };
  return (members, mode) => {
    let out = "";
    for (const key of Object.keys(members)) {
      const value = members[key];
      if (value === undefined) continue;
      const start = startOf(key);
      if (start === "") continue;
      // The id of a call is the host's own, and new each time: there is nothing in it to mask, and nothing to remember.
      if (key === "call_id") out += `${start}${JSON.stringify(value)}`;
      else out += start + valueOf(key === "arguments" && mode === "shapes" ? shapeOf(value) : value);
    }
    return out;
  };
}

/** How a member begins; nothing for a name that the log writes itself. */
const startOf = remember((key) => (RESERVED_KEYS.has(key) ? "" : `,${jsonLine(key)}:`));

function jsonNumber(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** JSON texts of texts, masked and bounded; those of short ones are made once, and again when the masker has learned another secret. */
function maskedTexts(masker: Masker): (text: string) => string {
  const made = remember((text) => jsonLine(boundedText(masker.text(text))));
  let { version } = masker;
  return (text) => {
    if (version !== masker.version) {
      version = masker.version;
      made.forget();
    }
    return made(text);
  };
}

/** Writes milliseconds as ISO text; those of one millisecond are written once. */
function timestamps(): (ms: number) => string {
  let last = Number.NaN;
  let text = "";
  return (ms) => {
    if (ms !== last) text = new Date((last = ms)).toISOString();
    return text;
  };
}

/** Texts of subjects, each made once, and again when the masker has learned another secret. */
function subjectTexts(masker: Masker, membersOf: MembersText): (subject: AuditSubject) => string {
  const made = new WeakMap<AuditSubject, { readonly text: string; readonly version: number }>();
  return (subject) => {
    let known = made.get(subject);
    if (known?.version !== masker.version) made.set(subject, (known = { text: membersOf(subject, "masked"), version: masker.version }));
    return known.text;
  };
}

const CHAIN_KEYS: ReadonlySet<string> = new Set(["seq", "prev", "hash"]);
/** The log writes these itself. */
const RESERVED_KEYS: ReadonlySet<string> = new Set(["at", ...CHAIN_KEYS]);

function bounded(value: unknown): Json {
  if (typeof value === "string") return boundedText(value);
  if (Array.isArray(value)) return value.map((item) => bounded(item));
  if (value instanceof ExactNumber) return value.digits;
  if (!isObject(value)) return (value ?? null) as Json;
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) if (item !== undefined) setOwn(out, key, bounded(item));
  return out;
}

function boundedText(text: string): string {
  return text.length > MAX_VALUE_CHARS ? `${truncate(text, MAX_VALUE_CHARS)} (${text.length} characters)` : text;
}

/** A record as it stands in the log: its fields between its number and its links. */
function lineOf(content: string, seq: number, prev: string, hash: string): string {
  return `{"seq":${seq},${content.slice(1, -1)},"prev":"${prev}","hash":"${hash}"}`;
}

/** Over the JSON text of the fields as it stands in the line: a reader who parses them and writes them again gets the same text. */
function hashOf(content: string, seq: number, prev: string): string {
  return hash("sha256", `audit\0${seq}\0${prev}\0${content}`, "hex");
}

function parse(line: string): { fields: JsonObject; seq: number; prev: string; hash: string } | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const seq = own(value, "seq");
  const prev = own(value, "prev");
  const hash = own(value, "hash");
  if (!isObject(value) || typeof seq !== "number" || typeof prev !== "string" || typeof hash !== "string") return null;
  const fields: JsonObject = {};
  for (const [key, item] of Object.entries(value)) if (!CHAIN_KEYS.has(key)) setOwn(fields, key, item);
  return { fields, seq, prev, hash };
}

function lastLineOf(lines: string): string | null {
  const whole = lines.trimEnd();
  return whole === "" ? null : whole.slice(whole.lastIndexOf("\n") + 1);
}

function headOf(line: string | null): AuditHead {
  if (line === null) return { seq: 0, hash: GENESIS };
  const record = parse(line);
  if (!record) throw new Error("the last line of the audit log is not a record of it: move the file away, or run `aurora-mcp audit verify`");
  return { seq: record.seq, hash: record.hash };
}
