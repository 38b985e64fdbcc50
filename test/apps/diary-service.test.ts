import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { openDiary, type DiaryService } from "../../apps/aurora-app-diary/service.ts";
import { newFolder } from "./app-process.ts";

let folder: string;
let now: number;
let diary: DiaryService;

beforeEach(async () => {
  folder = join(await newFolder(), "entries");
  now = Date.UTC(2026, 5, 17, 20, 5);
  diary = openDiary({ folder, timeZone: "Asia/Shanghai", now: () => now });
});

const code = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    () => "no error",
    (error: { code: unknown }) => error.code,
  );

describe("writing", () => {
  test("goes under the zone's own date and adds to what is there", async () => {
    expect(await diary.write({ content: "first", title: "Morning" })).toMatchObject({ date: "2026-06-18", newDay: true });
    now += 60_000;
    expect(await diary.write({ content: "second\n\n" })).toMatchObject({ date: "2026-06-18", newDay: false });
    expect(await diary.read("2026-06-18")).toBe("# 2026-06-18\n\n## 04:05 Morning\n\nfirst\n\n## 04:06\n\nsecond\n");
  });

  test("entries written at the same time all stay", async () => {
    await Promise.all(Array.from({ length: 20 }, (_, number) => diary.write({ content: `entry <${number}>`, date: "2026-01-01" })));
    const text = await diary.read("2026-01-01");
    for (let number = 0; number < 20; number += 1) expect(text).toContain(`entry <${number}>`);
    expect(await readdir(folder)).toEqual(["2026-01-01.md"]);
  });

  test("is for the owner's eyes only", async () => {
    await diary.write({ content: "secret", date: "2026-01-01" });
    expect((await stat(join(folder, "2026-01-01.md"))).mode & 0o077).toBe(0);
  });

  test("a day has an end", async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "2026-01-01.md"), "x".repeat(999_999));
    expect(await code(diary.write({ content: "more", date: "2026-01-01" }))).toBe("DAY_FULL");
  });

  test.each(["../../etc/passwd", "2026-02-30", "2026-1-1", "2026-01-01/../x", "", "2026-01-01\0"])("%j is no date, and no path", async (date) => {
    expect(await code(diary.write({ content: "x", date }))).toBe("INVALID_DATE");
    expect(await code(diary.read(date))).toBe("INVALID_DATE");
    expect(await diary.dates()).toEqual([]);
  });
});

describe("reading", () => {
  beforeEach(async () => {
    await diary.write({ content: "Rain in Shanghai.\nTea with Li.", date: "2026-06-01" });
    await diary.write({ content: "今天学习了 MCP 协议。", date: "2026-06-03" });
    await diary.write({ content: "rain again", date: "2026-06-10" });
  });

  test("a day that is not there is a business failure", async () => {
    expect(await code(diary.read("2026-06-02"))).toBe("ENTRY_NOT_FOUND");
  });

  test("dates come newest first, within a range, and strange files do not count", async () => {
    await writeFile(join(folder, "notes.md"), "x");
    await writeFile(join(folder, "2026-99-99.md"), "x");
    expect(await diary.dates()).toEqual(["2026-06-10", "2026-06-03", "2026-06-01"]);
    expect(await diary.dates({ from: "2026-06-02", to: "2026-06-03" })).toEqual(["2026-06-03"]);
    expect(await code(diary.dates({ from: "2026-13-01" }))).toBe("INVALID_DATE");
  });

  test("a search finds the days with every word, in any letter case", async () => {
    expect(await diary.search("RAIN", { limit: 10 })).toEqual({
      matches: [
        { date: "2026-06-10", lines: ["rain again"] },
        { date: "2026-06-01", lines: ["Rain in Shanghai."] },
      ],
      total: 2,
    });
    expect(await diary.search("rain tea", { limit: 10 })).toEqual({
      matches: [{ date: "2026-06-01", lines: ["Rain in Shanghai.", "Tea with Li."] }],
      total: 1,
    });
    expect((await diary.search("协议", { limit: 10 })).matches[0]?.date).toBe("2026-06-03");
    expect(await diary.search("rain", { limit: 1 })).toMatchObject({ total: 2, matches: [{ date: "2026-06-10" }] });
    expect(await diary.search("rain", { limit: 9, to: "2026-06-05" })).toMatchObject({ total: 1 });
    expect(await diary.search(".*", { limit: 9 })).toEqual({ matches: [], total: 0 });
  });

  test("the index knows size and change of the newest days", async () => {
    const index = await diary.index(2);
    expect(index.map((day) => day.date)).toEqual(["2026-06-10", "2026-06-03"]);
    expect(index[0]?.bytes).toBe(Buffer.byteLength(await diary.read("2026-06-10")));
  });
});
