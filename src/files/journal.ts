import { constants } from "node:fs";
import { open, readFile, stat, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "../base/make-folder.ts";
import type { Journal } from "../runtime/ports.ts";
import { isCode, syncFolder, writeFileAtomic } from "./atomic-write.ts";

interface PendingRecord {
  readonly line: string;
  readonly durable: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Opens an append-only file of JSON records, one a line, mode 0600. Appends made while a write runs go out together with one sync
 * (group commit). A torn last line, left by a crash, is cut off before the next append; a failed write leaves the file as it was.
 * A file that is deleted, moved or replaced while it is open is written anew, with all that stood in it, before the next append.
 * Lines in between that are no JSON are skipped and told to `onBadLine`.
 */
export function openJournal<T>(file: string, options: { readonly onBadLine?: (line: number) => void } = {}): Journal<T> {
  return new FileJournal<T>(file, options.onBadLine ?? (() => {}));
}

class FileJournal<T> implements Journal<T> {
  readonly #file: string;
  readonly #onBadLine: (line: number) => void;
  #handle: FileHandle | null = null;
  /** Bytes in the file before the write that is under way. */
  #size = 0;
  /** Records that go out with the next write; null when none is waiting for its turn. */
  #batch: PendingRecord[] | null = null;
  /** Everything that touches the file runs in turn, at the end of this chain. */
  #chain: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(file: string, onBadLine: (line: number) => void) {
    this.#file = file;
    this.#onBadLine = onBadLine;
  }

  async read(): Promise<T[]> {
    return this.#inTurn(async () => {
      const text = await readFile(this.#file, "utf8").catch((error: unknown) => {
        if (isCode(error, "ENOENT")) return "";
        throw error;
      });
      const records: T[] = [];
      const lines = text.split("\n");
      for (const [index, line] of lines.entries()) {
        if (line.trim() === "") continue;
        try {
          records.push(JSON.parse(line) as T);
        } catch {
          if (index < lines.length - 1) this.#onBadLine(index + 1);
        }
      }
      return records;
    });
  }

  append(record: T, durable: boolean): Promise<void> {
    if (this.#closed) return Promise.reject(new Error(`${this.#file} is closed`));
    const line = `${JSON.stringify(record)}\n`;
    return new Promise((resolve, reject) => {
      const record = { line, durable, resolve, reject };
      if (this.#batch) {
        this.#batch.push(record);
        return;
      }
      const batch = (this.#batch = [record]);
      void this.#inTurn(() => this.#flush(batch));
    });
  }

  rewrite(records: readonly T[]): Promise<void> {
    if (this.#closed) return Promise.reject(new Error(`${this.#file} is closed`));
    // What is appended from now on comes after the new content.
    this.#batch = null;
    return this.#inTurn(async () => {
      await this.#release();
      await writeFileAtomic(this.#file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
      // Kept open, so that its content is not lost with its name.
      await this.#open();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#inTurn(() => this.#release());
  }

  #inTurn<R>(step: () => Promise<R>): Promise<R> {
    const result = this.#chain.then(step);
    this.#chain = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  /** Never rejects: faults go to those who appended. */
  async #flush(batch: readonly PendingRecord[]): Promise<void> {
    if (this.#batch === batch) this.#batch = null;
    try {
      const handle = await this.#open();
      const bytes = Buffer.from(batch.map((record) => record.line).join(""), "utf8");
      try {
        await handle.appendFile(bytes);
        if (batch.some((record) => record.durable)) await handle.datasync();
      } catch (error) {
        // Part of the batch may be in the file; none of it was promised.
        await handle.truncate(this.#size).catch(() => {});
        await this.#release();
        throw error;
      }
    } catch (error) {
      for (const record of batch) record.reject(error);
      return;
    }
    for (const record of batch) record.resolve();
  }

  async #open(): Promise<FileHandle> {
    if (this.#handle) {
      const { dev, ino, size } = await this.#handle.stat();
      this.#size = size;
      const there = await stat(this.#file).catch(() => null);
      if (there !== null && there.ino === ino && there.dev === dev) return this.#handle;
      // What is written to a file without its name would be lost without a word; what stands in it still counts for whoever wrote it.
      await writeFileAtomic(this.#file, await contentOf(this.#handle, size));
      await this.#release();
    }
    const folder = path.dirname(this.#file);
    await makeFolder(folder, 0o700);
    const handle = await open(this.#file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
    try {
      this.#size = await mendTail(handle);
      await syncFolder(folder);
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#handle = handle;
    return handle;
  }

  async #release(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }
}

async function contentOf(handle: FileHandle, size: number): Promise<Buffer> {
  const content = Buffer.alloc(size);
  let done = 0;
  while (done < size) {
    const { bytesRead } = await handle.read(content, done, size - done, done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return content.subarray(0, done);
}

/** Makes the file end with a whole line: cuts off what a crash left half-written, or ends a whole record that lacks its newline. Gives the size. */
async function mendTail(handle: FileHandle): Promise<number> {
  const { size } = await handle.stat();
  const chunk = 64 * 1024;
  let tail = Buffer.alloc(0);
  let start = size;
  while (start > 0 && !tail.includes(0x0a)) {
    const length = Math.min(chunk, start);
    const piece = Buffer.alloc(length);
    const { bytesRead } = await handle.read(piece, 0, length, start - length);
    start -= length;
    tail = Buffer.concat([piece.subarray(0, bytesRead), tail]);
  }
  const lastNewline = tail.lastIndexOf(0x0a);
  const rest = tail.subarray(lastNewline + 1);
  if (rest.length === 0) return size;
  try {
    JSON.parse(rest.toString("utf8"));
    await handle.appendFile("\n");
    return size + 1;
  } catch {
    await handle.truncate(size - rest.length);
    return size - rest.length;
  }
}
