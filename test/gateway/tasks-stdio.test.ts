import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema, CreateTaskResultSchema, ElicitRequestSchema, TaskStatusNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { builtCli } from "../support/built-cli.ts";
import { topologyText } from "../support/kit.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

const SERVER = fileURLToPath(new URL("../support/servers/tasks.mjs", import.meta.url));
const everything = path.join(path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json")), "dist/index.js");

let workspace: TestWorkspace;
const clients: Client[] = [];
/** A client of its own `aurora-mcp serve --stdio`: the first starts the host, a second attaches to it. */
const connect = async (): Promise<Client> => {
  const client = new Client({ name: "stdio", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { interpretation: "the game" } }));
  clients.push(client);
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [await builtCli(), "serve", "--stdio", "--topology", workspace.topology], stderr: "ignore" }),
  );
  return client;
};

beforeAll(async () => {
  await builtCli();
  workspace = await makeWorkspace({
    "topology/topology.yaml": topologyText(
      {
        "org.t": { trust: "high", mcp: { command: [process.execPath, SERVER] } },
        "org.every": {
          trust: "high",
          isolation: "session",
          grants: { elicitation: { forward: true } },
          mcp: { command: [process.execPath, everything], args: ["stdio"] },
        },
      },
      { policies: ["policies/*.yaml"], gateway: { listen: "127.0.0.1:0" } },
    ),
    "topology/policies/p.yaml": "rules:\n  - { id: open, apps: [org.t, org.every], action: allow, reason: tests }\n",
  });
}, 60_000);
afterAll(async () => {
  for (const client of clients.reverse()) await client.close();
  await workspace.remove();
});

describe("tasks through serve --stdio", { timeout: 60_000 }, () => {
  it.each(["in a host of its own", "attached to the running host"])("%s", async () => {
    const client = await connect();
    expect(client.getServerCapabilities()?.tasks).toBeDefined();
    const told = vi.fn();
    client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void told(params.status));
    const begin = async (text: string, ms: number) =>
      (
        await client.request(
          { method: "tools/call", params: { name: "org_t_work", arguments: { text, ms, steps: 20 }, task: { ttl: 60_000 } } },
          CreateTaskResultSchema,
        )
      ).task;
    const done = await begin("over stdio", 400);
    const given = await begin("given up", 60_000);
    expect((await client.experimental.tasks.listTasks()).tasks.map((task) => task.taskId)).toEqual(expect.arrayContaining([done.taskId, given.taskId]));
    expect(await client.experimental.tasks.cancelTask(given.taskId)).toMatchObject({ status: "cancelled" });
    expect(await client.experimental.tasks.getTaskResult(done.taskId, CallToolResultSchema)).toMatchObject({ content: [{ type: "text", text: "over stdio" }] });
    expect(await client.experimental.tasks.getTask(done.taskId)).toMatchObject({ status: "completed" });
    await vi.waitFor(() => expect(told.mock.calls.flat().sort()).toEqual(["cancelled", "completed"]));
  });

  it("the published everything server's research, with its question", async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    const research = tools.find((tool) => tool.name.includes("research"))!;
    expect(research.execution?.taskSupport).toBe("optional");
    const statuses = new Set<string>();
    for await (const message of client.experimental.tasks.callToolStream({ name: research.name, arguments: { topic: "python", ambiguous: true } })) {
      if (message.type === "taskStatus") statuses.add(message.task.status);
      if (message.type === "error") throw message.error;
      if (message.type === "result") expect(JSON.stringify(message.result)).toContain("the game");
    }
    expect(statuses).toContain("input_required");
  });
});
