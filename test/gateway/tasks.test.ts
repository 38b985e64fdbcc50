import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  GetTaskResultSchema,
  ProgressNotificationSchema,
  TaskStatusNotificationSchema,
  type Task,
} from "@modelcontextprotocol/sdk/types.js";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { readToken, tokenFiles } from "../../src/control/tokens.ts";
import { openDoor, type Door } from "../../src/door.ts";
import { loadWorkspace } from "../../src/workspace.ts";
import { memoryLog } from "../support/fake-kit.ts";
import { isRunning, startKit, topologyText, until, type TestKit } from "../support/kit.ts";

const SERVER = fileURLToPath(new URL("../support/servers/tasks.mjs", import.meta.url));
const tasksApp = (script: object, more: object = {}) => ({
  trust: "high",
  ...more,
  mcp: { command: [process.execPath, SERVER], args: [JSON.stringify(script)] },
});
const RELATED = "io.modelcontextprotocol/related-task";

const apps = {
  "org.t": tasksApp({}),
  "org.none": tasksApp({ capability: false }),
  "org.low": tasksApp({}, { trust: "medium", drain_timeout: "300ms" }),
  "org.own": tasksApp({}, { isolation: "session", grants: { elicitation: { forward: true } } }),
};
const policy = `
approvals: { wait: 100ms }
data_flow: { sources: { tools: [org.low], trust: low } }
rules:
  - { id: ask-first, apps: [org.t], tools: [must], args: { text: { equals: careful } }, action: ask, reason: look first }
  - { id: not-you, apps: [org.t], tools: [must], clients: [bot], action: deny, reason: not for bots }
  - { id: open, apps: [org.t, org.none, org.low, org.own], action: allow, reason: tests }
`;
const topology = (shown: Record<string, unknown> = apps) =>
  topologyText(shown, {
    policies: ["policies/*.yaml"],
    limits: { result_bytes: "64KiB" },
    gateway: {
      listen: "127.0.0.1:0",
      clients: [
        { name: "bot", token_file: "../data/run/bot.token" },
        { name: "narrow", token_file: "../data/run/narrow.token", tools: { include: ["org.none"] } },
      ],
    },
  });

let t: TestKit;
let door: Door;
let tokens: Record<"caller" | "bot" | "narrow", string>;
const clients: Client[] = [];
const connect = async (who: keyof typeof tokens = "caller", capabilities: object = {}): Promise<Client> => {
  const client = new Client({ name: "t", version: "1" }, { capabilities });
  clients.push(client);
  if ("elicitation" in capabilities) client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { city: "Oslo" } }));
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${door.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${tokens[who]}` } } }) as never,
  );
  return client;
};
const begin = async (client: Client, name: string, args: object = {}, more: object = {}): Promise<Task> =>
  (await client.request({ method: "tools/call", params: { name, arguments: { ...args }, task: { ttl: 60_000 }, ...more } }, CreateTaskResultSchema)).task;
const tasks = (client: Client) => client.experimental.tasks;
const resultOf = (client: Client, taskId: string) => tasks(client).getTaskResult(taskId, CallToolResultSchema);
const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]!.text;
/** Waits until the newest audit record of a tool fits, and gives it. */
const lastAudit = (name: string, fits: object): Promise<Record<string, unknown>> =>
  vi.waitFor(
    async () => {
      const lines = (await readFile(`${t.workspace.root}/data/audit.jsonl`, "utf8")).trim().split("\n");
      const last = lines.map((line) => JSON.parse(line) as Record<string, unknown>).findLast((record) => record["name"] === name)!;
      expect(last).toMatchObject(fits);
      return last;
    },
    { timeout: 5000, interval: 20 },
  );
/** What the app itself says became of a task, by its text. */
const seen = async (text: string): Promise<string | undefined> =>
  (JSON.parse(textOf((await t.kit.callTool("org.t.seen", {})).result)) as Record<string, { status: string }>)[text]?.status;

beforeAll(async () => {
  t = await startKit({ "topology/topology.yaml": topology(), "topology/policies/p.yaml": policy });
  const plan = (await loadWorkspace({ cwd: t.workspace.root, env: {}, topology: t.workspace.topology })).plan!;
  door = await openDoor({ kit: t.kit, plan, log: memoryLog(), version: "0.0.0" });
  const read = (name: string) => readToken(`${plan.dataDir}/run/${name}.token`);
  tokens = { caller: await readToken(tokenFiles(plan.dataDir).caller), bot: await read("bot"), narrow: await read("narrow") };
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(async () => {
  await door.close();
  await t.stop();
});

describe("tasks of a real app, through the gateway", () => {
  it("are made, told of, fetched and listed under ids of the gateway's own", async () => {
    const client = await connect();
    expect(client.getServerCapabilities()?.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
    const told: Task[] = [];
    const progress: unknown[] = [];
    client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void told.push(params));
    client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => void progress.push(params));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const made = await client.request(
      {
        method: "tools/call",
        params: { name: "org_t_work", arguments: { text: "report", ms: 300, steps: 3, say: "page" }, task: { ttl: 30_000 }, _meta: { progressToken: "p" } },
      },
      CreateTaskResultSchema,
    );
    const { taskId } = made.task;
    expect(made.task).toMatchObject({ status: "working", ttl: 30_000, pollInterval: 50 });
    expect(made._meta).toEqual({ "io.modelcontextprotocol/model-immediate-response": "work began" });
    const result = await resultOf(client, taskId);
    expect(result).toEqual({ content: [{ type: "text", text: "report" }], _meta: { [RELATED]: { taskId } } });
    expect(await resultOf(client, taskId)).toEqual(result);
    expect(await tasks(client).getTask(taskId)).toMatchObject({ taskId, status: "completed", ttl: 30_000 });
    expect((await tasks(client).listTasks()).tasks.map((task) => [task.taskId, task.status])).toEqual([[taskId, "completed"]]);
    await vi.waitFor(() => expect(told.at(-1)).toMatchObject({ taskId, status: "completed" }));
    expect(told.map((task) => task.statusMessage).filter(Boolean)).toContain("page 1");
    expect(progress).toContainEqual({ progressToken: "p", progress: 1, total: 3, _meta: { [RELATED]: { taskId } } });
    expect(JSON.stringify([told, progress, result])).not.toMatch(/"[0-9a-f]{32}"/);
    const done = await lastAudit("work", { event: "call.done", outcome: "succeeded", client: "caller" });
    expect(done["duration_ms"]).toBeGreaterThanOrEqual(250);
    const receipts = async () => (await t.inbox()).filter((event) => JSON.stringify(event).includes(`"${done["call_id"] as string}"`));
    await until(async () => (await receipts()).length === 1);
  });

  it("work with the SDK's own stream, for tools that may and tools that must", async () => {
    const client = await connect();
    await client.listTools();
    for (const name of ["org_t_work", "org_t_must"]) {
      const kinds: string[] = [];
      for await (const message of tasks(client).callToolStream({ name, arguments: { text: name } })) {
        kinds.push(message.type);
        if (message.type === "result") expect(textOf(message.result)).toBe(name);
      }
      expect([kinds[0], kinds.at(-1)]).toEqual(["taskCreated", "result"]);
    }
  });

  it("are offered only where they are, and a tool says only what holds", async () => {
    const supports = async (client: Client) => Object.fromEntries((await client.listTools()).tools.map((tool) => [tool.name, tool.execution?.taskSupport]));
    const shown = await supports(await connect());
    expect(shown).toMatchObject({ org_t_work: "optional", org_t_must: "optional", org_t_plain: undefined, org_none_work: undefined, org_none_must: undefined });
    expect(await supports(await connect("caller", { tasks: {} }))).toMatchObject({ org_t_work: "optional", org_t_must: "required", org_none_must: undefined });
    const narrow = await connect("narrow");
    expect(narrow.getServerCapabilities()?.tasks).toBeUndefined();
    expect(await supports(narrow)).toMatchObject({ org_none_work: undefined });
    await expect(tasks(narrow).listTasks()).rejects.toMatchObject({ code: -32601 });
    // To a client that was offered none, the wish means nothing.
    const plain = { method: "tools/call" as const, params: { name: "org_none_work", arguments: { text: "a" }, task: {} } };
    expect(textOf(await narrow.request(plain, CallToolResultSchema))).toBe("a without a task");
    const client = await connect();
    await expect(begin(client, "org_t_plain")).rejects.toMatchObject({ code: -32601 });
    await expect(begin(client, "org_none_work")).rejects.toMatchObject({ code: -32601 });
    await expect(begin(client, "org_t_work", {}, { task: { ttl: "long" } })).rejects.toMatchObject({ code: -32602 });
  });

  it("are waited for by the kit where a caller knows nothing of them", async () => {
    const client = await connect();
    await client.listTools();
    expect(await client.callTool({ name: "org_t_must", arguments: { text: "waited" } })).toEqual({ content: [{ type: "text", text: "waited" }] });
    expect((await t.kit.callTool("org.t.must", { text: "library" })).result).toEqual({ content: [{ type: "text", text: "library" }] });
    const [message] = await t.kit.executeToolCalls([{ id: "c", type: "function", function: { name: "org_t_must", arguments: '{"text":"model"}' } }]);
    expect(message).toMatchObject({ role: "tool", tool_call_id: "c", content: expect.stringContaining("model") });
    expect(await t.kit.callTool("org.t.must", { fail: true, text: "broken" })).toMatchObject({ outcome: "failed", error: { error_code: "TOOL_FAILED" } });
    expect(await t.kit.callTool("org.t.must", { cancelItself: true })).toMatchObject({
      outcome: "unknown",
      error: { error_code: "CANCELLED", message: expect.stringContaining("not today") },
    });
    const stop = new AbortController();
    const call = t.kit.callTool("org.t.must", { text: "given up", ms: 60_000, steps: 600 }, { signal: stop.signal });
    await until(async () => (await seen("given up")) === "working");
    stop.abort();
    expect(await call).toMatchObject({ outcome: "unknown", error: { error_code: "CANCELLED" } });
    await until(async () => (await seen("given up")) === "cancelled");
  });

  it("belong to who made them, over reconnects, and to nobody else", async () => {
    const client = await connect();
    const { taskId } = await begin(client, "org_t_work", { text: "mine", ms: 1500 });
    const bot = await connect("bot");
    const told = vi.fn();
    bot.setNotificationHandler(TaskStatusNotificationSchema, told);
    for (const attempt of [tasks(bot).getTask(taskId), resultOf(bot, taskId), tasks(bot).cancelTask(taskId)])
      await expect(attempt).rejects.toMatchObject({ code: -32602 });
    expect((await tasks(bot).listTasks()).tasks).toEqual([]);
    await client.close();
    const again = await connect();
    expect(await tasks(again).getTask(taskId)).toMatchObject({ status: "working" });
    expect(textOf(await resultOf(again, taskId))).toBe("mine");
    expect(told).not.toHaveBeenCalled();
  });

  it("are cancelled at the app, once", async () => {
    const client = await connect();
    const { taskId } = await begin(client, "org_t_work", { text: "stop", ms: 60_000, steps: 600 });
    expect(await tasks(client).cancelTask(taskId)).toMatchObject({ taskId, status: "cancelled" });
    await expect(tasks(client).cancelTask(taskId)).rejects.toMatchObject({ code: -32602 });
    expect(await resultOf(client, taskId)).toMatchObject({ isError: true, structuredContent: { error_code: "CANCELLED" } });
    await until(async () => (await seen("stop")) === "cancelled");
    await lastAudit("work", { event: "call.done", outcome: "unknown", error_code: "CANCELLED" });
  });

  it("go through policy, approvals and the size limit as every call", async () => {
    const bot = await connect("bot");
    await expect(begin(bot, "org_t_must", { text: "denied" })).rejects.toMatchObject({ code: -32602, message: expect.stringContaining("Unknown tool") });
    await lastAudit("must", { event: "call.refused", error_code: "POLICY_DENIED" });

    const client = await connect();
    const askFor = async (decision: "approve" | "deny"): Promise<Task> => {
      const fault = await begin(client, "org_t_must", { text: "careful" }).catch((error: unknown) => error);
      expect(fault).toMatchObject({ code: -32000, data: { error_code: "APPROVAL_REQUIRED" } });
      const { approval_id } = (fault as { data: { details: { approval_id: string } } }).data.details;
      await t.kit.decideApproval(approval_id, decision, "a person");
      return begin(client, "org_t_must", { text: "careful" }, { _meta: { "aurora/approval_id": approval_id } });
    };
    await expect(askFor("deny")).rejects.toMatchObject({ code: -32000, data: { error_code: "APPROVAL_DENIED" } });
    expect(await seen("careful")).toBeUndefined();
    expect(textOf(await resultOf(client, (await askFor("approve")).taskId))).toBe("careful");

    const { taskId } = await begin(client, "org_t_work", { bytes: 100_000 });
    expect(await resultOf(client, taskId)).toMatchObject({ isError: true, structuredContent: { error_code: "RESULT_TOO_LARGE" } });
    expect(await tasks(client).getTask(taskId)).toMatchObject({ status: "failed", statusMessage: expect.stringContaining("limits.result_bytes") });
  });

  it("mark whoever hears of them", async () => {
    const client = await connect();
    const { taskId } = await begin(client, "org_low_work", { text: "gossip", ms: 2000, steps: 2, say: "psst" }, { _meta: { "aurora/session": "maker" } });
    const marked = () => t.kit.listSessions().map((mark) => `${mark.session} ${mark.source}`);
    expect(marked()).toContain("maker org.low/work");
    expect(marked()).not.toContain("fetcher org.low/work");
    const ask = <T extends typeof GetTaskResultSchema | typeof CallToolResultSchema>(method: string, session: string, schema: T) =>
      client.request({ method, params: { taskId, _meta: { "aurora/session": session } } } as never, schema);
    await vi.waitFor(async () => expect(await ask("tasks/get", "looker", GetTaskResultSchema)).toMatchObject({ statusMessage: "psst 1" }), { timeout: 5000 });
    expect(marked()).toContain("looker org.low/work");
    expect(textOf(await ask("tasks/result", "fetcher", CallToolResultSchema))).toBe("gossip");
    expect(marked()).toContain("fetcher org.low/work");
    // That it is completed is no word of the app's.
    expect(await ask("tasks/get", "bystander", GetTaskResultSchema)).toMatchObject({ status: "completed" });
    expect(marked()).not.toContain("bystander org.low/work");
  });

  it("ask the owner on the stream of tasks/result", async () => {
    const client = await connect("caller", { elicitation: {} });
    const { taskId } = await begin(client, "org_own_ask");
    await vi.waitFor(async () => expect(await tasks(client).getTask(taskId)).toMatchObject({ status: "input_required" }), { timeout: 5000 });
    expect(JSON.parse(textOf(await resultOf(client, taskId)))).toEqual({ action: "accept", content: { city: "Oslo" } });
    const deaf = await connect();
    const unasked = await begin(deaf, "org_own_ask");
    expect(textOf(await resultOf(deaf, unasked.taskId))).toContain("refused");
  });

  it("are forgotten when their time is over", async () => {
    const client = await connect();
    const ended = await begin(client, "org_t_work", { ms: 10 }, { task: { ttl: 600 } });
    const running = await begin(client, "org_t_work", { text: "slow", ms: 60_000, steps: 600 }, { task: { ttl: 600 } });
    await resultOf(client, ended.taskId);
    expect(await resultOf(client, running.taskId)).toMatchObject({ isError: true, structuredContent: { error_code: "TIMEOUT" } });
    await vi.waitFor(async () => expect((await tasks(client).listTasks()).tasks.map((task) => task.taskId)).not.toContain(ended.taskId), { timeout: 3000 });
    await expect(tasks(client).getTask(ended.taskId)).rejects.toMatchObject({ code: -32602 });
    expect(t.kit.status().apps.find((app) => app.package === "org.t")).toMatchObject({ calls: 0 });
  });

  it("fail with a reason when the app dies or is taken out", async () => {
    const client = await connect();
    const { taskId } = await begin(client, "org_t_work", { text: "dies", ms: 60_000 });
    const pid = t.pid("org.t")!;
    const waiting = resultOf(client, taskId);
    process.kill(pid, "SIGKILL");
    expect(await waiting).toMatchObject({ isError: true, structuredContent: { error_code: "APP_UNAVAILABLE" } });
    expect(await isRunning(pid)).toBe(false);
    expect(await tasks(client).getTask(taskId)).toMatchObject({
      status: "failed",
      statusMessage: expect.stringContaining("whether it took effect is unknown"),
    });
    await lastAudit("work", { event: "call.done", outcome: "unknown", error_code: "APP_UNAVAILABLE" });

    const low = await begin(client, "org_low_work", { text: "goes", ms: 60_000 });
    const { "org.low": _gone, ...left } = apps;
    await t.workspace.write("topology/topology.yaml", topology({ ...left, "org.low": { ...apps["org.low"], enabled: false } }));
    expect((await t.kit.reload()).result).toBe("applied");
    await vi.waitFor(async () => expect(await tasks(client).getTask(low.taskId)).toMatchObject({ status: "failed" }), { timeout: 20_000 });
    expect(await resultOf(client, low.taskId)).toMatchObject({ isError: true, structuredContent: { error_code: "APP_REMOVED" } });
  }, 40_000);
});
