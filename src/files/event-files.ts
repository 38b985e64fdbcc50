import { closeSync, existsSync, fdatasync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import path from "node:path";
import { tempFileName, type WriterInstance } from "./inbox-names.ts";

const sync = promisify(fdatasync);

/** A file to bring into a folder. */
export interface NewFile {
  readonly name: string;
  readonly text: string;
}

/** A file whose bytes are safe under a temp name. */
export interface StagedFile {
  readonly name: string;
  readonly temp: string;
}

let sequence = 0;

/**
 * Writes files under temp names beside their places, all at once, and with `fsync` waits until every one is on the disk. Gives one
 * result a file, in order; after a fault nothing of that file is left. Small local writes are quicker done at once than handed to a
 * thread; only the waiting for the disk goes there.
 */
export async function stageFiles(folder: string, files: readonly NewFile[], writer: WriterInstance, fsync: boolean): Promise<(StagedFile | Error)[]> {
  const staged = files.map((file): { readonly file: StagedFile; readonly fd: number } | Error => {
    const temp = path.join(folder, tempFileName(writer, (sequence += 1)));
    try {
      return { file: { name: file.name, temp }, fd: writeTemp(temp, file.text, fsync) };
    } catch (error) {
      return error as Error;
    }
  });
  if (!fsync) return staged.map((entry) => (entry instanceof Error ? entry : entry.file));
  return Promise.all(
    staged.map(async (entry) => {
      if (entry instanceof Error) return entry;
      try {
        await sync(entry.fd);
        return entry.file;
      } catch (error) {
        remove(entry.file.temp);
        return error as Error;
      } finally {
        closeSync(entry.fd);
      }
    }),
  );
}

/** Gives a staged file its final name in one step. False when the name is taken: then nothing is overwritten. */
export function publishFile(folder: string, staged: StagedFile): boolean {
  const target = path.join(folder, staged.name);
  if (existsSync(target)) {
    remove(staged.temp);
    return false;
  }
  try {
    renameSync(staged.temp, target);
  } catch (error) {
    remove(staged.temp);
    throw error;
  }
  return true;
}

/** Writes a whole new file; gives its open descriptor when `keepOpen`, else 0. */
function writeTemp(temp: string, text: string, keepOpen: boolean): number {
  const fd = openSync(temp, "wx", 0o600);
  try {
    const bytes = Buffer.from(text, "utf8");
    // A nearly full disk takes part of a write without an error; the next one then says ENOSPC.
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
    if (!keepOpen) closeSync(fd);
    return keepOpen ? fd : 0;
  } catch (error) {
    try {
      closeSync(fd);
    } finally {
      remove(temp);
    }
    throw error;
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It is gone, or the folder is; clean-up at the next start finds what is left.
  }
}
