import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { HOST_APP } from "../../src/amp/envelope.ts";
import { removeDeadTemps } from "../../src/files/inbox-folder.ts";
import { sortEventNames, eventFileName, inboxFolders, isSafeId, tempFileName } from "../../src/files/inbox-names.ts";
import { PutQueue } from "../../src/files/put-queue.ts";
import { thisWriter, writerState } from "../../src/files/writer-instance.ts";
import { schemaIssues } from "../amp/support.ts";
import { envelope, eventFiles, leftovers, readJson, testFolder, testInbox, until } from "./support/inbox.ts";

describe("names", () => {
  test.each([
    ["message.received", "event_message.received_ID.json"],
    ["../../etc/passwd", "event___.._etc_passwd_ID.json"],
    [".hidden", "event__hidden_ID.json"],
    ["a b/c\\d:e\0f", "event_a_b_c_d_e_f_ID.json"],
    ["消息", "event____ID.json"],
  ])("type %j", (type, name) => {
    expect(eventFileName(type, "ID")).toBe(name);
  });

  test("a long type is cut to a length that every file system takes", () => {
    expect(Buffer.byteLength(eventFileName("x".repeat(5000), "018f2f4c-7b2a-7b8a-9c31-2e9a0b9b2d11"))).toBeLessThan(200);
  });

  test.each(["a/../../../tmp/x", "ok\u0000.json", "C:\\x", "..", ".x", "", "con", "NUL.txt", "com1", "a b", "x".repeat(200), 5, null])(
    "id %j is refused",
    (id) => {
      expect(isSafeId(id)).toBe(false);
    },
  );

  test.each(["ev1", "EV1", "018f2f4c-7b2a-7b8a-9c31-2e9a0b9b2d11", "confirm", "a.b_c"])("id %j is fine", (id) => {
    expect(isSafeId(id)).toBe(true);
  });

  test("the folders stand beside one called pending, else inside", () => {
    expect(inboxFolders("/d/inbox/pending").dead).toBe(path.resolve("/d/inbox/dead"));
    expect(inboxFolders("/d/inbox").dead).toBe(path.resolve("/d/inbox/dead"));
  });
});

describe("queue", () => {
  const item = (app: string, priority: "high" | "normal" | "low", n = 0) => ({ app, priority, n });

  test("apps take turns, whatever one of them sends", () => {
    const queue = new PutQueue<ReturnType<typeof item>>(10_000);
    for (let i = 0; i < 5000; i += 1) queue.add(item("flood", "normal", i));
    queue.add(item("quiet", "normal"));
    expect(queue.take(4).map((i) => i.app)).toContain("quiet");
  });

  test("priorities share the rate: nothing starves, an app's order stays", () => {
    const queue = new PutQueue<ReturnType<typeof item>>(10_000);
    for (let i = 0; i < 100; i += 1) for (const p of ["high", "normal", "low"] as const) queue.add(item("a", p, i));
    const first = queue.take(70);
    expect(first.filter((i) => i.priority === "high")).toHaveLength(40);
    expect(first.filter((i) => i.priority === "normal")).toHaveLength(20);
    expect(first.filter((i) => i.priority === "low")).toHaveLength(10);
    const lows = first.filter((i) => i.priority === "low").map((i) => i.n);
    expect(lows).toEqual(lows.toSorted((a, b) => a - b));
    expect(queue.take(1000)).toHaveLength(230);
    expect(queue.size).toBe(0);
  });

  test("a full queue loses low events of the busiest app first, then refuses by priority", () => {
    const queue = new PutQueue<ReturnType<typeof item>>(10);
    for (let i = 0; i < 8; i += 1) queue.add(item("flood", "low", i));
    queue.add(item("quiet", "low"));
    queue.add(item("quiet", "normal"));
    expect(queue.add(item("x", "low"))).toEqual({ accepted: false, evicted: null });
    expect(queue.add(item("x", "normal"))).toEqual({ accepted: true, evicted: item("flood", "low", 7) });
    for (let i = 0; i < 100; i += 1) queue.add(item("x", "normal"));
    expect(queue.size).toBe(20);
    for (let i = 0; i < 100; i += 1) queue.add(item("x", "high"));
    expect(queue.size).toBe(30);
    expect(queue.add(item("x", "high")).accepted).toBe(false);
  });

  test("what was put back comes out first, in its order", () => {
    const queue = new PutQueue<ReturnType<typeof item>>(10);
    for (let i = 0; i < 4; i += 1) queue.add(item("a", "normal", i));
    queue.putBack(queue.take(2));
    expect(queue.take(4).map((i) => i.n)).toEqual([0, 1, 2, 3]);
  });
});

describe("writing", { timeout: 60_000 }, () => {
  test.each([true, false])("one whole file an event, readable by its owner only (fsync %j)", async (fsync) => {
    const dir = path.join(await testFolder(), "kernel", "inbox", "pending");
    const inbox = await testInbox(dir, { fsync });
    const event = envelope({ type: "message.received", data: { text: "../x", __proto__x: 1 } });
    expect(await inbox.put(event, "normal")).toBe("written");
    const file = path.join(dir, `event_message.received_${event.header.message_id}.json`);
    expect(await readJson(file)).toEqual(event);
    expect(schemaIssues("amp", await readJson(file))).toEqual([]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await leftovers(dir)).toEqual([]);
    expect(inbox.stats()).toMatchObject({ dir, written: 1, duplicates: 0, dropped: 0, queued: 0, degraded: null });
  });

  test("temp files never leave the inbox's own file system: a broken TMPDIR does no harm", async () => {
    const dir = await testFolder();
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = "/no/such/place";
    try {
      const inbox = await testInbox(dir);
      expect(await inbox.put(envelope(), "normal")).toBe("written");
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    }
  });

  test("the flat form", async () => {
    const dir = await testFolder();
    const inbox = await testInbox(dir, { format: "app_event" });
    const event = envelope({ data: { a: 1 } });
    await inbox.put(event, "normal");
    const [name] = await eventFiles(dir);
    expect(JSON.parse(await readFile(path.join(dir, name!), "utf8"))).toMatchObject({
      id: event.header.message_id,
      type: "test.event",
      payload: { a: 1 },
      source: "org.example.app",
    });
  });

  test("many at once: one file each, in the order in which they came", async () => {
    const dir = await testFolder();
    const inbox = await testInbox(dir);
    const events = Array.from({ length: 800 }, (_, i) => envelope({ data: { i } }));
    const results = await Promise.all(events.map((e) => inbox.put(e, "normal")));
    expect(new Set(results)).toEqual(new Set(["written"]));
    const names = sortEventNames(await eventFiles(dir));
    expect(names).toHaveLength(800);
    const order = await Promise.all(names.map(async (n) => (await readJson(path.join(dir, n))).payload.data));
    expect(order).toEqual(events.map((e) => e.payload.data));
  });

  test("two writers with the same names at once: no partial and no lost file", async () => {
    const dir = await testFolder();
    const one = await testInbox(dir, { ledgerFile: path.join(dir, ".one.jsonl") });
    const two = await testInbox(dir, { ledgerFile: path.join(dir, ".two.jsonl") });
    const pairs = Array.from({ length: 300 }, (_, i) => [envelope({ key: `k${i}`, data: { by: 1 } }), envelope({ key: `k${i}`, data: { by: 2 } })] as const);
    await Promise.all(pairs.flatMap(([a, b]) => [one.put(a, "normal"), two.put(b, "normal")]));
    const names = await eventFiles(dir);
    expect(names).toHaveLength(300);
    for (const name of names) expect(schemaIssues("amp", await readJson(path.join(dir, name)))).toEqual([]);
    expect((await leftovers(dir)).filter((n) => n.endsWith(".part"))).toEqual([]);
  });

  test("an id that cannot be part of a name is refused", async () => {
    const dir = await testFolder();
    const inbox = await testInbox(dir);
    const bad = envelope();
    const evil = { ...bad, header: { ...bad.header, message_id: "a/../../../tmp/x" } };
    await expect(inbox.put(evil, "normal")).rejects.toThrow("cannot be part of a file name");
    expect(await readdir(dir)).toEqual([]);
  });

  test("a flood of one app does not hold up another's event", async () => {
    const dir = await testFolder();
    const inbox = await testInbox(dir, { fsync: true });
    const flood = Array.from({ length: 1000 }, () => inbox.put(envelope({ app: "flood" }), "normal"));
    await flood[10];
    let floodDone = 0;
    for (const p of flood) void p.then(() => (floodDone += 1));
    await inbox.put(envelope({ app: "quiet" }), "normal");
    expect(floodDone).toBeLessThan(500);
    await Promise.all(flood);
  });

  test("close writes what is queued", async () => {
    const dir = await testFolder();
    const inbox = await testInbox(dir);
    const puts = Array.from({ length: 500 }, () => inbox.put(envelope(), "normal"));
    await inbox.close();
    expect(new Set(await Promise.all(puts))).toEqual(new Set(["written"]));
    expect(await eventFiles(dir)).toHaveLength(500);
    await expect(inbox.put(envelope(), "normal")).rejects.toThrow("closed");
  });
});

describe("once", () => {
  test("the same fact again is a duplicate: under way, later, and after a restart, consumed or not", async () => {
    const dir = await testFolder();
    const first = await testInbox(dir);
    const [a, b] = await Promise.all([first.put(envelope({ key: "k" }), "normal"), first.put(envelope({ key: "k" }), "normal")]);
    expect([a, b]).toEqual(["written", "duplicate"]);
    expect(await first.put(envelope({ key: "k" }), "normal")).toBe("duplicate");
    await first.close();
    await rm(path.join(dir, (await eventFiles(dir))[0]!)); // A reader has consumed it.
    const second = await testInbox(dir);
    expect(await second.put(envelope({ key: "k" }), "normal")).toBe("duplicate");
    expect(await eventFiles(dir)).toEqual([]);
    expect(second.stats().duplicates).toBe(1);
  });

  test("the same id with other content is told, and does not replace the first", async () => {
    const dir = await testFolder();
    const inbox = await testInbox(dir);
    await inbox.put(envelope({ key: "k", data: { to: "one" } }), "normal");
    expect(await inbox.put(envelope({ key: "k", data: { to: "other" } }), "normal")).toBe("duplicate");
    expect(inbox.problems.join()).toContain("again with other content");
    expect((await readJson(path.join(dir, (await eventFiles(dir))[0]!))).payload.data).toEqual({ to: "one" });
  });

  test("the ledger is bounded, and its file too", async () => {
    const dir = await testFolder();
    const inbox = await testInbox(dir, { ledgerSize: 50 });
    for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 50 }, () => inbox.put(envelope(), "normal")));
    await inbox.close();
    expect((await stat(path.join(dir, ".ledger.jsonl"))).size).toBeLessThan(50 * 3 * 80);
  });

  test("events whose recording a crash prevented are found again, and the last time with them", async () => {
    const dir = await testFolder();
    const first = await testInbox(dir);
    const event = envelope({ key: "k" });
    await first.put(event, "normal");
    await first.close();
    await rm(path.join(dir, ".ledger.jsonl"));
    for (const [i, junk] of ["{", "5", '{"header":{}}', '{"header":{"message_id":"x"},"payload":null}'].entries())
      await writeFile(path.join(dir, `event_junk_${i}.json`), junk);
    const second = await testInbox(dir);
    expect(second.lastTimestamp).toBe(event.header.timestamp);
    expect(second.problems).toEqual([]);
    expect(await second.put(envelope({ key: "k" }), "normal")).toBe("duplicate");
  });
});

describe("trouble", () => {
  test("a folder that cannot be used degrades; events wait and come through, once, when it can", async () => {
    const dir = path.join(await testFolder(), "pending");
    await writeFile(dir, "a file where the folder should be");
    const inbox = await testInbox(dir);
    expect(inbox.stats().degraded).toContain("pending");
    const puts = [envelope({ key: "k" }), envelope(), envelope()].map((e) => inbox.put(e, "normal"));
    await until(() => inbox.problems.some((p) => p.includes("not a folder")));
    expect(inbox.stats()).toMatchObject({ written: 0, queued: 3 });
    await rm(dir);
    await mkdir(dir);
    expect(await Promise.all(puts)).toEqual(["written", "written", "written"]);
    expect(await eventFiles(dir)).toHaveLength(3);
    expect(inbox.stats().degraded).toBeNull();
    expect(inbox.problems).toContain("inbox works again");
    expect(await inbox.put(envelope({ key: "k" }), "normal")).toBe("duplicate");
  });

  test("a folder that is removed while the host runs is made again", async () => {
    const dir = path.join(await testFolder(), "pending");
    const inbox = await testInbox(dir, { ledgerFile: `${dir}.ledger` });
    await inbox.put(envelope(), "normal");
    await rm(dir, { recursive: true });
    expect(await inbox.put(envelope(), "normal")).toBe("written");
  });

  test("memory is bounded while nothing can be written: low events go first, and it is counted", async () => {
    const dir = path.join(await testFolder(), "pending");
    await writeFile(dir, "");
    const inbox = await testInbox(dir, { queueSize: 10, ledgerFile: `${dir}.ledger` });
    const low = Array.from({ length: 20 }, () => inbox.put(envelope(), "low"));
    const high = Array.from({ length: 15 }, () => inbox.put(envelope(), "high"));
    await rm(dir);
    await mkdir(dir);
    expect(new Set(await Promise.all(high))).toEqual(new Set(["written"]));
    const dropped = (await Promise.all(low)).filter((r) => r === "dropped").length;
    expect(dropped).toBeGreaterThanOrEqual(10);
    expect(inbox.stats().dropped).toBe(dropped);
    expect(inbox.problems.join()).toContain("queue is full");
  });

  test("temp files of dead writers go, those of living ones stay, however old", async () => {
    const dir = await testFolder();
    const me = thisWriter();
    const dead = { ...me, pid: 2 ** 22 + 12345 };
    const earlierMe = { ...me, start: "1" };
    const stranger = { ...me, host: "00000000" };
    const names = [me, dead, earlierMe, stranger].map((w, i) => tempFileName(w, i + 1));
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const name of [...names, ".other.tmp", "event_x_y.json"]) {
      await writeFile(path.join(dir, name), "{}");
      await utimes(path.join(dir, name), old, old);
    }
    expect([writerState(me), writerState(dead), writerState(stranger)]).toEqual(["alive", "dead", "foreign"]);
    await testInbox(dir);
    const left = await readdir(dir);
    expect(left).not.toContain(names[1]);
    expect(left).toEqual(expect.arrayContaining([names[0]!, names[3]!, ".other.tmp", "event_x_y.json"]));
    if (process.platform === "linux") expect(left).not.toContain(names[2]);
    // Nobody can tell of another machine's; after a day it goes.
    await removeDeadTemps(dir, Date.now() + 25 * 3_600_000);
    expect(await readdir(dir)).not.toContain(names[3]);
  });
});

describe("retention", () => {
  test("over max_pending expired events, then receipts, go to dead/; business events never", async () => {
    const dir = path.join(await testFolder(), "pending");
    const first = await testInbox(dir);
    for (let i = 0; i < 4; i += 1) {
      await first.put(envelope({ type: "tool.completed", app: HOST_APP }), "high");
      await first.put(envelope({ type: "business.fact" }), "normal");
      await first.put(envelope({ type: "stale", expiresInMs: -1000 }), "normal");
    }
    const dead = async (): Promise<string[]> => (await eventFiles(path.join(dir, "..", "dead"))).map((n) => n.split("_")[1]!);
    first.configure({ maxPending: 10 });
    await until(async () => (await dead()).length === 2);
    expect(await dead()).toEqual(["stale", "stale"]);
    first.configure({ maxPending: 1 });
    await until(async () => (await eventFiles(dir)).length === 4);
    expect((await eventFiles(dir)).every((n) => n.includes("business.fact"))).toBe(true);
    await until(() => first.stats().pending === 4);
  });

  test("an event is counted once, also when the folder is being read while it is written", async () => {
    const inbox = await testInbox(path.join(await testFolder(), "pending"));
    const clock = setInterval(() => inbox.stats(), 1);
    try {
      for (let i = 1; i <= 200; i += 1) {
        await inbox.put(envelope(), "normal");
        expect(inbox.stats().pending).toBeLessThanOrEqual(i);
      }
    } finally {
      clearInterval(clock);
    }
    await until(() => inbox.stats().pending === 200);
  });
});
