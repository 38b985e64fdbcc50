import { open, readFile, stat, unlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { ToolsLock } from "../../generated/tools-lock.d.ts";
import { EMPTY_LOCK, readLock, writeLock } from "../tools/lock.ts";
import { isCode, writeFileAtomic } from "./atomic-write.ts";

/** How long one writer waits for another, and after what age a lock that nobody gave back is taken over. */
const WAIT_MS = 10_000;
const STALE_MS = 30_000;

/** topology/tools.lock.json on the disk. */
export interface LockFile {
  /** The lock as it stands; an empty one when there is no file. Throws, naming the file, when it cannot be used: then nothing counts as accepted. */
  read(): Promise<ToolsLock>;
  /** Reads, changes and replaces the file in one step, so that of several writers none loses the work of another. Gives the new lock. */
  update(change: (lock: ToolsLock) => ToolsLock): Promise<ToolsLock>;
}

/** Opens the lock file; nothing is touched until it is used. */
export function openLockFile(file: string): LockFile {
  const read = async (): Promise<{ lock: ToolsLock; text: string }> => {
    let text: string;
    try {
      text = await readFile(file, "utf8");
    } catch (error) {
      if (isCode(error, "ENOENT")) return { lock: EMPTY_LOCK, text: "" };
      throw error;
    }
    const result = readLock(text);
    if (!result.ok) throw new Error(`${file} cannot be used: ${result.reason}`);
    return { lock: result.lock, text };
  };
  return {
    read: async () => (await read()).lock,
    update: (change) =>
      withGuard(`${file}.guard`, file, async () => {
        const { lock, text } = await read();
        const next = change(lock);
        const out = writeLock(next);
        if (out !== text) await writeFileAtomic(file, out, { mode: 0o644 });
        return next;
      }),
  };
}

/** Runs a step while holding a guard file that only one process can create. */
async function withGuard<R>(guard: string, file: string, step: () => Promise<R>): Promise<R> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    try {
      const handle = await open(guard, "wx", 0o600);
      await handle.writeFile(`${process.pid}\n`);
      await handle.close();
      break;
    } catch (error) {
      if (!isCode(error, "EEXIST")) throw error;
    }
    if (await isStale(guard)) await unlink(guard).catch(() => {});
    else if (performance.now() > deadline) throw new Error(`${file} is being written by another process (${guard} exists)`);
    else await delay(20 + Math.random() * 30);
  }
  try {
    return await step();
  } finally {
    await unlink(guard).catch(() => {});
  }
}

/** A guard is left over when its process is gone, or when it is older than any write takes. */
async function isStale(guard: string): Promise<boolean> {
  try {
    const age = Date.now() - (await stat(guard)).mtimeMs;
    if (age > STALE_MS) return true;
    const pid = Number.parseInt(await readFile(guard, "utf8"), 10);
    if (!Number.isInteger(pid) || pid === process.pid) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return isCode(error, "ESRCH");
  }
}
