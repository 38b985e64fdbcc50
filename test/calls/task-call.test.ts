import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { callAsTask } from "../../src/calls/task-call.ts";
import { LinkError, type Connection, type RequestOptions, type TaskNews } from "../../src/runtime/ports.ts";

type Answer = JsonObject | Error | ((params: JsonObject, options: RequestOptions) => Promise<JsonObject>);

/** A connection that answers each method with what the script has next, the last one for ever. */
function scripted(script: Record<string, readonly Answer[]>) {
  const sent: { method: string; params: JsonObject }[] = [];
  const watchers = new Set<(method: string, params: JsonObject) => void>();
  const counts = new Map<string, number>();
  const connection = {
    capabilities: { tasks: { cancel: {} } },
    closed: false,
    owedFor: () => null,
    request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
      sent.push({ method, params });
      const count = counts.get(method) ?? 0;
      counts.set(method, count + 1);
      const answers = script[method] ?? [{}];
      const answer = answers[Math.min(count, answers.length - 1)]!;
      if (answer instanceof Error) return Promise.reject(answer);
      return typeof answer === "function" ? answer(params, options) : Promise.resolve(answer);
    },
    watch: (handler: (method: string, params: JsonObject) => void) => (watchers.add(handler), () => void watchers.delete(handler)),
  } as unknown as Connection;
  return {
    connection,
    methods: () => sent.map(({ method }) => method),
    params: (method: string) => sent.find((request) => request.method === method)!.params,
    notify: (method: string, params: JsonObject) => {
      for (const watcher of watchers) watcher(method, params);
    },
    watched: () => watchers.size > 0,
  };
}

const task = (status: string, more: JsonObject = {}): JsonObject => ({
  taskId: "t1",
  status,
  ttl: null,
  createdAt: "",
  lastUpdatedAt: "",
  pollInterval: 200,
  ...more,
});
const created: Answer = { task: task("working") };
const result: JsonObject = { content: [], _meta: { "io.modelcontextprotocol/related-task": { taskId: "t1" }, kept: 1 } };
const refusal = new LinkError("rpc", "no", { sent: true, code: -32602 });
const silence = new LinkError("timeout", "no answer", { sent: true });
const hanging: Answer = (_params, { signal }) =>
  new Promise((_, reject) => signal!.addEventListener("abort", () => reject(new LinkError("cancelled", "cancelled", { sent: true }))));
const start = (server: ReturnType<typeof scripted>, options: Parameters<typeof callAsTask>[2] = {}) => {
  const call = callAsTask(server.connection, { name: "x", arguments: {} }, { timeoutMs: 1000, maxTotalMs: 60_000, ...options }, "org.x");
  call.catch(() => undefined);
  return call;
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a call that runs as a task", () => {
  it("polls as the server says, and gives the result without the server's id", async () => {
    const server = scripted({ "tools/call": [created], "tasks/get": [task("working"), task("completed")], "tasks/result": [result] });
    const call = start(server, { task: { ttlMs: 9000, onNews: () => undefined } });
    await vi.advanceTimersByTimeAsync(199);
    expect(server.methods()).toEqual(["tools/call"]);
    expect(server.params("tools/call")).toMatchObject({ task: { ttl: 9000 }, _meta: { progressToken: expect.stringMatching(/^task-/) } });
    await vi.advanceTimersByTimeAsync(201);
    expect(await call).toEqual({ content: [], _meta: { kept: 1 } });
    expect(server.methods()).toEqual(["tools/call", "tasks/get", "tasks/get", "tasks/result"]);
    expect(server.watched()).toBe(false);
  });

  it("hears notifications of its own task and progress under its own token, and no other's", async () => {
    const news: TaskNews[] = [];
    const progress = vi.fn();
    const server = scripted({
      "tools/call": [{ ...created, _meta: { "io.modelcontextprotocol/model-immediate-response": "wait" } }],
      "tasks/result": [result],
    });
    const call = start(server, { onProgress: progress, task: { ttlMs: 9000, onNews: (told) => news.push(told) } });
    await vi.advanceTimersByTimeAsync(0);
    server.notify("notifications/tasks/status", task("working", { taskId: "other", statusMessage: "not mine" }));
    server.notify("notifications/tasks/status", task("working", { statusMessage: "half", pollInterval: 5000 }));
    const token = (server.params("tools/call")["_meta"] as JsonObject)["progressToken"]!;
    server.notify("notifications/progress", { progressToken: "task-other", progress: 1 });
    server.notify("notifications/progress", { progressToken: token, progress: 2, total: 3 });
    server.notify("notifications/tasks/status", task("completed"));
    expect(await call).toEqual({ content: [], _meta: { kept: 1 } });
    expect(news).toEqual([
      { status: "working", message: null, pollMs: 200, ttlMs: null, immediate: "wait" },
      { status: "working", message: "half", pollMs: 5000, ttlMs: null },
    ]);
    expect(progress.mock.calls).toEqual([[{ progress: 2, total: 3 }]]);
    expect(server.methods()).not.toContain("tasks/get");
  });

  it("takes a server at its word that answers at once", async () => {
    const server = scripted({ "tools/call": [{ content: [] }] });
    expect(await start(server)).toEqual({ content: [] });
    await expect(start(scripted({ "tools/call": [{ task: { status: "working" } }] }))).rejects.toMatchObject({ kind: "invalid", sent: true });
  });

  it("asks for the result while input is wanted, and again at the end when the server would not wait", async () => {
    const waits = scripted({ "tools/call": [{ task: task("input_required") }], "tasks/get": [task("input_required")], "tasks/result": [result] });
    expect(await start(waits)).toMatchObject({ content: [] });
    expect(waits.methods()).toEqual(["tools/call", "tasks/result"]);
    const refuses = scripted({
      "tools/call": [{ task: task("input_required") }],
      "tasks/get": [task("working"), task("completed")],
      "tasks/result": [refusal, result],
    });
    const call = start(refuses);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await call).toMatchObject({ content: [] });
  });

  it("bears two polls without an answer, not three", async () => {
    const recovers = scripted({ "tools/call": [created], "tasks/get": [silence, silence, task("completed")], "tasks/result": [result] });
    const call = start(recovers);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await call).toMatchObject({ content: [] });
    const lost = start(scripted({ "tools/call": [created], "tasks/get": [new LinkError("network", "refused")] }));
    await vi.advanceTimersByTimeAsync(1000);
    await expect(lost).rejects.toMatchObject({ kind: "network", sent: true });
  });

  it("says what is unknown when the app forgot the task, keeps its result, or cancelled it", async () => {
    const run = async (script: Record<string, readonly Answer[]>) => {
      const call = start(scripted({ "tools/call": [created], ...script }));
      await vi.advanceTimersByTimeAsync(1000);
      return call;
    };
    await expect(run({ "tasks/get": [refusal] })).rejects.toMatchObject({ code: "PROTOCOL_ERROR", outcome: "unknown" });
    await expect(run({ "tasks/get": [task("completed")], "tasks/result": [refusal] })).rejects.toMatchObject({ code: "PROTOCOL_ERROR", outcome: "unknown" });
    await expect(run({ "tasks/get": [task("cancelled", { statusMessage: "shut" })] })).rejects.toMatchObject({
      code: "CANCELLED",
      outcome: "unknown",
      message: expect.stringContaining("(shut)"),
    });
    await expect(run({ "tasks/get": [task("failed")], "tasks/result": [refusal] })).rejects.toBe(refusal);
  });

  it("is cancelled at the app by its caller and by its time", async () => {
    const stop = new AbortController();
    const given = scripted({ "tools/call": [created], "tasks/get": [hanging] });
    const call = start(given, { signal: stop.signal });
    await vi.advanceTimersByTimeAsync(250);
    stop.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled", sent: true });
    expect(given.methods().at(-1)).toBe("tasks/cancel");
    const late = scripted({ "tools/call": [created], "tasks/get": [task("working")] });
    const slow = start(late, { task: { ttlMs: 700, onNews: () => undefined } });
    await vi.advanceTimersByTimeAsync(701);
    await expect(slow).rejects.toMatchObject({ kind: "timeout", sent: true, message: expect.stringContaining("max_total_timeout") });
    expect(late.methods().at(-1)).toBe("tasks/cancel");
  });
});
