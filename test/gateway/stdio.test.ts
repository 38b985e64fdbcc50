import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stringifyExact } from "../../src/base/exact-json.ts";
import { createGatewayHttp } from "../../src/mcp/gateway-http.ts";
import { createGateway } from "../../src/mcp/gateway.ts";
import { bridgeStdio } from "../../src/mcp/serve-bridge.ts";
import { serveStdio } from "../../src/mcp/serve-stdio.ts";
import { createFakeKit, type FakeApp, type FakeKit } from "../support/fake-kit.ts";
import { openDoor } from "../support/door.ts";
import { openGatewayDoor, type GatewayDoor } from "../support/gateway-door.ts";

const apps: FakeApp[] = [
  {
    package: "org.demo",
    tools: [
      { name: "echo" },
      { name: "steps", run: (_args, options) => (options.onProgress?.({ progress: 1 }), { content: [{ type: "text", text: "ok" }] }) },
      { name: "hang", run: (_args, options) => new Promise((_, reject) => options.signal!.addEventListener("abort", () => reject(new Error("aborted")))) },
      {
        name: "think",
        run: async (_args, options) => ({
          content: [
            {
              type: "text",
              text: JSON.stringify(await options.onServerRequest!({ method: "sampling/createMessage", params: {}, signal: new AbortController().signal })),
            },
          ],
        }),
      },
    ],
  },
];

type Message = Record<string, unknown>;

/** The client end of a stdio connection. */
class Pipe {
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  readonly got: Message[] = [];
  readonly stop = new AbortController();
  constructor() {
    let rest = "";
    this.output.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString("utf8")).split("\n");
      rest = lines.pop()!;
      this.got.push(...lines.map((line) => JSON.parse(line) as Message));
    });
  }
  say(message: unknown): void {
    this.input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  }
  hear(fits: (message: Message) => boolean): Promise<Message> {
    return vi.waitFor(
      () => {
        const found = this.got.find(fits);
        if (!found) throw new Error(`not among ${JSON.stringify(this.got)}`);
        return found;
      },
      { timeout: 5000, interval: 10 },
    );
  }
  async hello(capabilities: object = {}): Promise<Message> {
    this.say({
      jsonrpc: "2.0",
      id: "init",
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "t", version: "1" } },
    });
    const answer = await this.hear((m) => m["id"] === "init");
    this.say({ jsonrpc: "2.0", method: "notifications/initialized" });
    return answer;
  }
}

const call = (id: number, name: string, meta?: object) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: {}, ...(meta ? { _meta: meta } : {}) },
});

let kit: FakeKit;
let door: GatewayDoor;
let pipe: Pipe;
let done: Promise<void>;
beforeEach(async () => {
  kit = createFakeKit(apps);
  door = await openGatewayDoor(kit);
  pipe = new Pipe();
});
afterEach(async () => {
  pipe.input.end();
  await done;
  await door.stop();
});

const ways = {
  "serveStdio over a kit": () =>
    serveStdio({
      gateway: createGateway({ kit, settings: () => door.settings, info: { name: "aurora-mcp-kit", version: "1" }, debounceMs: 20 }),
      principal: { role: "caller", client: "stdio", sees: () => true },
      input: pipe.input,
      output: pipe.output,
      signal: pipe.stop.signal,
    }),
  "bridgeStdio over a running host": () =>
    bridgeStdio({ url: `${door.url}/mcp`, token: door.caller, certificate: null, input: pipe.input, output: pipe.output, signal: pipe.stop.signal }),
};

describe.each(Object.keys(ways) as (keyof typeof ways)[])("%s", (way) => {
  beforeEach(() => {
    done = ways[way]();
  });

  it("answers requests, streams progress, and tells of changes", async () => {
    expect(await pipe.hello()).toMatchObject({ result: { protocolVersion: "2025-11-25", serverInfo: { name: "aurora-mcp-kit" } } });
    pipe.say(call(1, "demo_echo"));
    expect(await pipe.hear((m) => m["id"] === 1)).toMatchObject({ result: { content: [{ text: "{}" }] } });
    pipe.say(call(2, "demo_steps", { progressToken: 9 }));
    await pipe.hear((m) => m["id"] === 2);
    expect(pipe.got.find((m) => m["method"] === "notifications/progress")).toMatchObject({ params: { progressToken: 9, progress: 1 } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    kit.setApps([{ package: "org.demo", tools: [{ name: "fresh" }] }]);
    await pipe.hear((m) => m["method"] === "notifications/tools/list_changed");
  });

  it("keeps all digits of whole numbers on the way in", async () => {
    await pipe.hello();
    pipe.say('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo_echo","arguments":{"id":1234567890123456789012}}}');
    await pipe.hear((m) => m["id"] === 1);
    expect(stringifyExact(kit.calls.at(-1)!.args)).toBe('{"id":1234567890123456789012}');
  });

  it("answers what it cannot read, and goes on", async () => {
    await pipe.hello();
    for (const wrong of ["{not json", "", "[1]", '{"jsonrpc":"2.0","id":3,"method":"nope"}']) pipe.say(wrong);
    await pipe.hear((m) => (m["error"] as { code: number } | undefined)?.code === -32700);
    await pipe.hear((m) => m["id"] === 3 && (m["error"] as { code: number }).code === -32601);
    pipe.say(`{"jsonrpc":"2.0","id":9,"method":"ping","params":{"_meta":{"x":${"[".repeat(5000)}${"]".repeat(5000)}}}}`);
    await pipe.hear((m) => String((m["error"] as { message: string } | undefined)?.message).includes("nested deeper than 500 levels"));
    pipe.say(call(4, "demo_echo"));
    await pipe.hear((m) => m["id"] === 4 && m["result"] !== undefined);
  });

  it("refuses a second initialize, and the session goes on as it began", async () => {
    await pipe.hello({ sampling: {} });
    for (const id of ["again", "once more"])
      pipe.say({ jsonrpc: "2.0", id, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {} } });
    for (const id of ["again", "once more"])
      expect(await pipe.hear((m) => m["id"] === id)).toMatchObject({ error: { code: -32600, message: expect.stringContaining("initialized already") } });
    pipe.say(call(1, "demo_think"));
    pipe.say({ jsonrpc: "2.0", id: (await pipe.hear((m) => m["method"] === "sampling/createMessage"))["id"], result: { model: "m" } });
    await pipe.hear((m) => m["id"] === 1);
    pipe.input.end();
    await done;
    expect(kit.endedSessions).toHaveLength(1);
  });

  it("takes an initialize after one that could not be used", async () => {
    pipe.say({ jsonrpc: "2.0", id: 0, method: "initialize", params: {} });
    expect(await pipe.hear((m) => m["id"] === 0)).toMatchObject({ error: { code: -32602 } });
    expect(await pipe.hello()).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  });

  it("cancels by notification, asks the client, and ends with its input", async () => {
    await pipe.hello({ sampling: {} });
    pipe.say(call(5, "demo_think"));
    const question = await pipe.hear((m) => m["method"] === "sampling/createMessage");
    pipe.say({ jsonrpc: "2.0", id: question["id"], result: { model: "m" } });
    expect(JSON.stringify(await pipe.hear((m) => m["id"] === 5))).toContain("model");
    pipe.say(call(6, "demo_hang"));
    await vi.waitFor(() => expect(kit.calls.at(-1)!.name).toBe("org.demo.hang"));
    pipe.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 6 } });
    await vi.waitFor(() => expect(kit.calls.at(-1)!.options.signal!.aborted).toBe(true));
    pipe.say(call(7, "demo_hang"));
    await vi.waitFor(() => expect(kit.calls.at(-1)!.options.signal!.aborted).toBe(false));
    pipe.input.end();
    await done;
    await vi.waitFor(() => expect(kit.calls.at(-1)!.options.signal!.aborted).toBe(true));
    expect(pipe.got.filter((m) => m["id"] === 6 || m["id"] === 7)).toEqual([]);
    expect(kit.endedSessions).toHaveLength(1);
  });
});

describe("bridgeStdio, when the host was restarted", () => {
  it("opens the lost session anew with the client's own initialize, once, and tells that lists may differ", async () => {
    const gateway = createGateway({ kit, settings: () => door.settings, info: { name: "aurora-mcp-kit", version: "1" } });
    let mcp = createGatewayHttp({ gateway });
    const host = await openDoor(kit, { mcp: { handle: (context) => mcp.handle(context) } });
    done = bridgeStdio({ url: `${host.url}/mcp`, token: host.caller, certificate: null, input: pipe.input, output: pipe.output, signal: pipe.stop.signal });
    await pipe.hello();
    pipe.say(call(1, "demo_echo"));
    await pipe.hear((m) => m["id"] === 1);
    await mcp.close();
    mcp = createGatewayHttp({ gateway });
    for (const id of [2, 3]) pipe.say(call(id, "demo_echo"));
    for (const id of [2, 3]) await pipe.hear((m) => m["id"] === id && m["result"] !== undefined);
    await pipe.hear((m) => m["method"] === "notifications/tools/list_changed");
    expect(mcp.sessions).toBe(1);
    expect(pipe.got.filter((m) => m["id"] === "init")).toHaveLength(1);
    expect(kit.calls).toHaveLength(3);
    pipe.input.end();
    await done;
    expect(mcp.sessions).toBe(0);
    await mcp.close();
    await gateway.close();
    await host.stop();
  });
});

describe("bridgeStdio and what is no message", () => {
  it.each<[string, object]>([
    ["a batch", [{ jsonrpc: "2.0", id: 2, method: "ping" }]],
    ["id null", { jsonrpc: "2.0", id: null, method: "ping" }],
  ])("answers as without a host: %s", async (_what, message) => {
    done = bridgeStdio({ url: `${door.url}/mcp`, token: door.caller, certificate: null, input: pipe.input, output: pipe.output, signal: pipe.stop.signal });
    await pipe.hello();
    pipe.say(message as never);
    expect(await pipe.hear((m) => m["id"] === null)).toMatchObject({ error: { code: -32600 } });
    pipe.stop.abort();
    await done;
  });
});

describe("bridgeStdio that the host refuses before it reads the message", () => {
  it("gives the refusal to the request that got it, and says nothing of a notification", async () => {
    done = bridgeStdio({ url: `${door.url}/mcp`, token: "nobody", certificate: null, input: pipe.input, output: pipe.output, signal: pipe.stop.signal });
    await pipe.hello();
    pipe.say({ jsonrpc: "2.0", id: "last", method: "ping" });
    await pipe.hear((message) => message["id"] === "last");
    expect(pipe.got).toMatchObject(["init", "last"].map((id) => ({ id, error: { message: expect.stringContaining("a token is needed") } })));
  });
});

describe("bridgeStdio without a host", () => {
  it("says so for every request, and stays", async () => {
    done = bridgeStdio({ url: "http://127.0.0.1:1/mcp", token: "x", certificate: null, input: pipe.input, output: pipe.output, signal: pipe.stop.signal });
    pipe.say({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } });
    expect(await pipe.hear((m) => m["id"] === 1)).toMatchObject({ error: { message: expect.stringContaining("http://127.0.0.1:1 cannot be reached") } });
    pipe.stop.abort();
    await done;
  });
});
