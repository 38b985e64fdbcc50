import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFakeKit, type FakeApp, type FakeKit } from "../support/fake-kit.ts";
import { openGatewayDoor, type GatewayDoor } from "../support/gateway-door.ts";

const apps: FakeApp[] = [
  {
    package: "org.demo",
    tools: [
      { name: "echo" },
      { name: "shell", state: "denied" },
      {
        name: "typed",
        state: "exposed",
        definition: { outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
        run: () => ({ content: [], structuredContent: { n: 1 } }),
      },
      {
        name: "broken",
        definition: { outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
        run: () => Promise.reject(new Error("x")),
      },
      { name: "steps", run: (_args, options) => (options.onProgress?.({ progress: 1, total: 2 }), { content: [{ type: "text", text: "ok" }] }) },
      { name: "hang", run: (_args, options) => new Promise((_, reject) => options.signal!.addEventListener("abort", () => reject(new Error("aborted")))) },
      {
        name: "think",
        run: async (_args, options) => ({
          content: [
            {
              type: "text",
              text: JSON.stringify(
                await options.onServerRequest!({
                  method: "sampling/createMessage",
                  params: { messages: [], maxTokens: 5 },
                  signal: new AbortController().signal,
                }),
              ),
            },
          ],
        }),
      },
      {
        name: "form",
        run: async (_args, options) => ({
          content: [
            {
              type: "text",
              text: JSON.stringify(
                await options.onServerRequest!({
                  method: "elicitation/create",
                  params: { message: "?", requestedSchema: { type: "object", properties: {} } },
                  signal: new AbortController().signal,
                }),
              ),
            },
          ],
        }),
      },
      {
        name: "chatty",
        run: (_args, options) => (
          kit.emit(
            "notification",
            "org.demo",
            "notifications/message",
            { level: "info", data: "working" },
            { client: options.client!, session: options.session! },
          ),
          { content: [] }
        ),
      },
    ],
    resources: { "demo://a": "A" },
    prompts: [{ name: "hello" }],
  },
];
let kit: FakeKit;
let door: GatewayDoor;
let client: Client;
beforeEach(async () => {
  kit = createFakeKit(apps);
  door = await openGatewayDoor(kit);
  client = new Client({ name: "sdk", version: "1" }, { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({ model: "m", role: "assistant", content: { type: "text", text: "thought" } }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: {} }));
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${door.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${door.caller}` } } }) as never,
  );
});
afterEach(async () => {
  await client.close();
  await door.stop();
});

const text = (result: unknown): string => (result as { content: { text: string }[] }).content[0]!.text;

describe("the SDK's own client", () => {
  it("lists and calls tools, with structured results checked against their schema", async () => {
    expect((await client.listTools()).tools.map((t) => t.name)).toEqual([
      "demo_broken",
      "demo_chatty",
      "demo_echo",
      "demo_form",
      "demo_hang",
      "demo_steps",
      "demo_think",
      "demo_typed",
    ]);
    expect(text(await client.callTool({ name: "demo_echo", arguments: { a: 1 } }))).toBe('{"a":1}');
    expect((await client.callTool({ name: "demo_typed" })).structuredContent).toEqual({ n: 1 });
    expect(client.getServerVersion()?.name).toBe("aurora-mcp-kit");
  });

  it("reads the kit's refusals, also of tools with an outputSchema", async () => {
    const broken = await client.callTool({ name: "demo_broken" });
    expect(broken.isError).toBe(true);
    expect(JSON.parse(text(broken))).toMatchObject({ ok: false, error_code: "INTERNAL" });
    await expect(client.callTool({ name: "demo_nothing" })).rejects.toMatchObject({ code: -32602 });
    await expect(client.callTool({ name: "demo_shell" })).rejects.toMatchObject({ code: -32602 });
  });

  it("gets progress and logs, answers sampling and elicitation, and cancels", async () => {
    const seen: unknown[] = [];
    await client.callTool({ name: "demo_steps" }, undefined, { onprogress: (p) => seen.push(p) });
    expect(seen).toEqual([{ progress: 1, total: 2 }]);
    expect(text(await client.callTool({ name: "demo_think" }))).toContain("thought");
    expect(text(await client.callTool({ name: "demo_form" }))).toContain("accept");
    const logs: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => void logs.push(n.params.data));
    await client.callTool({ name: "demo_chatty" });
    expect(logs).toEqual(["working"]);
    const abort = new AbortController();
    const hanging = client.callTool({ name: "demo_hang" }, undefined, { signal: abort.signal });
    await vi.waitFor(() => expect(kit.calls.at(-1)!.name).toBe("org.demo.hang"));
    abort.abort();
    await expect(hanging).rejects.toThrow();
    await vi.waitFor(() => expect(kit.calls.at(-1)!.options.signal!.aborted).toBe(true));
  });

  it("reads resources and prompts, completes, sets the level", async () => {
    expect((await client.listResources()).resources).toHaveLength(1);
    expect((await client.readResource({ uri: "demo://a" })).contents[0]).toMatchObject({ text: "A" });
    expect((await client.listPrompts()).prompts[0]!.name).toBe("demo_hello");
    expect((await client.getPrompt({ name: "demo_hello" })).messages).toHaveLength(1);
    expect((await client.complete({ ref: { type: "ref/prompt", name: "demo_hello" }, argument: { name: "a", value: "b" } })).completion.total).toBe(1);
    expect(await client.setLoggingLevel("warning")).toEqual({});
  });

  it("is told of changed tools and resources", async () => {
    let changed = 0;
    const updated: string[] = [];
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changed += 1));
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => void updated.push(n.params.uri));
    await client.subscribeResource({ uri: "demo://a" });
    kit.emit("resource", "org.demo", "demo://a");
    kit.setApps([{ ...apps[0]!, tools: [{ name: "fresh" }] }]);
    await vi.waitFor(() => expect([changed, updated]).toEqual([1, ["demo://a"]]));
    expect((await client.listTools()).tools.map((t) => t.name)).toEqual(["demo_fresh"]);
  });
});
