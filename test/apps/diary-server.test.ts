import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { newFolder, startApp, type AppProcess } from "./app-process.ts";

let cwd: string;
let diary: AppProcess;

beforeAll(async () => {
  cwd = await newFolder();
  diary = await startApp("diary", { cwd });
});
afterAll(() => diary.stop());
// Each test begins with an empty diary.
beforeEach(async () => {
  await rm(join(cwd, "data"), { recursive: true, force: true });
  diary.heard.length = 0;
});

describe("the diary", () => {
  test("writes files, tells of it, and links the day", async () => {
    const written = await diary.call("write_entry", { content: "今天很好。", title: "一天", date: "2026-06-17", session_id: "private_1" });
    expect(written.data).toEqual({ date: "2026-06-17", title: "一天", uri: "aurora://diary/2026-06-17", characters: expect.any(Number) });
    expect(written.content[1]).toMatchObject({ type: "resource_link", uri: "aurora://diary/2026-06-17" });
    const event = await diary.event("diary.written");
    expect(event).toMatchObject({ session_id: "private_1", data: { date: "2026-06-17" }, idempotency_key: expect.stringMatching(/^diary\.written:/) });
    expect(JSON.stringify(event)).not.toContain("今天很好");
    expect(await readFile(join(cwd, "data/apps/diary/entries/2026-06-17.md"), "utf8")).toContain("今天很好。");
    expect(diary.stderr()).not.toContain("今天很好");
  });

  test("reads, searches and lists, and says that it was asked", async () => {
    await diary.call("write_entry", { content: "tea with Li", date: "2026-06-01" });
    expect((await diary.call("read_entry", { date: "2026-06-01" })).data["content"]).toContain("tea with Li");
    expect(await diary.event("diary.queried")).toMatchObject({ data: { query: "read", date: "2026-06-01" } });
    expect((await diary.call("search_entries", { query: "TEA" })).data).toEqual({
      matches: [{ date: "2026-06-01", lines: ["tea with Li"], uri: "aurora://diary/2026-06-01" }],
      total: 1,
    });
    expect(await diary.event("diary.queried")).toMatchObject({ data: { query: "search", matches: 1 } });
    expect((await diary.call("list_dates")).data).toEqual({ dates: ["2026-06-01"], total: 1 });
  });

  test.each([
    ["read_entry", { date: "2026-06-02" }, "ENTRY_NOT_FOUND"],
    ["read_entry", { date: "2026-02-30" }, "INVALID_DATE"],
    ["write_entry", { content: "x", date: "2026-02-30" }, "INVALID_DATE"],
    ["list_dates", { from: "2026-00-00" }, "INVALID_DATE"],
  ])("%s %j fails with %s", async (tool, args, error_code) => {
    expect(await diary.call(tool, args)).toMatchObject({ isError: true, structured: { ok: false, error_code, retryable: false } });
  });

  test.each([
    ["read_entry", { date: "../../etc/passwd" }],
    ["write_entry", { content: "x", date: "2026-06-17/../../x" }],
    ["write_entry", { content: "   " }],
    ["write_entry", { content: "x", title: "two\nlines" }],
    ["search_entries", { query: "x", limit: 0 }],
  ])("%s %j breaks its schema", async (tool, args) => {
    await expect(diary.call(tool, args)).rejects.toMatchObject({ code: -32602 });
  });

  test("a folder that cannot be written is a failure that may pass", async () => {
    await writeFile(join(cwd, "data"), "");
    expect((await diary.call("write_entry", { content: "x" })).structured).toMatchObject({ ok: false, error_code: "STORAGE_FAILED", retryable: true });
  });

  test("resources: an index, one for each day, and news of both", async () => {
    const { client, heard } = diary;
    const count = (method: string, uri?: string): number => heard.filter((one) => one.method === method && one.params["uri"] === uri).length;
    const LIST = "notifications/resources/list_changed";
    const UPDATED = "notifications/resources/updated";
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{ uriTemplate: "aurora://diary/{date}" }]);
    await client.subscribeResource({ uri: "aurora://diary/index" });
    // A day may be waited for before it is written.
    await client.subscribeResource({ uri: "aurora://diary/2026-06-17" });
    await diary.call("write_entry", { content: "first", date: "2026-06-17" });
    await diary.call("write_entry", { content: "second", date: "2026-06-17" });
    await diary.call("write_entry", { content: "other day", date: "2026-06-18" });
    await vi.waitFor(() =>
      expect([
        count(LIST),
        count(UPDATED, "aurora://diary/2026-06-17"),
        count(UPDATED, "aurora://diary/2026-06-18"),
        count(UPDATED, "aurora://diary/index"),
      ]).toEqual([2, 2, 0, 3]),
    );

    expect((await client.listResources()).resources.map((resource) => resource.uri)).toEqual([
      "aurora://diary/index",
      "aurora://diary/2026-06-18",
      "aurora://diary/2026-06-17",
    ]);
    const text = async (uri: string): Promise<string> =>
      (await client.readResource({ uri })).contents.map((content) => ("text" in content ? content.text : "")).join("");
    expect(JSON.parse(await text("aurora://diary/index"))).toMatchObject({
      entries: [{ date: "2026-06-18" }, { date: "2026-06-17", uri: "aurora://diary/2026-06-17" }],
    });
    expect(await text("aurora://diary/2026-06-17")).toMatch(/first[^]*second/);
    for (const uri of ["aurora://diary/2026-06-16", "aurora://diary/../2026-06-17", "aurora://diary/2026-13-01"])
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32002 });
  });

  test("a long list comes in pages", async () => {
    for (let day = 0; day < 130; day += 1)
      await diary.call("write_entry", { content: "x", date: new Date(Date.UTC(2020, 0, 1 + day)).toISOString().slice(0, 10) });
    const first = await diary.client.listResources();
    const second = await diary.client.listResources({ cursor: first.nextCursor });
    expect([first.resources.length, second.resources.length, second.nextCursor]).toEqual([100, 31, undefined]);
    expect(new Set([...first.resources, ...second.resources].map((resource) => resource.uri)).size).toBe(131);
  });
});
