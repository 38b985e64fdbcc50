import type * as NodeFs from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { envelope, eventFiles, testFolder, testInbox, until } from "./support/inbox.ts";

/** How many more bytes the disk takes before it is full. */
const disk = vi.hoisted(() => ({ left: Infinity, code: "ENOSPC" }));
/** The code with which opening any file fails, and how often it did. */
const opening = vi.hoisted(() => ({ code: null as string | null, failed: 0 }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof NodeFs>();
  const writeSync = (fd: number, bytes: Buffer, offset: number): number => {
    const size = Math.min(bytes.length - offset, disk.left);
    // As the system does it: a short count first, the error only when nothing fits any more.
    if (size === 0) throw Object.assign(new Error("no space left on device, write"), { code: disk.code });
    disk.left -= size;
    return fs.writeSync(fd, bytes, offset, size);
  };
  const openSync: typeof fs.openSync = (file, ...rest) => {
    if (opening.code === null) return fs.openSync(file, ...rest);
    opening.failed += 1;
    throw Object.assign(new Error(`${opening.code}: some words, open '${String(file)}'`), { code: opening.code, syscall: "open" });
  };
  const ours = { ...fs, writeSync, openSync };
  return { ...ours, default: ours };
});

test.each([
  ["ENOSPC", "full"],
  ["EDQUOT", "full"],
  ["EROFS", "read-only"],
  ["EACCES", "permission denied"],
])("%s in the middle of a file: no part of it is seen, and the whole event appears once when there is room", async (code, words) => {
  const dir = await testFolder();
  const inbox = await testInbox(dir);
  disk.left = 1024;
  disk.code = code;
  const event = envelope({ data: { text: "x".repeat(3000) } });
  const put = inbox.put(event, "normal");
  await until(() => inbox.stats().degraded !== null);
  expect(inbox.stats().degraded).toContain(words);
  expect((await readdir(dir)).filter((n) => n !== ".ledger.jsonl")).toEqual([]);
  disk.left = Infinity;
  expect(await put).toBe("written");
  const names = await eventFiles(dir);
  expect(names).toHaveLength(1);
  expect(JSON.parse(await readFile(path.join(dir, names[0]!), "utf8"))).toEqual(event);
  expect(inbox.stats()).toMatchObject({ degraded: null, written: 1, queued: 0 });
});

test("the reason is told once for as long as it stays, again when it changes, and never with the name of a temp file", async () => {
  const dir = await testFolder();
  const inbox = await testInbox(dir);
  const failures = async (more: number): Promise<void> => {
    const enough = opening.failed + more;
    await until(() => opening.failed >= enough);
  };
  opening.code = "EIO";
  const put = inbox.put(envelope(), "normal");
  await failures(3);
  expect(inbox.stats().degraded).toBe(`${dir}: EIO: some words`);
  opening.code = "ENOENT";
  await failures(2);
  opening.code = null;
  expect(await put).toBe("written");
  expect(inbox.problems).toEqual([
    `inbox degraded: ${dir}: EIO: some words; events wait in memory and are tried again`,
    `inbox degraded: ${dir} is not there and cannot be made; events wait in memory and are tried again`,
    "inbox works again",
  ]);
});
