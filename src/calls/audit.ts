import type { Clock } from "../base/clock.ts";
import type { Masker } from "../base/masking.ts";
import { membersText, subjectTexts, type AuditSubject } from "./audit-members.ts";
import { GENESIS, hashOf, lineOf, LOST, MISSING, readRecord, type AuditHead } from "./audit-record.ts";
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

/** One thing to record. `event` says what: `call.sent`, `call.done`, `call.refused`, `approval.decided`, `pin.quarantined`, … */
export interface AuditEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

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

/** Writes milliseconds as ISO text; those of one millisecond are written once. */
function timestamps(): (ms: number) => string {
  let last = Number.NaN;
  let text = "";
  return (ms) => {
    if (ms !== last) text = new Date((last = ms)).toISOString();
    return text;
  };
}

function lastLineOf(lines: string): string | null {
  const whole = lines.trimEnd();
  return whole === "" ? null : whole.slice(whole.lastIndexOf("\n") + 1);
}

function headOf(line: string | null): AuditHead {
  if (line === null) return { seq: 0, hash: GENESIS };
  const record = readRecord(line);
  if (!record) throw new Error("the last line of the audit log is not a record of it: move the file away, or run `aurora-mcp audit verify`");
  return { seq: record.seq, hash: record.hash };
}
