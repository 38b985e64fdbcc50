import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, realpath, rename, unlink, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "../base/make-folder.ts";

/** How a file is replaced. */
export interface AtomicWriteOptions {
  /** Mode of the new file; default 0600. */
  readonly mode?: number;
  /** Whether file and folder are on the disk before the promise resolves; default true. */
  readonly fsync?: boolean;
}

/**
 * Replaces a file as a whole: readers see the old content or the new, never a part, also after a crash. A symbolic link keeps
 * pointing where it did; its target is replaced. Creates missing folders. On any fault (a full disk, say) the old file stays, no temp
 * file is left, and the error is thrown.
 */
export async function writeFileAtomic(file: string, content: string | Uint8Array, options: AtomicWriteOptions = {}): Promise<void> {
  const fsync = options.fsync ?? true;
  const target = await realpath(file).catch(() => path.resolve(file));
  const folder = path.dirname(target);
  await makeFolder(folder, 0o700);
  const temp = path.join(folder, `.${path.basename(target).slice(0, 100)}.${process.pid}-${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeNewFile(temp, content, { mode: options.mode ?? 0o600, fsync });
    await rename(temp, target);
  } catch (error) {
    await unlink(temp).catch(() => {});
    throw error;
  }
  if (fsync) await syncFolder(folder);
}

/** Writes a file that must not exist yet (never through a link), whole, and with `fsync` onto the disk. Removes it again when that fails. */
export async function writeNewFile(file: string, content: string | Uint8Array, options: { readonly mode: number; readonly fsync: boolean }): Promise<void> {
  const handle = await open(file, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, options.mode);
  try {
    await fill(handle, content, options.fsync);
  } catch (error) {
    await unlink(file).catch(() => {});
    throw error;
  }
}

async function fill(handle: FileHandle, content: string | Uint8Array, fsync: boolean): Promise<void> {
  try {
    // writeFile goes on after short writes until all bytes are out, or throws.
    await handle.writeFile(content);
    if (fsync) await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes renames and new names in a folder survive a power cut, where the system can (Windows cannot open a folder). */
export async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await open(folder, constants.O_RDONLY);
  } catch (error) {
    if (process.platform === "win32") return;
    throw error;
  }
  try {
    await handle.sync();
  } catch (error) {
    // Some network file systems cannot sync a folder and say so; there is nothing more to do then.
    if (!isCode(error, "EINVAL", "ENOTSUP", "EPERM", "EISDIR")) throw error;
  } finally {
    await handle.close();
  }
}

/** Whether an error is a system error with one of these codes. */
export function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? "");
}
