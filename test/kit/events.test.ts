import { afterEach, describe, expect, it } from "vitest";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { createMasker } from "../../src/base/masking.ts";
import { openAudit } from "../../src/calls/audit.ts";
import { verifyAudit } from "../../src/calls/verify-audit.ts";
import { openAuditFile, readAudit } from "../../src/files/audit-file.ts";
import { createKit } from "../../src/kit.ts";
import { compileSchema } from "../../src/base/json-schema.ts";
import { isRunning, scriptedApp, startKit, topologyText, until, type TestKit } from "../support/kit.ts";

const LOW = JSON.stringify({ rules: [{ id: "all-low", tools: ["*"], risk: "low" }] });
const notify = (method: string, params: object): object => ({ notify: { method, params } });

describe("signals become events", () => {
  let t: TestKit;
  afterEach(() => t.stop());
  const start = async (script: object, more: object = {}, files: Record<string, string> = {}, settings: object = {}): Promise<void> => {
    t = await startKit({
      "topology/topology.yaml": topologyText(
        { "org.test.a": scriptedApp(script, settings as Record<string, unknown>) },
        { policies: ["policies/*.yaml"], signals: ["signals/*.yaml"], ...more },
      ),
      "topology/policies/p.yaml": LOW,
      "topology/signals/s.yaml": "rules: []\n",
      ...files,
    });
  };
  const types = async (): Promise<string[]> => (await t.inbox()).map((e) => e.payload.type);
  const has = (type: string) => until(async () => (await types()).includes(type), 10_000, `no event ${type}`);

  it("tells start, stop and crash, with restart counts", async () => {
    await start({ on: { "tools/call echo": [{ kill: "SIGKILL" }] } });
    await has("lifecycle.started");
    await t.kit.callTool("org.test.a.echo", {});
    await has("lifecycle.crashed");
    await until(async () => (await types()).filter((type) => type === "lifecycle.started").length === 2);
    const events = await t.inbox();
    expect(events.filter((e) => e.payload.type === "lifecycle.started").map((e) => (e.payload.data as { restarts: number }).restarts)).toEqual([0, 1]);
    expect(events.find((e) => e.payload.type === "lifecycle.crashed")!.payload.data).toMatchObject({ signal: "SIGKILL", restarts: 0 });
    await t.kit.close();
    expect((await lifecycle()).slice(-2)).toEqual([
      { type: "lifecycle.stopping", restarts: 1, pid: expect.any(Number) },
      { type: "lifecycle.stopped", restarts: 1, pid: expect.any(Number) },
    ]);
  });

  /** The lifecycle events in order, each with the members that name its process. */
  const lifecycle = async (): Promise<object[]> =>
    (await t.inbox())
      .filter((e) => e.header.method === "mcp.lifecycle")
      .map((e) => {
        const { restarts, pid, reason } = e.payload.data as { restarts: number; pid: number; reason?: string };
        return { type: e.payload.type, restarts, pid, ...(reason === undefined ? {} : { reason }) };
      });
  const slowCall = (more: object = {}): object => ({ on: { "tools/call echo": [{ delay: 3_000 }, { result: { content: [] } }] }, ...more });
  const change = (settings: object): Promise<unknown> =>
    t.workspace.write(
      "topology/topology.yaml",
      topologyText(settings as Record<string, unknown>, { policies: ["policies/*.yaml"], signals: ["signals/*.yaml"] }),
    );

  it("a replaced server: its stop is told before the new start, and its end never as the end of the app", async () => {
    await start(slowCall());
    const old = t.pid("org.test.a")!;
    const running = t.kit.callTool("org.test.a.echo", {});
    await until(() => t.kit.status().apps[0]!.calls === 1);
    await change({ "org.test.a": scriptedApp(slowCall({ n: 1 })) });
    await t.kit.reload();
    await has("lifecycle.stopping");
    await until(async () => (await lifecycle()).length === 3);
    const now = t.pid("org.test.a")!;
    const told = [
      { type: "lifecycle.started", restarts: 0, pid: old },
      { type: "lifecycle.stopping", restarts: 0, pid: old, reason: "replaced" },
      { type: "lifecycle.started", restarts: 1, pid: now },
    ];
    expect(await lifecycle()).toEqual(told);
    expect(await isRunning(old)).toBe(true);
    expect((await running).ok).toBe(true);
    await has("lifecycle.replaced");
    expect(await isRunning(old)).toBe(false);
    expect(await lifecycle()).toEqual([...told, { type: "lifecycle.replaced", restarts: 0, pid: old, reason: "replaced" }]);
    expect((await t.inbox()).find((e) => e.payload.type === "lifecycle.stopping")!.payload.summary).toBe(
      "org.test.a stopping (its old process; a new one takes over)",
    );
  });

  it("stop_first: stopping, stopped, started, each with its process", async () => {
    const stopFirst = (n: number): object => ({ "org.test.a": scriptedApp({ n }, { mcp: { handover: "stop_first" } }) });
    await start({ n: 0 }, {}, {}, { mcp: { handover: "stop_first" } });
    const old = t.pid("org.test.a")!;
    await change(stopFirst(1));
    await t.kit.reload();
    await until(async () => (await lifecycle()).length === 4);
    expect((await lifecycle()).slice(1)).toEqual([
      { type: "lifecycle.stopping", restarts: 0, pid: old, reason: "replaced" },
      { type: "lifecycle.stopped", restarts: 0, pid: old, reason: "replaced" },
      { type: "lifecycle.started", restarts: 1, pid: t.pid("org.test.a") },
    ]);
  });

  it("taken out and put back while the old server still has a call: the app's last word is its start", async () => {
    await start(slowCall());
    const old = t.pid("org.test.a")!;
    const running = t.kit.callTool("org.test.a.echo", {});
    await until(() => t.kit.status().apps[0]!.calls === 1);
    await change({});
    await t.kit.reload();
    await change({ "org.test.a": scriptedApp(slowCall()) });
    await t.kit.reload();
    expect((await running).ok).toBe(true);
    await until(async () => (await lifecycle()).length === 4);
    expect((await lifecycle()).slice(1)).toEqual([
      { type: "lifecycle.stopping", restarts: 0, pid: old },
      { type: "lifecycle.started", restarts: 0, pid: t.pid("org.test.a") },
      { type: "lifecycle.replaced", restarts: 0, pid: old, reason: "replaced" },
    ]);
  });

  it("a server that hangs without dying is replaced as soon as a call timed out in silence", async () => {
    await start({}, {}, {}, { call_timeout: "1s", mcp: { health_timeout: 1 } });
    const old = t.pid("org.test.a")!;
    process.kill(old, "SIGSTOP");
    const begun = performance.now();
    expect((await t.kit.callTool("org.test.a.echo", {})).error?.error_code).toBe("TIMEOUT");
    await until(() => ![old, null].includes(t.pid("org.test.a")), 25_000);
    // The probe of every 30 s would not have come yet.
    expect(performance.now() - begun).toBeLessThan(20_000);
    await has("lifecycle.crashed");
    const crashed = (await t.inbox()).find((e) => e.payload.type === "lifecycle.crashed")!;
    expect(crashed.payload.data).toMatchObject({ pid: old, reason: "gave no sign of life for 1s" });
    await until(async () => !(await isRunning(old)));
  });

  it("takes Aurora-native events both ways, once per idempotency key, and refuses reserved types", async () => {
    const received = {
      type: "message.received",
      session_id: "group_1",
      summary: "somebody says: hi there",
      data: { text: "hi there" },
      idempotency_key: "m1",
    };
    await start({
      on: {
        "tools/call echo": [
          notify("aurora/event", received),
          notify("aurora/event", received),
          notify("notifications/message", { level: "info", logger: "aurora/event", data: { type: "diary.written", data: { date: "2026-06-17" } } }),
          notify("aurora/event", { type: "tool.completed", data: {} }),
          notify("aurora/event", 42 as unknown as object),
          { result: { content: [] } },
        ],
      },
    });
    await t.kit.callTool("org.test.a.echo", {});
    await has("diary.written");
    await until(async () => (await types()).filter((type) => type === "mcp.error").length === 2);
    const events = await t.inbox();
    expect(events.filter((e) => e.payload.type === "message.received")).toHaveLength(1);
    expect(events.find((e) => e.payload.type === "message.received")).toMatchObject({
      header: { method: "aurora/event", source: { app: "org.test.a", instance: "org.test.a" } },
      payload: { session_id: "group_1", summary: "somebody says: …", data: { text: "hi there" } },
    });
    expect(t.kit.appLog("org.test.a").some((line) => line.includes("tool.completed is reserved"))).toBe(true);
  });

  it("reads the catalogue again after list_changed, tells what changed, and announces it once", async () => {
    const tools = (...names: string[]): object => ({ result: { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) } });
    await start({
      hello: { capabilities: { tools: { listChanged: true } } },
      on: {
        "tools/list": [tools("echo", "old")],
        "tools/list#2": [tools("echo", "new")],
        "tools/call echo": [{ notify: { method: "notifications/tools/list_changed" }, repeat: 50 }, { result: { content: [] } }],
      },
    });
    let announced = 0;
    t.kit.on("catalog", () => (announced += 1));
    await t.kit.callTool("org.test.a.echo", {});
    await has("capability.changed");
    await new Promise((resolve) => setTimeout(resolve, 600));
    const changes = (await t.inbox()).filter((e) => e.payload.type === "capability.changed");
    expect(changes).toHaveLength(1);
    expect(changes[0]!.payload.data).toMatchObject({ kind: "tools", added: ["new"], removed: ["old"], changed: [] });
    expect(t.kit.catalog().byFull("org.test.a.new")).toBeDefined();
    expect(announced).toBeLessThanOrEqual(2);
  });

  it("maps by the user's rules instead of the built-in table, and drops what a rule drops", async () => {
    await start(
      {
        on: {
          "tools/call echo": [
            notify("notifications/build/done", { id: 7, repo: "main" }),
            notify("notifications/secret", { a: 1 }),
            notify("notifications/other", { b: 2 }),
            notify("notifications/progress", { progressToken: "x", progress: 1 }),
            { result: { content: [] } },
          ],
        },
      },
      {},
      {
        "topology/signals/s.yaml": JSON.stringify({
          rules: [
            {
              id: "build",
              when: { app: "org.test.*", method: "notifications/build/done" },
              emit: { type: "build.done", session_id: "repo:{params.repo}", summary: "build {params.id}", data: "{params}", expires_in: "5m" },
            },
            { id: "quiet", when: { method: "notifications/secret" }, drop: true },
          ],
        }),
      },
    );
    await t.kit.callTool("org.test.a.echo", {});
    await has("mcp.notification.other");
    const events = await t.inbox();
    expect(events.find((e) => e.payload.type === "build.done")!.payload).toMatchObject({
      session_id: "repo:main",
      summary: "build 7",
      data: { id: 7, repo: "main" },
      expire_at: expect.any(String),
    });
    expect(events.map((e) => e.payload.type).filter((type) => type.startsWith("mcp.notification"))).toEqual(["mcp.notification.other"]);
  });

  it("subscribes to declared resources and tells their updates with content", async () => {
    await start(
      {
        hello: { capabilities: { tools: {}, resources: { subscribe: true } } },
        on: {
          "resources/list": [{ result: { resources: [{ uri: "aurora://diary/index", name: "index" }] } }],
          "resources/subscribe": [{ result: {} }],
          "resources/read": [{ result: { contents: [{ uri: "aurora://diary/index", text: "{}" }] } }],
          "tools/call echo": [
            notify("notifications/resources/updated", { uri: "aurora://diary/index" }),
            notify("notifications/resources/updated", { uri: "aurora://not/asked" }),
            { result: { content: [] } },
          ],
        },
      },
      {},
      {},
      { subscribe: ["aurora://diary/index"] },
    );
    await t.kit.callTool("org.test.a.echo", {});
    await has("resource.observed");
    const observed = (await t.inbox()).filter((e) => e.payload.type === "resource.observed");
    expect(observed).toHaveLength(1);
    expect(observed[0]).toMatchObject({ header: { method: "mcp.resource" }, payload: { data: { uri: "aurora://diary/index", contents: [{ text: "{}" }] } } });
  });

  it("reads a resource that changes without end no more often than it can, and once more after the last change", async () => {
    const updated = { notify: { method: "notifications/resources/updated", params: { uri: "aurora://diary/index" } }, repeat: 2000 };
    await start(
      {
        hello: { capabilities: { tools: {}, resources: { subscribe: true } } },
        on: {
          "resources/subscribe": [{ result: {} }],
          "resources/read": [{ delay: 20 }, { result: { contents: [{ uri: "aurora://diary/index", text: "old" }] } }],
          "tools/call echo": [updated, { result: { content: [] } }],
          "resources/read#2": [{ result: { contents: [{ uri: "aurora://diary/index", text: "new" }] } }],
        },
      },
      {},
      {},
      { subscribe: ["aurora://diary/index"] },
    );
    await t.kit.callTool("org.test.a.echo", {});
    const observed = async (): Promise<string[]> =>
      (await t.inbox()).filter((e) => e.payload.type === "resource.observed").map((e) => JSON.stringify(e.payload.data));
    await until(async () => (await observed()).at(-1)?.includes('"new"') === true);
    expect((await observed()).length).toBeLessThan(50);
  });

  it("tells breaches of the protocol, approvals, and puts receipts where the topology wants them", async () => {
    await start(
      { on: { start: [{ stdout: "Listening on stdio…\n" }] } },
      { inbox: { fsync: false, receipts: "../data/receipts" } },
      { "topology/policies/p.yaml": JSON.stringify({ rules: [{ id: "ask", tools: ["*"], action: "ask" }], approvals: { wait: "10ms" } }) },
    );
    await has("mcp.error");
    await t.kit.callTool("org.test.a.echo", {});
    await has("approval.requested");
    await t.kit.decideApproval(t.kit.listApprovals()[0]!.id, "deny", "me");
    await has("approval.decided");
    expect((await t.inbox()).find((e) => e.payload.type === "approval.requested")).toMatchObject({
      header: { method: "aurora/host", source: { app: "aurora-mcp-kit" } },
      payload: { data: { tool: "org.test.a.echo" } },
    });
    expect(await types()).not.toContain("tool.failed");
    const { readdir } = await import("node:fs/promises");
    expect((await readdir(`${t.workspace.root}/data/receipts`)).filter((name) => name.startsWith("event_tool.failed_"))).toHaveLength(1);
  });

  it("tells of a call that an earlier host had sent when it died: audit and receipt say that its outcome is unknown", async () => {
    await start({});
    await t.kit.callTool("org.test.a.echo", {});
    await t.kit.close();
    const log = path.join(t.workspace.root, "data/audit.jsonl");
    const dead = await openAudit({
      file: openAuditFile(log, { maxBytes: 1e6 }),
      clock: systemClock,
      masker: createMasker(),
      arguments: "masked",
      onFault() {},
    });
    const call = { kind: "tool", app: "org.test.a", name: "echo", client: "bot", session: "s1", risk: "high", decision: "ask" };
    await dead.append({ event: "call.sent", call_id: "lost-1", turn: "t1", approval_id: "a1" }, call);
    await dead.close();

    const next = createKit({ topology: t.workspace.topology, watch: false });
    await next.start();
    await next.close();
    const lost = (await t.inbox()).filter((event) => event.payload.type === "tool.failed");
    expect(lost).toMatchObject([
      {
        header: { source: { app: "org.test.a" } },
        payload: {
          data: {
            tool: "echo",
            call_id: "lost-1",
            session: "s1",
            outcome: "unknown",
            turn: "t1",
            approval_id: "a1",
            error: { error_code: "APP_UNAVAILABLE", retryable: false },
          },
        },
      },
    ]);
    const { lines, head } = await readAudit(log);
    expect(lines.map((line) => JSON.parse(line)).filter((record) => record.call_id === "lost-1")).toMatchObject([
      { event: "call.sent" },
      { event: "call.done", outcome: "unknown", ...call },
    ]);
    expect(verifyAudit(lines, head)).toMatchObject({ ok: true, note: null });
    // Told once: the log has its end now.
    const third = createKit({ topology: t.workspace.topology, watch: false });
    await third.start();
    await third.close();
    expect((await t.inbox()).filter((event) => event.payload.type === "tool.failed")).toHaveLength(1);
  });

  it("writes envelopes that fit the schema, with strictly rising timestamps", async () => {
    await start({ on: { "tools/call echo": [notify("notifications/x", { n: 1 }), { result: { content: [] } }] } });
    await Promise.all(Array.from({ length: 20 }, () => t.kit.callTool("org.test.a.echo", {})));
    await until(async () => (await t.inbox()).length >= 41);
    const schema = compileSchema(JSON.parse(await readFile("schemas/amp.schema.json", "utf8")));
    if (!schema.ok) throw new Error(schema.reason);
    const events = await t.inbox();
    for (const event of events) expect(schema.schema.validate(event)).toEqual([]);
    const stamps = events.map((e) => e.header.timestamp);
    expect(new Set(stamps).size).toBe(stamps.length);
  });
});
