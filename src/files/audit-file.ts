import { closeSync, constants, fdatasync, fstatSync, ftruncateSync, lstatSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { makeFolderSync } from "../base/make-folder.ts";
import type { AuditFile } from "../calls/audit.ts";
import type { AuditHead } from "../calls/audit-record.ts";
import { isCode, syncFolder } from "./atomic-write.ts";

/** Settings of the audit log on disk. */
export interface AuditFileOptions {
  /** A file that has reached this many bytes is put aside, and a new one begun. */
  readonly maxBytes: number;
  /** The file was found deleted or replaced while it was in use; the next record begins a new one. */
  readonly onGone?: (error: Error) => void;
}

const GONE = "the audit log was deleted or replaced while the host wrote to it; records are missing from it";

/**
 * The audit log on disk, mode 0600. A file that is deleted or replaced under the host is begun anew, and what was put in its place is
 * kept as `<name>.replaced-<number of the last record>`. A full file is put aside as `<name>.<number of its last record>.jsonl` and its successor goes
 * on with the chain. The newest record's number and hash stand in `<name>.head`, so that a cut tail is noticed. Files are never deleted.
 */
export function openAuditFile(file: string, options: AuditFileOptions): AuditFile {
  return new RotatedAuditFile(file, options);
}

/** All lines of a log, oldest first, with the rotated files, and the head that was kept apart. For `audit verify`. */
export async function readAudit(file: string): Promise<{ readonly lines: string[]; readonly files: string[]; readonly head: AuditHead | null }> {
  const files = [...(await rotatedFiles(file)), file];
  const lines: string[] = [];
  for (const one of files) {
    const text = await readOrEmpty(one);
    if (text !== "") lines.push(...(text.endsWith("\n") ? text.slice(0, -1) : text).split("\n"));
  }
  return { lines, files, head: readHead(await readOrEmpty(headFile(file))) };
}

/** So far the head that is kept apart may lag behind records that nothing waits for. */
const HEAD_LAG_MS = 100;
const LOOK_EVERY_MS = 1000;
/** How much of the end of a log is shown when it is opened. */
const SHOWN_CHARS = 4 * 1024 * 1024;

const datasync = (fd: number): Promise<void> => new Promise((resolve, reject) => fdatasync(fd, (error) => (error ? reject(error) : resolve())));

/**
 * Lines are written synchronously, into the system's memory, which takes microseconds; only making them durable is waited for. So a
 * line needs no queue, and none can be overtaken.
 */
class RotatedAuditFile implements AuditFile {
  readonly #file: string;
  readonly #options: AuditFileOptions;
  #log: number | null = null;
  #headLog: number | null = null;
  /** Files that are written to no more, and wait to be synced and closed. */
  #retired: number[] = [];
  /** Bytes of whole lines in the file. */
  #size = 0;
  /** A file was made or renamed, which its folder must remember. */
  #folderDue = false;
  #head: AuditHead | null = null;
  #headDue: NodeJS.Timeout | null = null;
  /** The sync that has not begun yet, and the end of the one that runs. */
  #nextSync: Promise<void> | null = null;
  #lastSync: Promise<void> = Promise.resolve();
  /** Up to this record some may not be on the disk, for a sync failed; a later one that succeeds says nothing of them. */
  #lost: { readonly seq: number; readonly error: unknown } | null = null;
  /** Whether the file's name still leads to what is written; looked at now and then, and whenever a record must be durable. */
  #lookDue = 0;
  #closed = false;

  constructor(file: string, options: AuditFileOptions) {
    this.#file = file;
    this.#options = options;
  }

  async open(): Promise<{ lines: string; head: AuditHead | null }> {
    this.#head = readHead(await readOrEmpty(headFile(this.#file)));
    for (const one of [this.#file, ...(await rotatedFiles(this.#file)).reverse()]) {
      const text = await readOrEmpty(one);
      // A line without its newline was never promised: a crash cut it.
      const lines = text.slice(0, text.lastIndexOf("\n") + 1);
      if (one === this.#file) this.#size = Buffer.byteLength(lines, "utf8");
      if (lines.trimEnd() === "") continue;
      // From the beginning of a line.
      const from = lines.length <= SHOWN_CHARS ? 0 : lines.indexOf("\n", lines.length - SHOWN_CHARS) + 1;
      return { lines: lines.slice(from), head: this.#head };
    }
    return { lines: "", head: this.#head };
  }

  append(lines: string, head: AuditHead): void {
    if (this.#closed) throw new Error("the audit log is closed");
    if (performance.now() >= this.#lookDue) this.#look();
    const log = this.#openLog();
    const size = Buffer.byteLength(lines, "utf8");
    try {
      let done = writeSync(log, lines);
      if (done < size) for (const bytes = Buffer.from(lines, "utf8"); done < size;) done += writeSync(log, bytes, done);
    } catch (error) {
      this.#cutTail(log);
      this.#retire();
      throw error;
    }
    this.#size += size;
    this.#head = head;
    // A head that lags behind for a moment costs nothing but the notice of a tail that is cut in that moment.
    this.#headDue ??= setTimeout(() => this.#writeHead(), HEAD_LAG_MS).unref();
    if (this.#size >= this.#options.maxBytes) this.#rotate();
  }

  async sync(seq: number): Promise<void> {
    this.#nextSync ??= this.#beginSync();
    await this.#nextSync;
    if (this.#lost !== null && seq <= this.#lost.seq) throw this.#lost.error;
    if (this.#look()) throw new Error(GONE);
  }

  /** Begins when the one that runs has ended. Never rejects: what it could not make durable is noted. */
  #beginSync(): Promise<void> {
    const sync = this.#lastSync.then(async () => {
      this.#nextSync = null;
      try {
        await this.#syncAll();
      } catch (error) {
        this.#lost = { seq: this.#head?.seq ?? 0, error };
      }
    });
    return (this.#lastSync = sync);
  }

  /**
   * Sees whether the file's name still leads to the open file. Where it was deleted the next record makes it anew; what somebody put in
   * its place is put aside. Gives whether it was gone.
   */
  #look(): boolean {
    this.#lookDue = performance.now() + LOOK_EVERY_MS;
    if (this.#log === null) return false;
    const there = lstatSync(this.#file, { throwIfNoEntry: false });
    const open = fstatSync(this.#log);
    if (there !== undefined && there.ino === open.ino && there.dev === open.dev) return false;
    if (there?.isSymbolicLink() === true && statSync(this.#file, { throwIfNoEntry: false })?.ino === open.ino) return false;
    if (there !== undefined) renameSync(this.#file, `${this.#file}.replaced-${this.#head?.seq ?? 0}`);
    this.#retire();
    this.#size = 0;
    // It went with the log, most likely; where it did not, opening it anew does no harm.
    this.#closeHead();
    this.#options.onGone?.(new Error(GONE));
    return true;
  }

  async close(): Promise<void> {
    this.#retire();
    await (this.#nextSync ??= this.#beginSync());
    this.#closed = true;
    this.#writeHead();
    this.#closeHead();
  }

  #closeHead(): void {
    if (this.#headLog !== null) closeSync(this.#headLog);
    this.#headLog = null;
  }

  #openLog(): number {
    if (this.#log !== null) return this.#log;
    makeFolderSync(path.dirname(this.#file), 0o700);
    const log = openSync(this.#file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NONBLOCK, 0o600);
    try {
      const info = fstatSync(log);
      if (!info.isFile()) throw new Error(`${this.#file} is not a file`);
      // What is over the whole lines was cut by a crash or a full disk.
      const { size } = info;
      if (size > this.#size) ftruncateSync(log, this.#size);
      else this.#size = size;
    } catch (error) {
      closeSync(log);
      throw error;
    }
    this.#folderDue = true;
    return (this.#log = log);
  }

  /** Takes away what was written of a line. Where even that fails, the next opening does it. */
  #cutTail(log: number): void {
    try {
      if (fstatSync(log).size > this.#size) ftruncateSync(log, this.#size);
    } catch {
      // The disk is faulty, and that is being told.
    }
  }

  /** The next line opens the file anew. */
  #retire(): void {
    if (this.#log !== null) this.#retired.push(this.#log);
    this.#log = null;
  }

  async #syncAll(): Promise<void> {
    const retired = this.#retired;
    this.#retired = [];
    try {
      for (const fd of this.#log === null ? retired : [...retired, this.#log]) await datasync(fd);
    } finally {
      for (const fd of retired) closeSync(fd);
    }
    if (this.#folderDue) {
      this.#folderDue = false;
      try {
        await syncFolder(path.dirname(this.#file));
      } catch (error) {
        this.#folderDue = true;
        throw error;
      }
    }
    this.#writeHead();
    if (this.#headLog !== null) await datasync(this.#headLog).catch(() => {});
  }

  /** One short line, written over in place: the record is in the log already, so a fault here costs nothing but the notice of a cut tail. */
  #writeHead(): void {
    if (this.#headDue !== null) clearTimeout(this.#headDue);
    this.#headDue = null;
    if (this.#head === null) return;
    try {
      this.#headLog ??= openSync(headFile(this.#file), constants.O_RDWR | constants.O_CREAT, 0o600);
      writeSync(this.#headLog, `${String(this.#head.seq).padStart(15, "0")} ${this.#head.hash}\n`, 0);
    } catch {
      this.#closeHead();
    }
  }

  /** A fault here leaves a file that is too long, and the next line tries again. */
  #rotate(): void {
    try {
      renameSync(this.#file, rotatedName(this.#file, this.#head!.seq));
    } catch {
      return;
    }
    this.#retire();
    this.#folderDue = true;
    this.#size = 0;
    this.#nextSync ??= this.#beginSync();
  }
}

function headFile(file: string): string {
  return `${file}.head`;
}

function stem(file: string): string {
  return path.basename(file).replace(/\.jsonl$/, "");
}

function rotatedName(file: string, seq: number): string {
  return path.join(path.dirname(file), `${stem(file)}.${String(seq).padStart(15, "0")}.jsonl`);
}

async function rotatedFiles(file: string): Promise<string[]> {
  const names = await readdir(path.dirname(file)).catch(() => [] as string[]);
  const start = `${stem(file)}.`;
  return names
    .filter((name) => name.startsWith(start) && /^\d{15}\.jsonl$/.test(name.slice(start.length)))
    .sort()
    .map((name) => path.join(path.dirname(file), name));
}

async function readOrEmpty(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return "";
    throw error;
  }
}

function readHead(text: string): AuditHead | null {
  const match = /^(\d{15}) ([0-9a-f]{64})\n$/.exec(text);
  return match ? { seq: Number(match[1]), hash: match[2]! } : null;
}
