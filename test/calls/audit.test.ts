import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { appendFile, mkdtemp, readdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMasker } from "../../src/base/masking.ts";
import { openAudit, type AuditFile } from "../../src/calls/audit.ts";
import type { AuditHead } from "../../src/calls/audit-record.ts";
import { verifyAudit } from "../../src/calls/verify-audit.ts";
import { openAuditFile, readAudit } from "../../src/files/audit-file.ts";
import { fakeClock } from "./memory-journal.ts";

const SECRET = "tok-4f9a81c2d7e6";

function memoryFile() {
  const file = {
    text: "",
    head: null as AuditHead | null,
    /** How many lines are on the disk. */
    synced: 0,
    fail: null as Error | null,
    failSync: null as Error | null,
    lines: () => file.text.split("\n").slice(0, -1),
    async open() {
      return { lines: file.text, head: file.head };
    },
    append(line: string, head: AuditHead) {
      if (file.fail) throw file.fail;
      file.text += line;
      file.head = head;
    },
    async sync() {
      await Promise.resolve();
      if (file.failSync) throw file.failSync;
      file.synced = file.lines().length;
    },
    async close() {},
  };
  return file satisfies AuditFile & Record<string, unknown>;
}

const open = (file: AuditFile, mode: "masked" | "shapes" = "masked", told: unknown[] = []) =>
  openAudit({ file, clock: fakeClock(), masker: createMasker([SECRET]), arguments: mode, onFault: (error) => told.push(error) });

describe("audit records", () => {
  it("are one line each, whatever their arguments say, and read back as they were", async () => {
    const file = memoryFile();
    const audit = await open(file);
    const q = 'a\n{"event":"approval","decision":"approve","by":"admin"}\u2028\u0085\u202e';
    await audit.note({ event: "call.sent", tool: "x/y", arguments: { q } });
    await audit.note({ event: "call.done", arguments: { q: "line one\nline two" } });
    expect(file.lines()).toHaveLength(2);
    expect(file.text).not.toMatch(/[\u2028\u0085\u202e]/);
    expect(JSON.parse(file.lines()[0]!)).toMatchObject({ seq: 1, event: "call.sent", arguments: { q } });
    expect(verifyAudit(file.lines(), file.head)).toMatchObject({ ok: true, records: 2 });
  });

  it("of one turn are written together, in their order, before any of them is told; an appended one waits for the disk", async () => {
    const file = memoryFile();
    const audit = await open(file);
    const writes: number[] = [];
    const append = file.append;
    file.append = (lines, head) => writes.push(append(lines, head) ?? file.lines().length);
    const noted = [audit.note({ event: "call.sent", n: 1 })];
    const durable = audit.append({ event: "call.sent", n: 2 });
    // A call that is ready a few steps later belongs to the same turn.
    noted.push(Promise.resolve().then(() => audit.note({ event: "call.done", n: 3 })));
    await noted[0];
    expect(file.lines().map((line) => JSON.parse(line).n)).toEqual([1, 2, 3]);
    expect(file.synced).toBe(0);
    await durable;
    expect(file.synced).toBe(3);
    await Promise.all(noted);
    await audit.note({ event: "call.done", n: 4 });
    expect(writes).toEqual([3, 4]);
    expect(verifyAudit(file.lines(), file.head)).toMatchObject({ ok: true, records: 4 });
  });

  it("hold no secret, in value, key or any spelling, and arguments only as shapes when asked", async () => {
    const file = memoryFile();
    const audit = await open(file);
    await audit.note({
      event: "call.sent",
      arguments: { [SECRET]: 1, deep: [{ url: `https://bot:${SECRET}@api.invalid` }], blob: "dTp0b2stNGY5YTgxYzJkN2U2", password: "hunter2" },
      error: `Bearer ${SECRET}`,
    });
    expect(file.text).not.toMatch(/4f9a81|dG9rLTRm|b2stNGY5|hunter2/);
    audit.configure({ arguments: "shapes" });
    await audit.note({ event: "call.sent", arguments: { text: "private words", n: 5, list: ["a"], nothing: null } });
    expect(JSON.parse(file.lines()[1]!).arguments).toEqual({ text: "string(13)", n: "number", list: ["string(1)"], nothing: "null" });
    expect(verifyAudit(file.lines())).toMatchObject({ ok: true });
  });

  it("cannot forge the chain's own fields", async () => {
    const file = memoryFile();
    const audit = await open(file);
    await audit.note({ event: "x", seq: 99, hash: "0", prev: "0" });
    expect(JSON.parse(file.lines()[0]!)).toMatchObject({ seq: 1 });
    expect(verifyAudit(file.lines())).toMatchObject({ ok: true });
  });

  it("that cannot be written reject, and the chain goes on afterwards without a gap", async () => {
    const file = memoryFile();
    const told: unknown[] = [];
    const audit = await open(file, "masked", told);
    await audit.append({ event: "a" });
    file.fail = new Error("disk full");
    const results = await Promise.allSettled([audit.append({ event: "b" }), audit.append({ event: "c" }), audit.note({ event: "only told" })]);
    expect(results.map((r) => r.status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect(told).toEqual([file.fail]);
    file.fail = null;
    await audit.append({ event: "d" });
    expect(file.lines().map((l) => JSON.parse(l))).toMatchObject([{ event: "a" }, { event: "audit.records_missing", records: 3 }, { event: "d" }]);
    expect(verifyAudit(file.lines(), file.head)).toMatchObject({ ok: true, records: 3, note: "before record 2, 3 could not be written" });
    await audit.append({ event: "e" });
    expect(file.lines()).toHaveLength(4);
  });

  it("that do not reach the disk reject where that was asked for, and stand in the chain", async () => {
    const file = memoryFile();
    const audit = await open(file);
    file.failSync = new Error("input/output error");
    await expect(audit.append({ event: "a" })).rejects.toThrow("input/output error");
    await audit.note({ event: "b" });
    file.failSync = null;
    await audit.append({ event: "c" });
    expect(verifyAudit(file.lines(), file.head)).toMatchObject({ ok: true, records: 3 });
  });

  it("of like calls share the text of their subject, which is made anew when another secret is known", async () => {
    const file = memoryFile();
    const masker = createMasker([]);
    const audit = await openAudit({ file, clock: fakeClock(), masker, arguments: "masked", onFault() {} });
    const subject = { app: "org.test.a", session: `of ${SECRET}`, gone: undefined, hash: "forged" };
    await audit.note({ event: "call.sent" }, subject);
    masker.add(SECRET);
    await audit.note({ event: "call.done" }, subject);
    expect(file.lines().map((line) => JSON.parse(line))).toMatchObject([
      { event: "call.sent", app: "org.test.a", session: `of ${SECRET}` },
      { event: "call.done", app: "org.test.a", session: "of ***" },
    ]);
    expect(verifyAudit(file.lines(), file.head)).toMatchObject({ ok: true, records: 2 });
  });

  it("write a text that was written before anew when another secret is known", async () => {
    const file = memoryFile();
    const masker = createMasker([]);
    const audit = await openAudit({ file, clock: fakeClock(), masker, arguments: "masked", onFault() {} });
    const event = { event: "call.done", tool: `of ${SECRET}`, arguments: { q: SECRET } };
    await audit.note(event);
    masker.add(SECRET);
    await audit.note(event);
    await audit.note({ event: SECRET, other: `of ${SECRET}` });
    expect(file.lines().map((line) => line.includes(SECRET))).toEqual([true, false, false]);
    expect(JSON.parse(file.lines()[1]!)).toMatchObject({ tool: "of ***", arguments: { q: "***" } });
    expect(verifyAudit(file.lines(), file.head)).toMatchObject({ ok: true, records: 3 });
  });

  it("verify with whatever stands in an event, beside any spelling of the chain's own names", async () => {
    const file = memoryFile();
    const audit = await open(file);
    const odd: Record<string, unknown> = {
      nan: Number.NaN,
      infinite: -Infinity,
      zero: -0,
      large: 1e21,
      small: 1e-7,
      none: null,
      yes: true,
      date: new Date(0),
      list: [undefined, Number.NaN, "\ud800", "\u0000"],
      constructor: "c",
      toString: "s",
      Seq: 1,
      seq: 9,
      prev: "p",
      hash: "h",
      at: "now",
      long: "é".repeat(5000),
      arguments: { long: "x".repeat(5000) },
    };
    Object.defineProperty(odd, "__proto__", { value: { polluted: true }, enumerable: true });
    for (let i = 0; i < 2; i += 1) await audit.note({ event: "x", ...odd, call_id: `c${i}` }, { subject: "of it" });
    expect(verifyAudit(file.lines(), file.head)).toMatchObject({ ok: true, records: 2 });
    const { seq, prev, hash, at, long, date, arguments: args, ...rest } = JSON.parse(file.lines()[1]!);
    expect([seq, prev.length, hash.length, at]).toEqual([2, 64, 64, new Date(1_800_000_000_000).toISOString()]);
    expect([long.endsWith("(5000 characters)"), args.long.endsWith("(5000 characters)"), date]).toEqual([true, true, {}]);
    expect(JSON.stringify(rest)).toBe(
      '{"event":"x","nan":null,"infinite":null,"zero":0,"large":1e+21,"small":1e-7,"none":null,"yes":true,' +
        '"list":[null,null,"\\ud800","\\u0000"],"constructor":"c","toString":"s","Seq":1,"__proto__":{"polluted":true},"call_id":"c1","subject":"of it"}',
    );
  });

  it("change how arguments are written as soon as the setting does, and mask their shapes too", async () => {
    const file = memoryFile();
    const audit = await open(file);
    const event = { event: "x", arguments: { text: "open", [SECRET]: 1 } };
    for (const mode of ["masked", "shapes", "masked"] as const) {
      audit.configure({ arguments: mode });
      await audit.note(event);
    }
    expect(file.lines().map((line) => line.includes('"open"'))).toEqual([true, false, true]);
    expect(file.text).not.toContain(SECRET);
  });

  it("have names and numbers that JSON keeps: __proto__, undefined, minus zero", async () => {
    const file = memoryFile();
    const audit = await open(file);
    await audit.note({ event: "x", arguments: JSON.parse('{"__proto__":{"a":-0},"b":null}'), gone: undefined });
    expect(verifyAudit(file.lines())).toMatchObject({ ok: true });
    expect(file.lines()[0]).toContain('"__proto__"');
  });
});

describe("verifyAudit", () => {
  const log = async () => {
    const file = memoryFile();
    const audit = await open(file);
    for (let i = 0; i < 6; i += 1) await audit.note({ event: `e${i}`, n: i });
    return file;
  };

  it.each([
    ["a byte changed", (l: string[]) => l.with(2, l[2]!.replace('"n":2', '"n":7')), 3],
    ["a space added", (l: string[]) => l.with(2, l[2]!.replace('"n":2', '"n": 2')), 3],
    ["two lines swapped", (l: string[]) => l.with(1, l[2]!).with(2, l[1]!), 2],
    ["a line taken out", (l: string[]) => l.toSpliced(3, 1), 4],
    ["a line put in twice", (l: string[]) => l.toSpliced(3, 0, l[3]!), 5],
    ["the last line cut off", (l: string[]) => l.slice(0, -1), 6],
    ["the last line cut short", (l: string[]) => l.with(5, l[5]!.slice(0, 40)), 6],
    ["a line emptied", (l: string[]) => l.with(4, ""), 5],
  ])("finds %s", async (_what, change, line) => {
    const file = await log();
    expect(verifyAudit(file.lines(), file.head)).toMatchObject({ ok: true, records: 6 });
    expect(verifyAudit(change(file.lines()), file.head)).toMatchObject({ ok: false, line });
  });

  it("finds a log that was written anew, and allows one whose oldest files are gone", async () => {
    const file = await log();
    const forged = memoryFile();
    const audit = await open(forged);
    for (let i = 0; i < 6; i += 1) await audit.note({ event: "fine", n: i });
    expect(verifyAudit(forged.lines(), file.head)).toMatchObject({ ok: false, line: 6 });
    expect(verifyAudit(file.lines().slice(2), file.head)).toMatchObject({ ok: true, note: expect.stringContaining("record 3") });
    expect(verifyAudit([], null)).toMatchObject({ ok: true, records: 0 });
  });
});

describe("the audit file", () => {
  let folder: string;
  let name: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "audit-"));
    name = path.join(folder, "log", "audit.jsonl");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const verify = async () => {
    const { lines, head } = await readAudit(name);
    return verifyAudit(lines, head);
  };

  it("is for its owner only, rotates by size, and goes on with the chain after a restart", async () => {
    for (let run = 0; run < 3; run += 1) {
      const audit = await open(openAuditFile(name, { maxBytes: 2000 }));
      for (let i = 0; i < 10; i += 1) await audit[i % 3 === 0 ? "append" : "note"]({ event: "e", run, i, text: "x".repeat(100) });
      await audit.close();
    }
    const files = (await readdir(path.dirname(name))).sort();
    expect(files.length).toBeGreaterThan(4);
    expect((await stat(path.join(path.dirname(name), files[0]!))).mode & 0o077).toBe(0);
    expect(await verify()).toMatchObject({ ok: true, records: 30, note: null });
  });

  it("keeps the order of records that come at the same time, and every one of them when it is closed at once", async () => {
    const audit = await open(openAuditFile(name, { maxBytes: 4000 }));
    const all = Array.from({ length: 200 }, (_, i) => audit[i % 30 === 0 ? "append" : "note"]({ event: `e${i}` }));
    await audit.close();
    await Promise.all(all);
    const { lines } = await readAudit(name);
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(Array.from({ length: 200 }, (_, i) => `e${i}`));
    expect(await verify()).toMatchObject({ ok: true, records: 200, note: null });
  });

  it("drops a line that a crash cut, and nothing else", async () => {
    const audit = await open(openAuditFile(name, { maxBytes: 1e6 }));
    await audit.append({ event: "one" });
    await audit.close();
    await appendFile(name, '{"seq":2,"event":"tor');
    const again = await open(openAuditFile(name, { maxBytes: 1e6 }));
    await again.append({ event: "two" });
    await again.close();
    expect(await verify()).toMatchObject({ ok: true, records: 2 });
  });

  it("a cut tail is noticed", async () => {
    const audit = await open(openAuditFile(name, { maxBytes: 1e6 }));
    for (const event of ["one", "two", "three"]) await audit.append({ event });
    await audit.close();
    const text = await readFile(name, "utf8");
    await truncate(name, text.indexOf("\n", text.indexOf('"two"')) + 1);
    expect(await verify()).toMatchObject({ ok: false, reason: expect.stringContaining("cut off") });
    const again = await open(openAuditFile(name, { maxBytes: 1e6 }));
    await again.append({ event: "four" });
    await again.close();
    expect(await verify()).toMatchObject({ ok: true, note: "before record 3, 1 written earlier are gone" });
  });

  it("takes no record when it is closed, for another host may have the file by then", async () => {
    const first = await open(openAuditFile(name, { maxBytes: 1e6 }));
    await first.append({ event: "one" });
    await first.close();
    const second = await open(openAuditFile(name, { maxBytes: 1e6 }));
    await second.append({ event: "two" });
    await expect(first.append({ event: "late" })).rejects.toThrow("closed");
    await second.append({ event: "three" });
    await second.close();
    expect(await verify()).toMatchObject({ ok: true, records: 3, note: null });
  });

  it.each([
    ["deleted", (file: string) => rm(file), []],
    ["replaced", (file: string) => rm(file).then(() => writeFile(file, "somebody's own text")), ["audit.jsonl.replaced-2"]],
  ])("a file that is %s under the host is noticed by the next durable record, and the log goes on in a new one", async (_what, away, kept) => {
    const told: Error[] = [];
    const audit = await open(openAuditFile(name, { maxBytes: 1e6, onGone: (error) => told.push(error) }));
    await audit.append({ event: "one" });
    await away(name);
    await expect(audit.append({ event: "two" })).rejects.toThrow("deleted or replaced");
    expect(told).toHaveLength(1);
    await audit.append({ event: "three" });
    await audit.close();
    expect(await verify()).toMatchObject({ ok: true, records: 1, note: expect.stringContaining("begins with record 3") });
    expect((await readdir(path.dirname(name))).filter((file) => file.includes("replaced"))).toEqual(kept);
  });

  it("moved away with its folder, it goes on in a new one, with a head of its own", async () => {
    const folder = path.dirname(name);
    const audit = await open(openAuditFile(name, { maxBytes: 1e6 }));
    await audit.append({ event: "one" });
    await rename(folder, `${folder}.away`);
    await expect(audit.append({ event: "two" })).rejects.toThrow("deleted or replaced");
    for (const event of ["three", "four"]) await audit.append({ event });
    await audit.close();
    const head = await readFile(`${name}.head`, "utf8");
    expect(await verify()).toMatchObject({ ok: true, records: 2, note: expect.stringContaining("begins with record 3") });
    const text = await readFile(name, "utf8");
    await truncate(name, text.indexOf("\n") + 1);
    expect([head.startsWith("000000000000004 "), await verify()]).toEqual([
      true,
      expect.objectContaining({ ok: false, reason: expect.stringContaining("cut off") }),
    ]);
    await rm(`${folder}.away`, { recursive: true });
  });

  it("never grows a file that somebody has cut", async () => {
    const audit = await open(openAuditFile(name, { maxBytes: 1e6 }));
    await audit.append({ event: "one", text: "x".repeat(500) });
    await truncate(name, 0);
    const write = fs.writeSync;
    withFs({ writeSync: () => raise("ENOSPC") });
    await expect(audit.append({ event: "two" })).rejects.toThrow("ENOSPC");
    withFs({ writeSync: write });
    await audit.append({ event: "three" });
    await audit.close();
    expect(await readFile(name, "utf8")).not.toContain("\0");
  });

  it.each([1, 2, 3, 5])("a disk that takes %i bytes at a time gets every byte of a text of many-byte letters", async (most) => {
    const audit = await open(openAuditFile(name, { maxBytes: 1e6 }));
    const restore = withShortWrites({ most, left: Infinity });
    await audit.append({ event: "é日本😀", text: "ä€😀".repeat(20) });
    restore();
    await audit.append({ event: "whole" });
    await audit.close();
    const again = await open(openAuditFile(name, { maxBytes: 1e6 }));
    await again.append({ event: "ünd" });
    await again.close();
    expect(await verify()).toMatchObject({ ok: true, records: 3, note: null });
    expect(JSON.parse((await readAudit(name)).lines[0]!)).toMatchObject({ event: "é日本😀", text: "ä€😀".repeat(20) });
  });

  it("a disk that is full in the middle of a letter keeps nothing of the record, and takes the next when there is room", async () => {
    const audit = await open(openAuditFile(name, { maxBytes: 1e6 }));
    await audit.append({ event: "öne" });
    for (const left of [0, 1, 60, 61, 62, 63, 64]) {
      const restore = withShortWrites({ most: 50, left });
      await expect(audit.append({ event: "lost", text: "€😀".repeat(50) })).rejects.toThrow("ENOSPC");
      restore();
      expect((await readFile(name, "utf8")).endsWith("\n")).toBe(true);
    }
    await audit.append({ event: "twö" });
    await audit.close();
    expect(await verify()).toMatchObject({ ok: true, records: 3, note: "before record 2, 7 could not be written" });
  });

  it("a sync that failed is told to every record that it may have lost, also when the record has filled its file", async () => {
    const audit = await open(openAuditFile(name, { maxBytes: 300 }));
    const sync = fs.fdatasync;
    // The first sync of the filled file fails; as in Linux, those after it know nothing of that.
    let faults = 1;
    withFs({ fdatasync: ((fd: number, done: (error: Error | null) => void) => (faults-- > 0 ? setImmediate(done, fault("EIO")) : sync(fd, done))) as never });
    await expect(audit.append({ event: "one", text: "x".repeat(500) })).rejects.toThrow("EIO");
    await audit.append({ event: "two" });
    withFs({ fdatasync: sync });
    await audit.close();
    expect(await verify()).toMatchObject({ ok: true, records: 2 });
  });

  it("a folder that cannot be written rejects the append", async () => {
    await writeFile(path.join(folder, "log"), "a file where the folder should be");
    const audit = await open(openAuditFile(name, { maxBytes: 1e6 })).catch((error: unknown) => error);
    if (audit instanceof Error) expect(audit.message).toContain("ENOTDIR");
    else await expect((audit as Awaited<ReturnType<typeof open>>).append({ event: "x" })).rejects.toThrow();
  });
});

function fault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function raise(code: string): never {
  throw fault(code);
}

/** Puts functions of the file system that fail in the place of Node's: no real disk fails when it is asked to. */
function withFs(functions: Partial<typeof fs>): void {
  Object.assign(fs, functions);
  syncBuiltinESMExports();
}

/** A disk that takes at most so many bytes with one write, and so many in all, as the system has it: a short count first, a fault when nothing fits. */
function withShortWrites(disk: { readonly most: number; left: number }): () => void {
  const write = fs.writeSync;
  const short = (fd: number, data: string | Uint8Array, from: number | null = null): number => {
    const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data.subarray(from ?? 0);
    const size = Math.min(bytes.length, disk.most, disk.left);
    if (size === 0) raise("ENOSPC");
    disk.left -= size;
    return write(fd, bytes, 0, size);
  };
  withFs({ writeSync: short as never });
  return () => withFs({ writeSync: write });
}
