import { closeSync, constants, fdatasync, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { makeFolderSync } from "../base/make-folder.ts";
import type { AuditFile, AuditHead } from "../calls/audit.ts";
import { isCode, syncFolder } from "./atomic-write.ts";

/** Settings of the audit log on disk. */
export interface AuditFileOptions {
  /** A file that has reached this many bytes is put aside, and a new one begun. */
  readonly maxBytes: number;
}

/**
 * The audit log on disk, mode 0600. A full file is put aside as `<name>.<number of its last record>.jsonl` and its successor goes
 * on with the chain. The newest record's number and hash stand in `<name>.head`, so that a cut tail is noticed. Files are never deleted.
 */
export function openAuditFile(file: string, options: AuditFileOptions): AuditFile {
  return new RotatedAuditFile(file, options.maxBytes);
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

const datasync = promisify(fdatasync);

/**
 * Lines are written synchronously, into the system's memory, which takes microseconds; only making them durable is waited for. So a
 * line needs no queue, and none can be overtaken.
 */
class RotatedAuditFile implements AuditFile {
  readonly #file: string;
  readonly #maxBytes: number;
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

  constructor(file: string, maxBytes: number) {
    this.#file = file;
    this.#maxBytes = maxBytes;
  }

  async open(): Promise<{ lastLine: string | null; head: AuditHead | null }> {
    this.#head = readHead(await readOrEmpty(headFile(this.#file)));
    for (const one of [this.#file, ...(await rotatedFiles(this.#file)).reverse()]) {
      const text = await readOrEmpty(one);
      // A line without its newline was never promised: a crash cut it.
      const lines = text.slice(0, text.lastIndexOf("\n") + 1);
      if (one === this.#file) this.#size = Buffer.byteLength(lines, "utf8");
      const whole = lines.trimEnd();
      if (whole !== "") return { lastLine: whole.slice(whole.lastIndexOf("\n") + 1), head: this.#head };
    }
    return { lastLine: null, head: this.#head };
  }

  append(lines: string, head: AuditHead): void {
    const log = this.#openLog();
    const bytes = Buffer.from(lines, "utf8");
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(log, bytes, done);
    } catch (error) {
      this.#cutTail(log);
      this.#retire();
      throw error;
    }
    this.#size += bytes.length;
    this.#head = head;
    // A head that lags behind for a moment costs nothing but the notice of a tail that is cut in that moment.
    this.#headDue ??= setTimeout(() => this.#writeHead(), HEAD_LAG_MS).unref();
    if (this.#size >= this.#maxBytes) this.#rotate();
  }

  sync(): Promise<void> {
    if (this.#nextSync === null) {
      this.#nextSync = this.#lastSync.then(() => {
        this.#nextSync = null;
        return this.#syncAll();
      });
      this.#lastSync = this.#nextSync.catch(() => {});
    }
    return this.#nextSync;
  }

  async close(): Promise<void> {
    this.#retire();
    await this.sync().catch(() => {});
    this.#writeHead();
    if (this.#headLog !== null) closeSync(this.#headLog);
    this.#headLog = null;
  }

  #openLog(): number {
    if (this.#log !== null) return this.#log;
    makeFolderSync(path.dirname(this.#file), 0o700);
    const log = openSync(this.#file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
    try {
      // What is over the whole lines was cut by a crash or a full disk.
      const { size } = fstatSync(log);
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
      ftruncateSync(log, this.#size);
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
    if (this.#folderDue) await syncFolder(path.dirname(this.#file));
    this.#folderDue = false;
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
      if (this.#headLog !== null) closeSync(this.#headLog);
      this.#headLog = null;
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
    this.sync().catch(() => {});
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
