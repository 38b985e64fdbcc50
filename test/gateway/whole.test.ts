import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createControlClient, type ControlClient } from "../../src/control/client.ts";
import { readToken, tokenFiles } from "../../src/control/tokens.ts";
import { openDoor, type Door } from "../../src/door.ts";
import { loadWorkspace } from "../../src/workspace.ts";
import { memoryLog } from "../support/fake-kit.ts";
import { isRunning, scriptedApp, startKit, topologyText, type TestKit } from "../support/kit.ts";

const asking = {
  hello: { capabilities: { tools: {} } },
  on: {
    "tools/list": [{ result: { tools: [{ name: "ask", inputSchema: { type: "object" } }] } }],
    "tools/call ask": [
      {
        request: {
          id: "q1",
          method: "elicitation/create",
          params: { message: "Which city?", requestedSchema: { type: "object", properties: { city: { type: "string" } } } },
        },
      },
      { delay: 400 },
      { result: { content: [{ type: "text", text: "asked" }] } },
    ],
  },
};
const apps = {
  "org.test.a": scriptedApp({}),
  "org.test.form": scriptedApp(asking, { isolation: "session", grants: { elicitation: { forward: true } } }),
};
const policy = `
rules:
  - { id: open, apps: [org.test.a, org.test.form], action: allow, reason: tests }
  - { id: no-journal-for-bot, apps: [org.test.a], tools: [journal], clients: [bot], action: deny }
`;
const topology = (more: object = {}) =>
  topologyText(
    { ...apps, ...more },
    { policies: ["policies/*.yaml"], gateway: { listen: "127.0.0.1:0", clients: [{ name: "bot", token_file: "../data/run/bot.token" }] } },
  );

let t: TestKit;
let door: Door;
let control: ControlClient;
const clients: Client[] = [];
const connect = async (token: string, capabilities: object = {}): Promise<Client> => {
  const client = new Client({ name: "t", version: "1" }, { capabilities });
  clients.push(client);
  if ("elicitation" in capabilities) client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { city: "Oslo" } }));
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${door.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }) as never,
  );
  return client;
};
let tokens: { caller: string; operator: string; bot: string };

beforeEach(async () => {
  t = await startKit({ "topology/topology.yaml": topology(), "topology/policies/p.yaml": policy });
  const workspace = await loadWorkspace({ cwd: t.workspace.root, env: {}, topology: t.workspace.topology });
  const plan = workspace.plan!;
  door = await openDoor({ kit: t.kit, plan, log: memoryLog(), version: "0.0.0" });
  const files = tokenFiles(plan.dataDir);
  tokens = { caller: await readToken(files.caller), operator: await readToken(files.operator), bot: await readToken(`${plan.dataDir}/run/bot.token`) };
  control = createControlClient({ pid: 1, pid_start: "", started_at: "", topology: "", url: door.url, tls_cert: null, data_dir: "" }, tokens);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  control.close();
  await door.close();
  await t.stop();
});

describe("a real host behind its door", () => {
  it("serves the tools of real servers to the SDK's client, under the policy of the caller", async () => {
    const caller = await connect(tokens.caller);
    expect((await caller.listTools()).tools.map((tool) => tool.name)).toEqual(["org_test_a_echo", "org_test_a_journal", "org_test_form_ask"]);
    expect(await caller.callTool({ name: "org_test_a_echo", arguments: { x: 1 } })).toEqual({ content: [{ type: "text", text: '{"x":1}' }] });
    const bot = await connect(tokens.bot);
    expect((await bot.listTools()).tools.map((tool) => tool.name)).toEqual(["org_test_a_echo", "org_test_form_ask"]);
    await expect(bot.callTool({ name: "org_test_a_journal" })).rejects.toMatchObject({ code: -32602 });
    expect((await control.call("org.test.a.echo", { y: 2 })).result).toEqual({ content: [{ type: "text", text: '{"y":2}' }] });
    expect(JSON.parse((await control.tools("openai")).text)).toHaveLength(3);
  });

  it("asks the calling client what a server asks, and only that client", async () => {
    const able = await connect(tokens.caller, { elicitation: {} });
    const answered = vi.fn();
    const bystander = await connect(tokens.caller, { elicitation: {} });
    bystander.setRequestHandler(ElicitRequestSchema, () => {
      answered();
      return { action: "decline" as const };
    });
    expect(await able.callTool({ name: "org_test_form_ask" })).toEqual({ content: [{ type: "text", text: "asked" }] });
    expect(answered).not.toHaveBeenCalled();
  });

  it("ends the process of a session with the session: deleted, or its client taken out", async () => {
    const processes = (): number[] =>
      t.kit
        .status()
        .apps.find((app) => app.package === "org.test.form")!
        .sessions!.open.map((each) => each.pid!);
    const first = await connect(tokens.caller, { elicitation: {} });
    await first.callTool({ name: "org_test_form_ask" });
    const second = await connect(tokens.bot, { elicitation: {} });
    await second.callTool({ name: "org_test_form_ask" });
    const [a, b] = processes();
    await (first.transport as StreamableHTTPClientTransport).terminateSession();
    await vi.waitFor(async () => expect(await isRunning(a!)).toBe(false), { timeout: 5000 });
    expect(processes()).toEqual([b]);
    await t.workspace.write("topology/topology.yaml", topology({}).replace(/"clients": \[[^\]]*\]/, '"clients": []'));
    expect((await control.reload()).result).toBe("applied");
    await door.follow((await loadWorkspace({ cwd: t.workspace.root, env: {}, topology: t.workspace.topology })).plan!);
    await vi.waitFor(async () => expect(await isRunning(b!)).toBe(false), { timeout: 5000 });
  });

  it("tells its clients once that a reload changed the tools", async () => {
    const client = await connect(tokens.caller);
    let told = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (told += 1));
    await client.listTools();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await t.workspace.write("topology/policies/p.yaml", `${policy}  - { id: no-echo, tools: [echo], action: deny }\n`);
    expect((await control.reload()).result).toBe("applied");
    await vi.waitFor(() => expect(told).toBe(1));
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["org_test_a_journal", "org_test_form_ask"]);
  });

  it("counts what happened", async () => {
    await control.call("org.test.a.echo", {});
    expect(await control.metrics()).toMatch(/aurora_calls_total\{app="org\.test\.a",tool="echo",outcome="succeeded",code=""\} 1\n/);
  });
});
