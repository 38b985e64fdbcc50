import { execFile } from "node:child_process";
import { mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { GiveUp, readInbox, type InboxEvent, type InboxReaderOptions } from "../../src/files/inbox-reader.ts";
import { replayEvents } from "../../src/files/replay-events.ts";
import { tailInbox, type EventFilter } from "../../src/files/tail-inbox.ts";
import type { AmpEnvelope } from "../../src/amp/types.ts";
import { envelope, eventFiles, testFolder, testInbox, until } from "./support/inbox.ts";

const run = promisify(execFile);
const python = path.resolve(import.meta.dirname, "../../examples/readers/aurora_inbox.py");

/** What became of the files of an inbox. */
interface Outcome {
  readonly handled: string[];
  readonly reasons: Record<string, string>;
}

/** Reads an inbox with the TypeScript reader until it is empty. */
async function readWithTypeScript(dir: string, options: Partial<InboxReaderOptions> = {}): Promise<Outcome & { readonly events: InboxEvent[] }> {
  const stop = new AbortController();
  const events: InboxEvent[] = [];
  const reading = readInbox({ dir, signal: stop.signal, pollMs: 20, retryMs: 5, handle: (e) => void events.push(e), ...options });
  await until(async () => (await eventFiles(dir)).length === 0 && (await eventFiles(path.join(dir, "..", "processing"))).length === 0);
  stop.abort();
  await reading;
  return { events, handled: events.map((e) => e.id), reasons: await reasons(dir) };
}

/** Reads an inbox with the Python reader until it is empty. */
async function readWithPython(dir: string): Promise<Outcome> {
  const { stdout } = await run("python3", [python, dir, "--once"], { maxBuffer: 64 * 1024 * 1024 });
  const lines = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, never>);
  return { handled: lines.map((e) => (e["header"]?.["message_id"] ?? e["id"]) as unknown as string), reasons: await reasons(dir) };
}

async function reasons(dir: string): Promise<Record<string, string>> {
  const dead = path.join(dir, "..", "dead");
  const out: Record<string, string> = {};
  for (const name of await eventFiles(dead)) out[name] = (await readFile(path.join(dead, `${name}.reason`), "utf8")).trim();
  return out;
}

async function pendingFolder(): Promise<string> {
  const dir = path.join(await testFolder(), "pending");
  await mkdir(dir);
  return dir;
}

const flat = (id: unknown, data: object = {}): string =>
  JSON.stringify({ source: "mail", type: "mail.new", session_id: "", summary: "", payload: data, expire_at: null, id, created_at: "2026-01-01T00:00:00Z" });

const readers: [string, (dir: string) => Promise<Outcome>][] = [["TypeScript", readWithTypeScript]];
const hasPython = await run("python3", ["--version"]).then(
  () => true,
  () => false,
);
if (hasPython) readers.push(["Python", readWithPython]);

describe.each(readers)("the %s reader", (_name, read) => {
  test("handles every event once, oldest first, and leaves nothing", async () => {
    const dir = await pendingFolder();
    const inbox = await testInbox(dir);
    const events = Array.from({ length: 200 }, (_, i) => envelope({ type: i % 2 ? "a.b" : "z.y", data: { text: "hello ../world", __proto__x: i } }));
    await Promise.all(events.map((e) => inbox.put(e, "normal")));
    expect(await read(dir)).toEqual(expect.objectContaining({ handled: events.map((e) => e.header.message_id), reasons: {} }));
    expect(await eventFiles(path.join(dir, "..", "processing"))).toEqual([]);
  });

  test.each([
    ["a separator in the id", flat("a/../../../tmp/x"), /^bad-id/],
    ["a NUL in the id", flat("ok\u0000.json"), /^bad-id/],
    ["a drive letter", flat("C:\\x"), /^bad-id/],
    ["a device name", flat("nul"), /^bad-id/],
    ["an id that is no text", flat(5), /^bad-id/],
    ["a number", "42", /^bad-shape/],
    ["a list", "[]", /^bad-shape/],
    ["null", "null", /^bad-shape/],
    ["no type", JSON.stringify({ id: "x" }), /^bad-shape/],
    ["a header that is no object", JSON.stringify({ header: 5, payload: [] }), /^bad-(shape|id)/],
    ["half a file that stays half", '{"header": {"mess', /^bad-json/],
    ["nothing", "", /^bad-json/],
    ["nested 100 000 deep", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, /^bad-json: nested/],
    ["lists nested 100 000 deep", "[".repeat(100_000), /^bad-json: nested/],
  ])("a file with %s goes to dead/ with the reason, and the next is handled", async (_what, content, reason) => {
    const dir = await pendingFolder();
    await writeFile(path.join(dir, "event_a_1.json"), content);
    await writeFile(path.join(dir, "event_b_2.json"), flat("good"));
    const { handled, reasons: why } = await read(dir);
    expect(handled).toEqual(["good"]);
    expect(Object.keys(why)).toEqual(["event_a_1.json"]);
    expect(why["event_a_1.json"]).toMatch(reason);
  });

  test("a link, a folder, a pipe in the place of an event: dead/, without following or waiting", async () => {
    const dir = await pendingFolder();
    await symlink("/etc/hostname", path.join(dir, "event_a_1.json"));
    await mkdir(path.join(dir, "event_a_2.json"));
    await run("mkfifo", [path.join(dir, "event_a_3.json")]);
    await writeFile(path.join(dir, "event_a_4.json"), Buffer.concat([Buffer.from('{"id":"x","type":"'), Buffer.from([0xff]), Buffer.from('"}')]));
    await writeFile(path.join(dir, "event_b_5.json"), `\ufeff${flat("good")}`);
    const { handled, reasons: why } = await read(dir);
    expect(handled).toEqual(["good"]);
    expect(Object.values(why).map((r) => r.split(":")[0])).toEqual(["not-a-file", "not-a-file", "not-a-file", "bad-json"]);
  });

  test("a file that is too large is not even read", async () => {
    const dir = await pendingFolder();
    await writeFile(path.join(dir, "event_a_1.json"), Buffer.alloc(9 * 1024 * 1024, " "));
    expect((await read(dir)).reasons["event_a_1.json"]).toMatch(/^too-large/);
  });

  test("half a file that becomes whole is handled once", async () => {
    const dir = await pendingFolder();
    const text = flat("late", { long: "x".repeat(1000) });
    await writeFile(path.join(dir, "event_a_1.json"), text.slice(0, 500));
    const writing = (async () => {
      const file = await until(async () => (await eventFiles(path.join(dir, "..", "processing"))).length > 0);
      await new Promise((resolve) => setTimeout(resolve, 200));
      await writeFile(path.join(dir, "..", "processing", "event_a_1.json"), text);
      return file;
    })();
    const { handled, reasons: why } = await read(dir);
    await writing;
    expect([handled, why]).toEqual([["late"], {}]);
  });

  test("the same id again is dropped, also by the next reader; with other content it is a conflict", async () => {
    const dir = await pendingFolder();
    await writeFile(path.join(dir, "event_a_1.json"), flat("ev1", { to: "one" }));
    await writeFile(path.join(dir, "event_a_2.json"), flat("ev1", { to: "one" }));
    expect((await read(dir)).handled).toEqual(["ev1"]);
    await writeFile(path.join(dir, "event_a_3.json"), flat("ev1", { to: "one" }));
    await writeFile(path.join(dir, "event_a_4.json"), flat("ev1", { to: "other" }));
    const { handled, reasons: why } = await read(dir);
    expect(handled).toEqual([]);
    expect(why).toEqual({ "event_a_4.json": expect.stringContaining("id-conflict") });
  });

  test("ids that differ in case are two", async () => {
    const dir = await pendingFolder();
    await writeFile(path.join(dir, "event_a_1.json"), flat("EV1"));
    await writeFile(path.join(dir, "event_a_2.json"), flat("ev1"));
    expect((await read(dir)).handled.toSorted()).toEqual(["EV1", "ev1"]);
  });

  test("what a dead reader had claimed is taken up again; temp files and ledgers are no events", async () => {
    const dir = await pendingFolder();
    await mkdir(path.join(dir, "..", "processing"));
    await writeFile(path.join(dir, "..", "processing", "event_a_1.json"), flat("claimed"));
    await writeFile(path.join(dir, ".aurora-aaaaaaaa-1-1-1.part"), "{");
    await writeFile(path.join(dir, ".hidden.json"), "{");
    await writeFile(path.join(dir, "notes.txt"), "{");
    expect(await read(dir)).toEqual(expect.objectContaining({ handled: ["claimed"], reasons: {} }));
    expect((await stat(path.join(dir, ".hidden.json"))).isFile()).toBe(true);
  });
});

describe("the TypeScript reader", () => {
  test("tries again, then gives up to dead/; GiveUp gives up at once", async () => {
    const dir = await pendingFolder();
    for (const id of ["once", "never", "at-once"]) await writeFile(path.join(dir, `event_a_${id}.json`), flat(id));
    const tries: Record<string, number> = {};
    const { reasons: why } = await readWithTypeScript(dir, {
      maxAttempts: 3,
      handle: ({ id, attempt }) => {
        tries[id] = attempt;
        if (id === "at-once") throw new GiveUp("no");
        if (id === "never" || attempt < 2) throw new Error("not now");
      },
    });
    expect(tries).toEqual({ once: 2, never: 3, "at-once": 1 });
    expect(why).toEqual({ "event_a_never.json": "given up after 3 attempts: not now", "event_a_at-once.json": "given up after 1 attempts: no" });
  });

  test("ended while it handles, it puts the event back", async () => {
    const dir = await pendingFolder();
    await writeFile(path.join(dir, "event_a_1.json"), flat("x"));
    const stop = new AbortController();
    await readInbox({
      dir,
      signal: stop.signal,
      handle: () => {
        stop.abort();
        throw new Error("interrupted");
      },
    });
    expect(await eventFiles(dir)).toEqual(["event_a_1.json"]);
  });

  test("several readers share the work: each event once", async () => {
    const dir = await pendingFolder();
    const inbox = await testInbox(dir);
    await Promise.all(Array.from({ length: 100 }, () => inbox.put(envelope(), "normal")));
    const seen: string[] = [];
    const stop = new AbortController();
    const readings = [1, 2, 3].map(() => readInbox({ dir, signal: stop.signal, exclusive: false, pollMs: 20, handle: (e) => void seen.push(e.id) }));
    await until(() => seen.length >= 100);
    stop.abort();
    await Promise.all(readings);
    expect(new Set(seen).size).toBe(100);
    expect(seen).toHaveLength(100);
  });

  test("keeps handled files when asked, and says which events are stale", async () => {
    const dir = await pendingFolder();
    const inbox = await testInbox(dir);
    await inbox.put(envelope({ expiresInMs: -1 }), "normal");
    await inbox.put(envelope({ expiresInMs: 60_000 }), "normal");
    const { events } = await readWithTypeScript(dir, { done: "keep" });
    expect(events.map((e) => e.expired)).toEqual([true, false]);
    expect(await eventFiles(path.join(dir, "..", "done"))).toHaveLength(2);
  });
});

describe("the Python reader", () => {
  beforeAll(() => {
    // Without Python there is nothing to try: the same protocol is proven with the other reader above.
    if (!hasPython) console.warn("python3 is not here");
  });

  test("compiles and tries handlers again", async () => {
    if (!hasPython) return;
    const dir = await pendingFolder();
    for (const id of ["once", "never"]) await writeFile(path.join(dir, `event_a_${id}.json`), flat(id));
    const script = [
      "import sys; sys.path.insert(0, sys.argv[2])",
      "from aurora_inbox import Inbox",
      "tries = {}",
      "def handle(event):",
      "    tries[event.id] = tries.get(event.id, 0) + 1",
      "    if event.id == 'never' or tries[event.id] < 2: raise RuntimeError('not now')",
      "Inbox(sys.argv[1]).run(handle, attempts=3, retry_seconds=0.01, follow=False)",
      "print(sorted(tries.items()))",
    ].join("\n");
    const { stdout } = await run("python3", ["-B", "-c", script, dir, path.dirname(python)]);
    expect(stdout.trim()).toBe("[('never', 3), ('once', 2)]");
    expect(await reasons(dir)).toEqual({ "event_a_never.json": "given up after 3 attempts: not now" });
  });
});

describe("tail", () => {
  async function tail(dir: string, options: Partial<Parameters<typeof tailInbox>[1]>): Promise<{ seen: AmpEnvelope[]; stop: () => Promise<void> }> {
    const abort = new AbortController();
    const seen: AmpEnvelope[] = [];
    const tailing = tailInbox(dir, {
      follow: false,
      signal: abort.signal,
      pollMs: 20,
      onEvent: (e) => void seen.push(e as unknown as AmpEnvelope),
      ...options,
    });
    const stop = async (): Promise<void> => {
      abort.abort();
      await tailing;
    };
    onTestFinished(stop);
    if (!options.follow) await tailing;
    return { seen, stop };
  }

  test("shows what is there, wherever it lies, without taking it", async () => {
    const dir = await pendingFolder();
    const inbox = await testInbox(dir);
    const first = envelope({ type: "a.one" });
    await inbox.put(first, "normal");
    await readWithTypeScript(dir, { done: "keep" });
    const second = envelope({ type: "b.two", app: "im.polaris.qq" });
    await inbox.put(second, "normal");
    expect((await tail(dir, {})).seen).toEqual([first, second]);
    expect((await tail(dir, { filter: { type: "b.*" } })).seen).toEqual([second]);
    expect((await tail(dir, { filter: { app: "im.*" } })).seen).toEqual([second]);
    expect((await tail(dir, { filter: { session: "none" } })).seen).toEqual([]);
    expect((await tail(dir, { filter: { sinceMs: Date.now() + 60_000 } })).seen).toEqual([]);
    expect(await eventFiles(dir)).toHaveLength(1);
  });

  test("follows: each event once", async () => {
    const dir = await pendingFolder();
    const inbox = await testInbox(dir);
    const { seen } = await tail(dir, { follow: true });
    const events = Array.from({ length: 20 }, () => envelope());
    for (const event of events) await inbox.put(event, "normal");
    await until(() => seen.length >= 20);
    expect(seen.map((e) => e.header.message_id)).toEqual(events.map((e) => e.header.message_id));
  });
});

describe("replay", () => {
  test("from dead/ the event itself goes back and is handled; from done/ a copy under a new id", async () => {
    const dir = await pendingFolder();
    const inbox = await testInbox(dir);
    const event = envelope({ type: "a.b" });
    await inbox.put(event, "normal");
    const dead = await readWithTypeScript(dir, { maxAttempts: 1, handle: () => Promise.reject(new Error("not today")) });
    expect(Object.keys(dead.reasons)).toHaveLength(1);
    const renew = (): { id: string; timestamp: string } => ({ id: envelope().header.message_id, timestamp: event.header.timestamp });
    expect(await replayEvents(dir, { from: "dead", filter: { type: "z.*" }, renew })).toBe(0);
    expect(await replayEvents(dir, { from: "dead", filter: { type: "a.*" }, renew })).toBe(1);
    const again = await readWithTypeScript(dir, { done: "keep" });
    expect([again.handled, again.reasons]).toEqual([[event.header.message_id], {}]);
    const told: AmpEnvelope[] = [];
    expect(await replayEvents(dir, { from: "done", renew, onEvent: (e) => told.push(e as unknown as AmpEnvelope) })).toBe(1);
    expect((await readWithTypeScript(dir)).handled).toEqual([told[0]!.header.message_id]);
    expect(told[0]!.header.message_id).not.toBe(event.header.message_id);
  });

  test("events of the flat form are shown, filtered and given again as they are", async () => {
    const dir = await pendingFolder();
    const inbox = await testInbox(dir, { format: "app_event" });
    const event = envelope({ type: "a.b" });
    await inbox.put(event, "normal");
    const flat = { id: event.header.message_id, type: "a.b", source: event.header.source.app, created_at: event.header.timestamp };
    const seen = async (filter: EventFilter): Promise<unknown[]> => {
      const events: unknown[] = [];
      await tailInbox(dir, { filter, follow: false, signal: new AbortController().signal, onEvent: (e) => void events.push(e) });
      return events;
    };
    expect(await seen({ type: "a.*", app: event.header.source.app })).toMatchObject([flat]);
    expect(await seen({ sinceMs: Date.parse(flat.created_at) + 1 })).toEqual([]);
    expect(await seen({ type: "z" })).toEqual([]);
    await readWithTypeScript(dir, { maxAttempts: 1, handle: () => Promise.reject(new Error("not today")) });
    const renew = (): { id: string; timestamp: string } => ({ id: envelope().header.message_id, timestamp: "2026-01-02T03:04:05+00:00" });
    expect(await replayEvents(dir, { from: "dead", filter: { app: "no.such" }, renew })).toBe(0);
    expect(await replayEvents(dir, { from: "dead", filter: { app: flat.source }, renew })).toBe(1);
    expect((await readWithTypeScript(dir, { done: "keep" })).handled).toEqual([flat.id]);
    const told: unknown[] = [];
    expect(await replayEvents(dir, { from: "done", renew, onEvent: (e) => told.push(e) })).toBe(1);
    expect(told).toMatchObject([{ ...flat, id: expect.not.stringMatching(flat.id), created_at: "2026-01-02T03:04:05+00:00" }]);
    expect(told[0]).not.toHaveProperty("header");
    expect((await readWithTypeScript(dir)).handled).toEqual([(told[0] as { id: string }).id]);
  });
});
