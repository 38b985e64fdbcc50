import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { TaskNews } from "../../src/runtime/ports.ts";
import { httpMcpServer, type Exchange, type HttpMcpServer } from "../support/http-mcp-server.ts";
import { startKit, topologyText, until, type TestKit } from "../support/kit.ts";

const APP = "org.example.web";
const SECRET = "hunter2-hunter2";
const running: { t?: TestKit; server?: HttpMcpServer } = {};
afterEach(async () => {
  await running.t?.stop();
  await running.server?.close();
});

const task = (status: string, more: JsonObject = {}): JsonObject => ({
  taskId: "inner",
  status,
  ttl: 5000,
  createdAt: "",
  lastUpdatedAt: "",
  pollInterval: 50,
  ...more,
});

/** A kit in front of an HTTP server with one tool that must run as a task; `polls` answers tasks/get. */
async function kitOf(polls: (exchange: Exchange) => void): Promise<TestKit["kit"]> {
  running.server = await httpMcpServer((exchange) => {
    const { message, result, reply } = exchange;
    switch (message.method) {
      case "initialize":
        return (
          result({
            protocolVersion: "2025-11-25",
            capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
            serverInfo: { name: "web", version: "1" },
          }),
          true
        );
      case "tools/list":
        return (result({ tools: [{ name: "build", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }] }), true);
      case "tools/call":
        return (result({ task: task("working", { statusMessage: `began with ${SECRET}` }) }), true);
      case "tasks/get":
        return (polls(exchange), true);
      case "tasks/result":
        return (
          result({ content: [{ type: "text", text: `built with ${SECRET}` }], _meta: { "io.modelcontextprotocol/related-task": { taskId: "inner" } } }), true
        );
      case "tasks/cancel":
        return (reply(202), true);
      default:
        return false;
    }
  });
  running.t = await startKit(
    {
      "topology/topology.yaml": topologyText(
        { [APP]: { trust: "high", mcp: { transport: "http", url: running.server.url, headers: { "x-api-key": "${KEY}" } } } },
        { policies: ["policies/*.yaml"] },
      ),
      "topology/policies/p.yaml": `rules:\n  - { id: open, apps: [${APP}], action: allow, reason: tests }\n`,
    },
    { env: { ...process.env, KEY: SECRET } },
  );
  return running.t.kit;
}

describe("tasks of an HTTP app", () => {
  it("bear a busy server, and say nothing of a secret", async () => {
    const kit = await kitOf(({ count, reply, result }) =>
      count === 1 ? reply(503, { "retry-after": "0" }) : result(task(count === 2 ? "working" : "completed", { statusMessage: `${SECRET} is near` })),
    );
    const news: TaskNews[] = [];
    const call = await kit.callTool(`${APP}.build`, {}, { task: { ttlMs: 9000, onNews: (told) => news.push(told) } });
    expect(call).toMatchObject({ outcome: "succeeded", result: { content: [{ type: "text", text: "built with ***" }] } });
    expect(call.result!["_meta"]).toBeUndefined();
    expect(news).toEqual([
      { status: "working", message: "began with ***", pollMs: 50, ttlMs: 5000 },
      { status: "working", message: "*** is near", pollMs: 50, ttlMs: 5000 },
    ]);
    expect(running.server!.seen.find((e) => e.message.method === "tools/call")!.message.params).toMatchObject({ task: { ttl: 9000 } });
  });

  it("are unknown when the server forgot them or falls silent", async () => {
    const kit = await kitOf(({ message, reply }) =>
      reply(
        200,
        { "content-type": "application/json" },
        JSON.stringify({ jsonrpc: "2.0", id: message.id, error: { code: -32602, message: "Task not found" } }),
      ),
    );
    expect(await kit.callTool(`${APP}.build`, {})).toMatchObject({ outcome: "unknown", error: { error_code: "PROTOCOL_ERROR" } });
    await running.t!.stop();
    await running.server!.close();
    const silent = await kitOf(({ reply }) => reply(500));
    expect(await silent.callTool(`${APP}.build`, {})).toMatchObject({ outcome: "unknown", error: { error_code: "APP_UNAVAILABLE" } });
    await until(() => running.server!.log.includes("tasks/cancel"));
  });
});
