import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rename, type FileHandle } from "node:fs/promises";
import path from "node:path";
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

class RotatedAuditFile implements AuditFile {
  readonly #file: string;
  readonly #maxBytes: number;
  #log: FileHandle | null = null;
  #head: FileHandle | null = null;
  #size = 0;
  #lastSeq = 0;

  constructor(file: string, maxBytes: number) {
    this.#file = file;
    this.#maxBytes = maxBytes;
  }

  async open(): Promise<{ lastLine: string | null; head: AuditHead | null }> {
    const head = readHead(await readOrEmpty(headFile(this.#file)));
    this.#lastSeq = head?.seq ?? 0;
    for (const one of [this.#file, ...(await rotatedFiles(this.#file)).reverse()]) {
      const text = await readOrEmpty(one);
      // A line without its newline was never promised: a crash cut it.
      const whole = text.slice(0, text.lastIndexOf("\n") + 1).trimEnd();
      if (whole !== "") return { lastLine: whole.slice(whole.lastIndexOf("\n") + 1), head };
    }
    return { lastLine: null, head };
  }

  async append(text: string, head: AuditHead, durable: boolean): Promise<void> {
    const log = await this.#openLog();
    const bytes = Buffer.from(text, "utf8");
    try {
      await log.appendFile(bytes);
      if (durable) await log.datasync();
    } catch (error) {
      await log.truncate(this.#size).catch(() => {});
      await this.close();
      throw error;
    }
    this.#size += bytes.length;
    this.#lastSeq = head.seq;
    await this.#writeHead(head, durable);
    if (this.#size >= this.#maxBytes) await this.#rotate();
  }

  async close(): Promise<void> {
    const handles = [this.#log, this.#head];
    this.#log = null;
    this.#head = null;
    for (const handle of handles) await handle?.close().catch(() => {});
  }

  async #openLog(): Promise<FileHandle> {
    if (this.#log) return this.#log;
    const folder = path.dirname(this.#file);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const handle = await open(this.#file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
    try {
      const text = await handle.readFile("utf8");
      this.#size = Buffer.byteLength(text.slice(0, text.lastIndexOf("\n") + 1), "utf8");
      await handle.truncate(this.#size);
      await syncFolder(folder);
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#log = handle;
    return handle;
  }

  /** One short line, written over in place: the record is in the log already, so a fault here costs nothing but the notice of a cut tail. */
  async #writeHead(head: AuditHead, durable: boolean): Promise<void> {
    try {
      this.#head ??= await open(headFile(this.#file), constants.O_RDWR | constants.O_CREAT, 0o600);
      await this.#head.write(`${String(head.seq).padStart(15, "0")} ${head.hash}\n`, 0);
      if (durable) await this.#head.datasync();
    } catch {
      await this.#head?.close().catch(() => {});
      this.#head = null;
    }
  }

  /** A fault here leaves a file that is too long, and the next append tries again. */
  async #rotate(): Promise<void> {
    try {
      await this.#log?.datasync();
      await rename(this.#file, rotatedName(this.#file, this.#lastSeq));
      await this.#log?.close();
      this.#log = null;
      this.#size = 0;
      await syncFolder(path.dirname(this.#file));
    } catch {
      // Nothing was lost: the lines are in the file that was to be put aside.
    }
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
