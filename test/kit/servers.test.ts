import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { httpMcpServer } from "../support/http-mcp-server.ts";
import { isRunning, scriptedApp, startKit, topologyText, until, type TestKit } from "../support/kit.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const APP = "org.example.app";
const tool = (name: string, more: object = {}): object => ({ name, description: `Tool ${name}.`, inputSchema: { type: "object" }, ...more });
const listing = (...tools: object[]): object => ({ "tools/list": [{ result: { tools } }] });
const says = (text: string): object[] => [{ result: { content: [{ type: "text", text }] } }];

/** A kit over these apps; stopped after the test. */
async function kitOf(apps: Record<string, unknown>, more: Record<string, unknown> = {}, settle = true): Promise<TestKit> {
  const t = await startKit({ "topology/topology.yaml": topologyText(apps, more) }, { settle });
  cleanups.push(() => t.stop());
  return t;
}

/** How often the scripted server got a method. */
async function count(t: TestKit, method: string, app = APP): Promise<number> {
  const call = await t.kit.callTool(`${app}.journal`, {});
  const [block] = call.result!["content"] as { text: string }[];
  return (JSON.parse(block!.text) as { method?: string }[]).filter((message) => message.method === method).length;
}

const statusOf = (t: TestKit, app = APP) => t.kit.status().apps.find((a) => a.package === app)!;
const rows = (t: TestKit) => Object.fromEntries(t.kit.toolRows().map((row) => [row.name, { state: row.state, reason: row.reason }]));

describe("an app that is down", () => {
  it("for a wrong address is asked once, and 50 calls get the same clear answer (hermes-agent#18165)", async () => {
    const server = await httpMcpServer(({ reply }) => (reply(404), true));
    cleanups.push(() => server.close());
    const t = await kitOf({ [APP]: { trust: "high", mcp: { transport: "http", url: server.url } } });
    const before = server.log.length;
    const calls = await Promise.all(Array.from({ length: 50 }, () => t.kit.callTool(`${APP}.echo`, {})));
    expect(new Set(calls.map((c) => JSON.stringify(c.error))).size).toBe(1);
    expect(calls[0]!.error).toMatchObject({ error_code: "APP_UNAVAILABLE", message: expect.stringContaining(`app ${APP} could not be started: `) });
    expect(calls[0]!.error!.message).toContain("HTTP 404");
    expect(server.log.filter((name) => name === "initialize")).toHaveLength(1);
    expect(server.log).toHaveLength(before);
  });

  it("is woken by a call although nothing was ever seen of it, and serves that call", async () => {
    const t = await kitOf({ [APP]: scriptedApp({ on: { start: [{ requireFile: "ready" }] } }, { mcp: { restart: { max_attempts: 0 }, cwd: "../data" } }) });
    expect(statusOf(t)).toMatchObject({ state: "parked", tools: 0 });
    expect(Date.parse(statusOf(t).next_attempt!)).toBeGreaterThan(Date.now() + 60_000);
    const refused = await t.kit.callTool(`${APP}.echo`, {});
    expect(refused.error).toMatchObject({ error_code: "APP_UNAVAILABLE", retryable: true });
    expect(refused.error!.message).toMatch(/does not come up and is parked: .*exited with code 9.*; next attempt in \d/s);
    await writeFile(path.join(t.workspace.root, "data/ready"), "");
    expect(await t.kit.callTool(`${APP}.echo`, { a: 1 })).toMatchObject({ ok: true });
    expect(statusOf(t)).toMatchObject({ state: "ready", next_attempt: null, reason: null });
  });

  it("has its tools marked, not vanished; a call of one wakes it; exports leave it out meanwhile", async () => {
    const t = await kitOf({
      [APP]: scriptedApp(
        { on: { ...listing(tool("echo"), tool("die")), start: [{ requireFile: "ready" }], "tools/call die": [{ exit: 1 }] } },
        { mcp: { restart: { max_attempts: 0 }, cwd: "../data" } },
      ),
    });
    await writeFile(path.join(t.workspace.root, "data/ready"), "");
    await t.kit.restartApp(APP);
    const before = t.kit.tools("openai").text;
    const { rm } = await import("node:fs/promises");
    await rm(path.join(t.workspace.root, "data/ready"));
    expect((await t.kit.callTool(`${APP}.die`, {})).outcome).toBe("unknown");
    await until(() => statusOf(t).state === "parked");
    await until(() => rows(t)[`${APP}.echo`]?.state === "unavailable");
    expect(rows(t)[`${APP}.echo`]).toEqual({ state: "unavailable", reason: `app ${APP} does not come up and is parked` });
    expect(t.kit.explain(`${APP}.echo`)).toMatchObject({ state: "unavailable" });
    await until(() => t.kit.tools("openai").tools.length === 0);
    await writeFile(path.join(t.workspace.root, "data/ready"), "");
    expect(await t.kit.callTool(`${APP}.echo`, {})).toMatchObject({ ok: true });
    await until(() => t.kit.tools("openai").text === before);
  });

  it("does not hold up the others: the quick one is usable at once, the slow one joins later with a change (vscode#313447)", async () => {
    const t = await kitOf(
      {
        "org.example.quick": scriptedApp({}),
        "org.example.slow": scriptedApp({
          on: {
            initialize: [{ delay: 1_500 }, { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } }],
          },
        }),
      },
      {},
      false,
    );
    await until(() => statusOf(t, "org.example.quick").state === "ready");
    expect(statusOf(t, "org.example.slow").state).toBe("starting");
    expect(await t.kit.callTool("org.example.quick.echo", {})).toMatchObject({ ok: true });
    let changes = 0;
    t.kit.on("catalog", () => (changes += 1));
    // A call of the slow one simply waits for it.
    expect(await t.kit.callTool("org.example.slow.echo", {})).toMatchObject({ ok: true });
    await until(() => changes > 0);
  });
});

describe("the catalogue", () => {
  it("reads the lists at most once more after 200 list_changed from inside one call, and delivers the call (claude-code#4118)", async () => {
    const notify = { notify: { method: "notifications/tools/list_changed" }, repeat: 200 };
    const t = await kitOf({ [APP]: scriptedApp({ on: { ...listing(tool("storm"), tool("journal")), "tools/call storm": [notify, ...says("done")] } }) });
    expect(await t.kit.callTool(`${APP}.storm`, {})).toMatchObject({ ok: true });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await count(t, "tools/list")).toBe(2);
  });

  it("is the same whatever order servers list in, and one that fails to list again changes nothing for the others", async () => {
    const names = ["c", "a", "b"];
    const shuffled = (order: string[], more: object = {}): unknown =>
      scriptedApp({
        on: {
          "tools/list": [{ result: { tools: order.map((n) => tool(n)) } }],
          "tools/list#2": [{ notify: { method: "notifications/message", params: { level: "info", data: "listed again" } } }, more],
          "tools/call a": [{ notify: { method: "notifications/tools/list_changed" } }, ...says("")],
        },
      });
    const t = await kitOf({
      "org.example.x": shuffled(names, { result: { tools: [...names].reverse().map((n) => tool(n)) } }),
      "org.example.y": shuffled(["b", "c", "a"], { result: { tools: ["a", "b", "c"].map((n) => tool(n)) } }),
      "org.example.z": shuffled(["a"], { error: { code: -32603, message: "not now" } }),
    });
    const before = t.kit.tools("openai").text;
    for (const app of ["x", "y", "z"]) await t.kit.callTool(`org.example.${app}.a`, {});
    await until(() => ["x", "y", "z"].every((app) => t.kit.appLog(`org.example.${app}`).some((line) => line.includes("listed again"))));
    await until(() => t.kit.appLog("org.example.z").some((line) => line.includes("reading the catalogue again failed")));
    expect(t.kit.tools("openai").text).toBe(before);
    expect(t.kit.catalog().tools.map((x) => x.full)).toEqual([
      "org.example.x.a",
      "org.example.x.b",
      "org.example.x.c",
      "org.example.y.a",
      "org.example.y.b",
      "org.example.y.c",
      "org.example.z.a",
    ]);
  });

  it("of 5,000 tools is exported up to the limit, says what was left out, and keeps a small server whole (gemini-cli#21823)", async () => {
    const many = Array.from({ length: 5_000 }, (_, i) => tool(`t${String(i).padStart(4, "0")}`));
    const server = await httpMcpServer(({ message, result }) => {
      if (message.method !== "tools/list") return false;
      const page = Number(message.params?.["cursor"] ?? 0);
      result({ tools: many.slice(page * 100, page * 100 + 100), ...(page < 49 ? { nextCursor: String(page + 1) } : {}) });
      return true;
    });
    cleanups.push(() => server.close());
    const t = await kitOf({
      "org.example.huge": { trust: "high", mcp: { transport: "http", url: server.url } },
      "org.example.small": scriptedApp({ on: listing(...Array.from({ length: 10 }, (_, i) => tool(`s${i}`))) }),
    });
    expect(statusOf(t, "org.example.huge").tools).toBe(5_000);
    const from = performance.now();
    const made = t.kit.tools("openai");
    expect(performance.now() - from).toBeLessThan(3_000);
    expect(made.tools).toHaveLength(128);
    expect(Object.values(made.names).filter((full) => full.startsWith("org.example.small."))).toHaveLength(10);
    expect(made.warnings.join("\n")).toMatch(/4,?882|left out/);
  });

  it("tells apart apps and tools whose names run together, by look-up alone (librechat#7435)", async () => {
    const named = (...names: string[]): unknown =>
      scriptedApp({ on: { ...listing(...names.map((n) => tool(n))), ...Object.fromEntries(names.map((n) => [`tools/call ${n}`, says("$me")])) } });
    const who = (app: string, ...names: string[]): unknown => JSON.parse(JSON.stringify(named(...names)).replaceAll("$me", app)) as unknown;
    const apps = {
      "org.db": ["execute_sql", "foo.run", "foo_run"],
      "org.my_db": ["execute_sql"],
      "org.db.foo": ["run"],
      "org.my-db": ["execute_sql", "execute.sql", "execute-sql"],
    };
    const t = await kitOf(Object.fromEntries(Object.entries(apps).map(([app, names]) => [app, who(app, ...names)])));
    const exported = t.kit.tools("openai").names;
    // org.db.foo.run is both `run` of org.db.foo and `foo.run` of org.db: one of the two is kept back, told, and never confused.
    const twins = t.kit.toolRows().filter((row) => row.name === "org.db.foo.run");
    expect(twins.map((row) => row.state).sort()).toEqual(["exposed", "quarantined"]);
    expect(Object.keys(exported)).toHaveLength(7);
    for (const [short, full] of Object.entries(exported)) {
      const owner = t.kit.catalog().byFull(full)!;
      const call = await t.kit.callTool(short, {});
      expect([short, call.tool!.full, (call.result!["content"] as { text: string }[])[0]!.text]).toEqual([short, full, owner.app]);
      expect(short).toMatch(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
    }
  });

  it("shows what was left out, with reasons, in status and explain; include, exclude and rename hold", async () => {
    const tools = [
      tool("find_all"),
      tool("find_private"),
      tool("other"),
      tool("bad name"),
      { name: "odd", inputSchema: { type: "string" } },
      { name: "bare" },
      tool("empty", { description: "" }),
    ];
    const t = await kitOf({
      [APP]: scriptedApp(
        { on: { ...listing(...tools), "tools/call find_all": says("found") } },
        { tools: { include: ["find_*", "odd", "empty"], exclude: ["find_private"], rename: { find_all: "search_all" } } },
      ),
    });
    expect(statusOf(t).dropped).toEqual([
      { kind: "tool", name: "bad name", reason: "its name is not 1 to 128 of A-Z a-z 0-9 _ . -" },
      { kind: "tool", name: "odd", reason: 'its inputSchema has the root type "string", not "object"' },
    ]);
    expect(() => t.kit.explain(`${APP}.odd`)).toThrow('left out: its inputSchema has the root type "string"');
    expect(() => t.kit.explain("bad name")).toThrow("left out: its name is not");
    expect(t.kit.explain(`${APP}.find_private`)).toMatchObject({ state: "excluded", decision: "deny", rule: null });
    expect(rows(t)).toMatchObject({
      [`${APP}.search_all`]: { state: "exposed" },
      [`${APP}.find_private`]: { state: "excluded", reason: 'excluded by tools.exclude "find_private"' },
      [`${APP}.other`]: { state: "excluded", reason: "not in tools.include" },
    });
    expect(Object.values(t.kit.tools("openai").names).sort()).toEqual([`${APP}.empty`, `${APP}.search_all`]);
    expect(await t.kit.callTool(`${APP}.search_all`, {})).toMatchObject({ ok: true, tool: { name: "find_all" } });
    expect((await t.kit.callTool(`${APP}.find_private`, {})).error).toMatchObject({ error_code: "TOOL_NOT_FOUND" });
    for (const made of t.kit.tools("openai").tools) expect((made as { function: { description: string } }).function.description).not.toBe("");
  });
});

describe("a server whose lists cannot be read", () => {
  it("is told with what the server said", async () => {
    const script = { on: { start: [{ stderr: "cannot open the index\n" }], "tools/list": [{ error: { code: -32603, message: "db down" } }] } };
    const t = await kitOf({ [APP]: scriptedApp(script) });
    expect(statusOf(t).reason).toContain("the server came up, but what it shows could not be read: db down; stderr ends with: cannot open the index");
  });

  it("of prompts that never comes costs the prompts alone", async () => {
    const hello = { capabilities: { tools: {}, prompts: {} } };
    const t = await kitOf({ [APP]: scriptedApp({ hello, on: { "prompts/list": [{ silent: true }] } }, { start_timeout: "1s" }) });
    expect(statusOf(t)).toMatchObject({ state: "ready", tools: 2, warnings: [expect.stringMatching(/^prompts\/list failed: .*(timed out|hard limit)/)] });
  });

  it("has one start_timeout for all their pages", async () => {
    const pages = Object.fromEntries(
      [1, 2, 3, 4, 5].map((n) => [`tools/list#${n}`, [{ delay: 500 }, { result: { tools: [tool(`t${n}`)], nextCursor: `c${n}` } }]]),
    );
    const t = await kitOf({ [APP]: scriptedApp({ on: { "tools/list": pages["tools/list#1"], ...pages } }, { start_timeout: "2s" }) });
    expect(statusOf(t)).toMatchObject({ state: "backoff", reason: expect.stringContaining("were not read in time (start_timeout: 2s") });
  });

  it("holds up neither a restart nor a stop while they are read again", async () => {
    const changed = { notify: { method: "notifications/tools/list_changed" } };
    const mute = [{ silent: true }];
    const t = await kitOf({
      [APP]: scriptedApp({ on: { ...listing(tool("change"), tool("journal")), "tools/list#2": mute, "tools/call change": [changed, ...says("changed")] } }),
    });
    const listedAgain = async (): Promise<void> => {
      await t.kit.callTool(`${APP}.change`, {});
      await until(async () => (await count(t, "tools/list")) === 2);
    };
    await listedAgain();
    const started = Date.now();
    expect(await t.kit.restartApp(APP)).toMatchObject({ state: "ready", restarts: 1 });
    await listedAgain();
    await t.kit.close();
    expect(Date.now() - started).toBeLessThan(8000);
  });
});

describe("odd results cost no more than themselves", () => {
  const shaped = { outputSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } };
  const CASES: [string, object, object, JsonObject][] = [
    ["a text block without text (langchain-mcp#41)", {}, { content: [{ type: "text" }, { type: "text", text: "good" }] }, { ok: true, outcome: "succeeded" }],
    [
      "null for everything optional",
      { description: null, outputSchema: null, annotations: null },
      { content: [{ type: "text", text: "good", annotations: null, _meta: null }], structuredContent: null, isError: null },
      { ok: true, outcome: "succeeded" },
    ],
    [
      "an unknown kind of block",
      {},
      {
        content: [
          { type: "hologram", beam: 1 },
          { type: "text", text: "good" },
        ],
      },
      { ok: true, outcome: "succeeded" },
    ],
    ["a structured list", {}, { content: [{ type: "text", text: "good" }], structuredContent: [1, 2] }, { ok: true, outcome: "succeeded" }],
    [
      "an error that does not fit the outputSchema",
      shaped,
      { isError: true, content: [{ type: "text", text: "good" }], structuredContent: { error: "x" } },
      { ok: false, error: { error_code: "TOOL_FAILED", message: "good" } },
    ],
    ["no content at all", {}, {}, { ok: true, outcome: "succeeded" }],
    [
      "one block instead of a list",
      {},
      { content: { type: "text", text: "good" } },
      {
        ok: true,
        result: { content: [{ type: "text", text: "good" }] },
        notes: ["the content of the result of org.example.app.odd was not a list; it was made one"],
      },
    ],
    ["plain text instead of a list", {}, { content: "good" }, { ok: true, result: { content: [{ type: "text", text: "good" }] } }],
    ["isError as text", {}, { isError: "true", content: [{ type: "text", text: "good" }] }, { ok: false, error: { error_code: "TOOL_FAILED" } }],
    [
      "a task that nobody asked for",
      {},
      { task: { taskId: "1", status: "working" } },
      { ok: false, outcome: "unknown", error: { error_code: "PROTOCOL_ERROR" } },
    ],
  ];
  it.each(CASES)("%s", async (_name, definition, result, expected) => {
    const t = await kitOf({ [APP]: scriptedApp({ on: { ...listing(tool("odd", definition)), "tools/call odd": [{ result }] } }) });
    expect(await t.kit.callTool(`${APP}.odd`, {})).toMatchObject(expected);
    const [message] = await t.kit.executeToolCalls([{ id: "1", type: "function", function: { name: `${APP}.odd`, arguments: "{}" } }]);
    expect(typeof message!["content"]).toBe("string");
    if ("content" in result) expect(message!["content"]).toContain("good");
  });
});

describe("calls at the same time", () => {
  const waiting = { on: { ...listing(tool("wait"), tool("journal")), "tools/call wait": [{ delay: 800 }, ...says("waited")] } };

  it("are bounded per app; one that waits for its turn is cancelled when its caller goes, and never reaches the server", async () => {
    const t = await kitOf({ [APP]: scriptedApp(waiting, { max_concurrent_calls: 2 }) });
    const caller = new AbortController();
    const running = [1, 2].map(() => t.kit.callTool(`${APP}.wait`, {}));
    const queued = t.kit.callTool(`${APP}.wait`, {});
    const given = t.kit.callTool(`${APP}.wait`, {}, { signal: caller.signal });
    await until(() => statusOf(t).calls === 2);
    caller.abort();
    expect(await given).toMatchObject({ outcome: "failed", error: { error_code: "CANCELLED" } });
    expect((await Promise.all([...running, queued])).map((c) => c.outcome)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(await count(t, "tools/call")).toBe(4);
  });

  it("wait for their turn no longer than a call may take, and say what they waited for", async () => {
    // Its progress keeps the first call alive beyond the time that the second may wait.
    const progress = { delay: 400, notify: { method: "notifications/progress", params: { progressToken: "$token", progress: 1 } } };
    const script = { on: { ...waiting.on, "tools/call wait": [progress, progress, progress, progress, progress, ...says("done")] } };
    const t = await kitOf({ [APP]: scriptedApp(script, { max_concurrent_calls: 1, call_timeout: "1200ms" }) });
    const first = t.kit.callTool(`${APP}.wait`, {});
    await until(() => statusOf(t).calls === 1);
    const second = await t.kit.callTool(`${APP}.wait`, {});
    expect(second).toMatchObject({ outcome: "failed", error: { error_code: "APP_UNAVAILABLE", retryable: true } });
    expect(second.error!.message).toContain("the app already runs as many calls as it may (max_concurrent_calls: 1)");
    expect(await first).toMatchObject({ ok: true });
  });

  it("that wait for their turn go on as soon as a reload lets more of them run", async () => {
    const script = { on: { ...listing(tool("wait"), tool("quick")), "tools/call wait": [{ silent: true }], "tools/call quick": says("quick") } };
    const t = await kitOf({ [APP]: scriptedApp(script, { max_concurrent_calls: 1 }) });
    const caller = new AbortController();
    const running = t.kit.callTool(`${APP}.wait`, {}, { signal: caller.signal });
    await until(() => statusOf(t).calls === 1);
    const queued = [1, 2, 3].map(() => t.kit.callTool(`${APP}.quick`, {}));
    await t.workspace.write("topology/topology.yaml", topologyText({ [APP]: scriptedApp(script, { max_concurrent_calls: 4 }) }));
    expect(await t.kit.reload()).toMatchObject({ result: "applied" });
    expect((await Promise.all(queued)).map((call) => call.outcome)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(statusOf(t).calls).toBe(1);
    caller.abort();
    expect(await running).toMatchObject({ error: { error_code: "CANCELLED" } });
  });

  it("that wait for their turn at a server that drains run on its successor at once", async () => {
    const script = { on: { ...listing(tool("wait"), tool("quick")), "tools/call wait": [{ silent: true }], "tools/call quick": says("quick") } };
    const t = await kitOf({ [APP]: scriptedApp(script, { max_concurrent_calls: 1, drain_timeout: "60s" }) });
    const caller = new AbortController();
    const running = t.kit.callTool(`${APP}.wait`, {}, { signal: caller.signal });
    await until(() => statusOf(t).calls === 1);
    const queued = [1, 2, 3].map(() => t.kit.callTool(`${APP}.quick`, {}));
    await t.kit.restartApp(APP);
    expect((await Promise.all(queued)).map((call) => call.outcome)).toEqual(["succeeded", "succeeded", "succeeded"]);
    caller.abort();
    expect(await running).toMatchObject({ error: { error_code: "CANCELLED" } });
  });

  it("that waited for their turn at a server that is replaced run on its successor", async () => {
    const script = {
      on: { ...listing(tool("wait"), tool("quick")), "tools/call wait": [{ delay: 20_000 }, ...says("waited")], "tools/call quick": says("quick") },
    };
    const t = await kitOf({ [APP]: scriptedApp(script, { max_concurrent_calls: 1, drain_timeout: "400ms" }) });
    const running = t.kit.callTool(`${APP}.wait`, {});
    await until(() => statusOf(t).calls === 1);
    const queued = [1, 2, 3].map(() => t.kit.callTool(`${APP}.quick`, {}));
    await t.kit.restartApp(APP);
    expect(await running).toMatchObject({ outcome: "unknown", error: { error_code: "APP_REMOVED" } });
    expect((await Promise.all(queued)).map((call) => call.outcome)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });
});

describe("log messages of a server", () => {
  it("go into the app's log with their level, as far as the app's log_level asks, and secrets do not", async () => {
    const message = (level: string, data: unknown, more: object = {}): object => ({
      notify: { method: "notifications/message", params: { level, data, ...more } },
    });
    const script = {
      hello: { capabilities: { tools: {}, logging: {} } },
      on: {
        ...listing(tool("talk"), tool("journal")),
        "logging/setLevel": [{ result: {} }],
        "tools/call talk": [
          message("warning", "low on\nink \u001b[31mred", { logger: "printer" }),
          message("info", { pages: 3, key: "sk-verysecret-0123456789" }),
          ...says(""),
        ],
      },
    };
    const t = await kitOf({ [APP]: scriptedApp(script, { log_level: "warning", mcp: { env: { PRINTER_TOKEN: "sk-verysecret-0123456789" } } }) });
    const followed: string[] = [];
    t.kit.onAppLog(APP, (line) => followed.push(line));
    await t.kit.callTool(`${APP}.talk`, {});
    await until(() => followed.length >= 2);
    expect(followed[0]).toBe("[log warning] printer: low on ink red");
    expect(followed[1]).toMatch(/^\[log info\] \{"pages":3,"key":"[^s]/);
    expect(await count(t, "logging/setLevel")).toBe(1);
  });

  it("without end do not flood the log: the rest is counted", async () => {
    const line = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "error", data: "again" } })}\n`;
    const flood = { stdout: line, repeat: 5_000 };
    const t = await kitOf({ [APP]: scriptedApp({ on: { ...listing(tool("flood"), tool("echo")), "tools/call flood": [flood, ...says("")] } }) });
    await t.kit.callTool(`${APP}.flood`, {});
    expect(t.kit.appLog(APP).filter((line) => line.includes("again")).length).toBeLessThan(1_000);
    expect((await t.inbox()).filter((e) => JSON.stringify(e).includes("again")).length).toBeLessThan(1_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await t.kit.callTool(`${APP}.flood`, {});
    await until(() => t.kit.appLog(APP).some((line) => /\d+ log messages of the server were left out/.test(line)));
  });
});

describe("stopping", () => {
  it("ends 20 apps that ignore everything side by side, within the time of one", async () => {
    const apps = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`org.example.stubborn${i}`, scriptedApp({ ignoreTerm: true, ignoreEof: true })]));
    const t = await startKit({ "topology/topology.yaml": topologyText(apps) });
    cleanups.push(() => t.workspace.remove());
    await until(() => t.kit.status().apps.every((a) => a.state === "ready"), 30_000);
    const pids = t.kit.status().apps.map((a) => a.pid!);
    const from = performance.now();
    await t.kit.close();
    expect(performance.now() - from).toBeLessThan(10_000);
    for (const pid of pids) expect(await isRunning(pid)).toBe(false);
  }, 60_000);
});
