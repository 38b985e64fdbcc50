import { appendFile, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { writeFileAtomic } from "../../src/files/atomic-write.ts";
import { openDocument } from "../../src/files/document-store.ts";
import { openJournal } from "../../src/files/journal.ts";
import { testFolder } from "./support/inbox.ts";

describe("atomic write", () => {
  test("replaces whole, with mode 0600 or as told, in folders that it makes", async () => {
    const file = path.join(await testFolder(), "a", "b", "c.json");
    await writeFileAtomic(file, "one");
    await writeFileAtomic(file, "two");
    expect(await readFile(file, "utf8")).toBe("two");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await writeFileAtomic(file, "three", { mode: 0o644, fsync: false });
    expect((await stat(file)).mode & 0o777).toBe(0o644);
    expect(await readdir(path.dirname(file))).toEqual(["c.json"]);
  });

  test("goes through a link and keeps it", async () => {
    const root = await testFolder();
    await writeFile(path.join(root, "target"), "one");
    await symlink("target", path.join(root, "link"));
    await writeFileAtomic(path.join(root, "link"), "two");
    expect((await lstat(path.join(root, "link"))).isSymbolicLink()).toBe(true);
    expect(await readFile(path.join(root, "target"), "utf8")).toBe("two");
  });

  test("a fault leaves the old file and no temp", async () => {
    const root = await testFolder();
    await mkdir(path.join(root, "file", "in-the-way"), { recursive: true });
    await expect(writeFileAtomic(path.join(root, "file"), "x")).rejects.toThrow();
    expect(await readdir(root)).toEqual(["file"]);
  });

  test("two thousand at once on one name: always one whole content", async () => {
    const file = path.join(await testFolder(), "x");
    await Promise.all(Array.from({ length: 200 }, (_, i) => writeFileAtomic(file, String(i).repeat(5000), { fsync: false })));
    const text = await readFile(file, "utf8");
    expect(new Set(Array.from({ length: 200 }, (_, i) => String(i).repeat(5000)))).toContain(text);
    expect(await readdir(path.dirname(file))).toEqual(["x"]);
  });
});

describe("journal", () => {
  test("keeps what was appended, in order, over a restart", async () => {
    const file = path.join(await testFolder(), "deep", "j.jsonl");
    const journal = openJournal<{ i: number }>(file);
    await Promise.all(Array.from({ length: 500 }, (_, i) => journal.append({ i }, i % 7 === 0)));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await journal.close();
    const again = openJournal<{ i: number }>(file);
    expect(await again.read()).toEqual(Array.from({ length: 500 }, (_, i) => ({ i })));
    await again.close();
    await expect(again.append({ i: 1 }, false)).rejects.toThrow("closed");
  });

  test("is empty before its first record, and read does not make the file", async () => {
    const root = await testFolder();
    const journal = openJournal(path.join(root, "j"));
    expect(await journal.read()).toEqual([]);
    await journal.close();
    expect(await readdir(root)).toEqual([]);
  });

  test.each([
    ["half a record", '{"i":2,"text":"ha', [{ i: 1 }]],
    ["zeros of a power cut", "\0\0\0\0", [{ i: 1 }]],
    ["a whole record without its newline", '{"i":2}', [{ i: 1 }, { i: 2 }]],
    ["a long torn record", `{"i":2,"text":"${"x".repeat(200_000)}`, [{ i: 1 }]],
  ])("%s at the end is mended before the next append", async (_what, tail, kept) => {
    const file = path.join(await testFolder(), "j");
    await writeFile(file, `{"i":1}\n${tail}`);
    const journal = openJournal<{ i: number }>(file);
    expect(await journal.read()).toEqual(kept);
    await journal.append({ i: 9 }, true);
    expect(await journal.read()).toEqual([...kept, { i: 9 }]);
    await journal.close();
    expect((await readFile(file, "utf8")).endsWith('{"i":9}\n')).toBe(true);
  });

  test("a bad line in the middle is told, the rest is read", async () => {
    const file = path.join(await testFolder(), "j");
    await writeFile(file, '{"i":1}\nnonsense\n{"i":3}\n');
    const bad: number[] = [];
    const journal = openJournal<{ i: number }>(file, { onBadLine: (line) => bad.push(line) });
    expect(await journal.read()).toEqual([{ i: 1 }, { i: 3 }]);
    expect(bad).toEqual([2]);
    await journal.close();
  });

  test("rewrite replaces all; appends before it are gone, those after it stay", async () => {
    const file = path.join(await testFolder(), "j");
    const journal = openJournal<number>(file);
    const done = [journal.append(1, false), journal.append(2, false), journal.rewrite([10]), journal.append(11, true)];
    await Promise.all(done);
    expect(await journal.read()).toEqual([10, 11]);
    await journal.close();
  });

  test("a fault rejects the append, and the journal works again afterwards", async () => {
    const root = await testFolder();
    const folder = path.join(root, "place");
    await writeFile(folder, "a file in the way");
    const journal = openJournal<number>(path.join(folder, "j"));
    await expect(journal.append(1, false)).rejects.toThrow();
    await rm(folder);
    await journal.append(2, true);
    expect(await journal.read()).toEqual([2]);
    await journal.close();
  });

  test.each([
    ["deletes", (file: string) => rm(file)],
    ["moves", (file: string) => rename(file, `${file}.away`)],
    ["deletes with its folder", (file: string) => rm(path.dirname(file), { recursive: true })],
    ["replaces", (file: string) => rm(file).then(() => appendFile(file, "9\n"))],
  ])("a file that somebody %s is made again, with all that stood in it", async (_what, away) => {
    const file = path.join(await testFolder(), "place", "j");
    const journal = openJournal<number>(file);
    await journal.rewrite([1]);
    await away(file);
    await journal.append(2, true);
    await journal.append(3, false);
    expect(await journal.read()).toEqual([1, 2, 3]);
    await journal.close();
  });

  test("another's append in between does not disturb", async () => {
    const file = path.join(await testFolder(), "j");
    const journal = openJournal<number>(file);
    await journal.append(1, false);
    await appendFile(file, "2\n");
    await journal.append(3, false);
    expect(await journal.read()).toEqual([1, 2, 3]);
    await journal.close();
  });
});

describe("document", () => {
  test("null when there is none, what was written last after that, and words when it is no JSON", async () => {
    const file = path.join(await testFolder(), "d.json");
    const store = openDocument<{ n: number }>(file, { mode: 0o644 });
    expect(await store.read()).toBeNull();
    await Promise.all([1, 2, 3].map((n) => store.write({ n })));
    expect(await store.read()).toEqual({ n: 3 });
    await writeFile(file, "{");
    await expect(store.read()).rejects.toThrow(`${file} is not JSON`);
  });
});
