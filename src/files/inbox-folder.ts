import { open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import path from "node:path";
import { own } from "../base/json.ts";
import { makeFolder } from "../base/make-folder.ts";
import { inboxFolders, isReadable, parseEventFileName, parseTempFileName, sortEventNames, tempFileName } from "./inbox-names.ts";
import { thisWriter, writerState } from "./writer-instance.ts";

/** A temp file of another machine is left alone for this long: its writer may live. */
const FOREIGN_AGE_MS = 24 * 3_600_000;
/** Files read in one go to look for expired events. */
const LOOK_AT_MOST = 2000;

/** Removes temp files whose writers are dead; those of living writers stay, however old. Gives how many went. */
export async function removeDeadTemps(folder: string, nowMs: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    const writer = parseTempFileName(name);
    if (!writer) continue;
    const state = writerState(writer);
    const file = path.join(folder, name);
    const old = async (): Promise<boolean> => nowMs - (await stat(file)).mtimeMs > FOREIGN_AGE_MS;
    if (state === "alive" || (state === "foreign" && !(await old().catch(() => false)))) continue;
    await unlink(file).then(
      () => (removed += 1),
      () => {},
    );
  }
  return removed;
}

/** Makes the inbox folder where it is missing and proves that files can be made in it. Throws the system's error. */
export async function checkFolder(folder: string): Promise<void> {
  await makeFolder(folder, 0o700);
  const probe = path.join(folder, tempFileName(thisWriter(), 0));
  const handle = await open(probe, "w", 0o600);
  await handle.close();
  await unlink(probe);
}

/** Names of the events in a folder, oldest first; none when the folder is missing. */
export async function listEvents(folder: string): Promise<string[]> {
  return sortEventNames(await unsortedEvents(folder));
}

async function unsortedEvents(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).filter(isReadable);
}

/**
 * Makes room in a full inbox: expired events, then tool receipts, oldest first, go to `dead/` until `max` are left. Business events
 * stay. Gives how many events are pending afterwards, and how many were moved.
 */
export async function makeRoom(dir: string, max: number, nowMs: number): Promise<{ readonly pending: number; readonly moved: number }> {
  const folders = inboxFolders(dir);
  const found = await unsortedEvents(folders.pending);
  const excess = found.length - max;
  if (excess <= 0) return { pending: found.length, moved: 0 };
  const names = sortEventNames(found);
  const victims = new Set<string>();
  for (const name of names.slice(0, LOOK_AT_MOST)) {
    if (victims.size >= excess) break;
    if (await isExpired(path.join(folders.pending, name), nowMs)) victims.add(name);
  }
  for (const name of names) {
    if (victims.size >= excess) break;
    if (isReceipt(name)) victims.add(name);
  }
  if (victims.size > 0) await makeFolder(folders.dead, 0o700);
  let moved = 0;
  for (const name of victims) {
    // Gone means that a reader was quicker.
    await rename(path.join(folders.pending, name), path.join(folders.dead, name)).then(
      () => (moved += 1),
      () => {},
    );
  }
  await dropOldReceipts(folders.dead, max);
  return { pending: names.length - victims.size, moved };
}

/** Keeps the receipts in `dead/` from filling the disk: the oldest beyond `max` are deleted. Everything else there is for a person to look at. */
async function dropOldReceipts(dead: string, max: number): Promise<void> {
  const receipts = (await listEvents(dead)).filter(isReceipt);
  for (const name of receipts.slice(0, Math.max(0, receipts.length - max))) await unlink(path.join(dead, name)).catch(() => {});
}

function isReceipt(name: string): boolean {
  const type = parseEventFileName(name)?.type;
  return type === "tool.completed" || type === "tool.failed";
}

async function isExpired(file: string, nowMs: number): Promise<boolean> {
  try {
    const event: unknown = JSON.parse(await readFile(file, "utf8"));
    const expireAt = own(own(event, "payload"), "expire_at") ?? own(event, "expire_at");
    return typeof expireAt === "string" && Date.parse(expireAt) <= nowMs;
  } catch {
    return false;
  }
}
