import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { KitError } from "../../src/base/errors.ts";
import { createGatewayHttp } from "../../src/mcp/gateway-http.ts";
import { createGateway } from "../../src/mcp/gateway.ts";
import { namingCollisions } from "../../src/mcp/gateway-names.ts";
import { createFakeKit, type FakeApp, type FakeKit, type FakeTool } from "../support/fake-kit.ts";
import { openGatewayDoor, RawSession, type GatewayDoor } from "../support/gateway-door.ts";

const SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: { a: { type: "string" } },
  properties: { x: { $ref: "#/$defs/a" } },
  additionalProperties: false,
};
const fails =
  (code: ConstructorParameters<typeof KitError>[0]): NonNullable<FakeTool["run"]> =>
  () => {
    throw new KitError(code, `${code} happened`);
  };
const apps: FakeApp[] = [
  {
    package: "org.demo",
    tools: [
      { name: "echo", definition: { inputSchema: SCHEMA, title: "Echo", annotations: { readOnlyHint: true }, _meta: { "x/y": 1 }, icons: [] } },
      { name: "shell", state: "denied" },
      { name: "poisoned", state: "quarantined", definition: { description: "SECRET INSTRUCTION" } },
      { name: "late", state: "unavailable", run: fails("APP_UNAVAILABLE") },
      { name: "down", run: fails("TIMEOUT") },
      { name: "typed", definition: { outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } }, run: fails("RATE_LIMITED") },
      {
        name: "sick",
        run: () => ({
          isError: true,
          content: [{ type: "text", text: "no such city" }],
          structuredContent: { error_code: "CITY", message: "no such city", retryable: false },
        }),
      },
      {
        name: "images",
        run: () => ({
          content: [
            { type: "image", data: "AA==", mimeType: "image/png" },
            { type: "resource_link", uri: "a://b", name: "b" },
          ],
          _meta: { k: 1 },
        }),
      },
    ],
    resources: { "demo://b": "B", "demo://a": "A" },
    templates: [{ uriTemplate: "demo://{id}", name: "t" }],
    prompts: [{ name: "hello", arguments: [{ name: "who", required: true }] }],
  },
  { package: "org.web", tools: [{ name: "fetch" }], resources: { "web://x": "X", "demo://a": "shadow" } },
];

let kit: FakeKit;
let door: GatewayDoor;
let session: RawSession;
beforeEach(async () => {
  kit = createFakeKit(apps);
  door = await openGatewayDoor(kit, { gateway: { clients: [{ name: "bot", tokenFile: "", include: null, exclude: ["org.web/*", "org.demo/si*"] }] } });
  session = await RawSession.open(door);
});
afterEach(() => door.stop());

const names = async (s = session) => ((await s.rpc("tools/list")).result!["tools"] as { name: string }[]).map((t) => t.name);
const bodyOf = (result: Record<string, unknown> | undefined) => (result!["_meta"] as Record<string, Record<string, unknown>>)["aurora/error"]!;

describe("tools/list", () => {
  it("shows what is exposed or away for a moment, sorted; not what is denied or quarantined", async () => {
    expect(await names()).toEqual(["demo_down", "demo_echo", "demo_images", "demo_late", "demo_sick", "demo_typed", "web_fetch"]);
    expect(JSON.stringify(await session.rpc("tools/list"))).not.toContain("SECRET");
  });

  it("shows denied tools under denied: refuse, and refuses them when called", async () => {
    door.settings = { ...door.settings, denied: "refuse" };
    expect(await names()).toContain("demo_shell");
    expect(await names()).not.toContain("demo_poisoned");
    expect(bodyOf((await session.rpc("tools/call", { name: "demo_shell" })).result)["error_code"]).toBe("POLICY_DENIED");
  });

  it("passes definitions untouched but for the name", async () => {
    const tools = (await session.rpc("tools/list")).result!["tools"] as { name: string }[];
    expect(tools.find((t) => t.name === "demo_echo")).toEqual({ ...apps[0]!.tools![0]!.definition, name: "demo_echo", description: "Tool echo" });
  });

  it.each([
    ["full", "org.demo.echo"],
    ["none", "echo"],
    ["short", "demo_echo"],
  ] as const)("names tools by gateway.naming %s, and takes no other name", async (naming, name) => {
    door.settings = { ...door.settings, naming };
    expect(await names()).toContain(name);
    for (const tried of ["org.demo.echo", "echo", "demo_echo"]) {
      const answer = await session.rpc("tools/call", { name: tried, arguments: {} });
      expect(answer.error?.code).toBe(tried === name ? undefined : -32602);
    }
  });

  it("gives pages in a stable order that neither repeat nor lose a tool when others come and go", async () => {
    const many = (count: number, skip = -1) => [
      { package: "org.many", tools: Array.from({ length: count }, (_, i) => ({ name: `t${String(i).padStart(5, "0")}` })).filter((_, i) => i !== skip) },
    ];
    kit.setApps(many(2500));
    const first = (await session.rpc("tools/list")).result!;
    kit.setApps(many(2500, 3));
    const second = (await session.rpc("tools/list", { cursor: first["nextCursor"] })).result!;
    const third = (await session.rpc("tools/list", { cursor: second["nextCursor"] })).result!;
    const all = [first, second, third].flatMap((r) => (r["tools"] as { name: string }[]).map((t) => t.name));
    expect(new Set(all).size).toBe(2500);
    expect(all).toEqual([...all].sort());
    expect(third["nextCursor"]).toBeUndefined();
    expect((await session.rpc("tools/list", { cursor: null })).result).toEqual((await session.rpc("tools/list")).result);
    for (const cursor of ["x", 5, "", Buffer.from("nothing").toString("base64url")])
      expect((await session.rpc("tools/list", { cursor })).error!.code).toBe(-32602);
  });

  it("shows a named client its own selection, and knows no other tool for it", async () => {
    const bot = await RawSession.open(door, { token: await door.tokenOf("bot") });
    expect(await names(bot)).toEqual(["demo_down", "demo_echo", "demo_images", "demo_late", "demo_typed"]);
    for (const name of ["web_fetch", "demo_sick"]) expect((await bot.rpc("tools/call", { name })).error).toMatchObject({ code: -32602 });
    expect(JSON.stringify(await bot.rpc("tools/call", { name: "web_fetc" }))).not.toContain('web_fetch"');
  });

  it("serves none of several tools with one name under naming: none, and says which", async () => {
    door.settings = { ...door.settings, naming: "none" };
    kit.setApps([
      { package: "org.a", tools: [{ name: "same" }, { name: "only" }] },
      { package: "org.b", tools: [{ name: "same" }] },
    ]);
    expect(await names()).toEqual(["only"]);
    expect(namingCollisions(kit.catalog(), "none")).toEqual([expect.stringMatching(/org\.a\.same and org\.b\.same are both named same/)]);
    expect(namingCollisions(kit.catalog(), "short")).toEqual([]);
    await vi.waitFor(() => expect(door.gatewayLog.lines.join()).toContain("both named same"));
    expect((await session.rpc("tools/call", { name: "same" })).error!.code).toBe(-32602);
  });
});

describe("tools/call", () => {
  it("passes results through as the app gave them, failures included", async () => {
    expect((await session.rpc("tools/call", { name: "demo_images" })).result).toEqual({
      content: [
        { type: "image", data: "AA==", mimeType: "image/png" },
        { type: "resource_link", uri: "a://b", name: "b" },
      ],
      _meta: { k: 1 },
    });
    expect((await session.rpc("tools/call", { name: "demo_sick" })).result).toEqual({
      isError: true,
      content: [{ type: "text", text: "no such city" }],
      structuredContent: { error_code: "CITY", message: "no such city", retryable: false },
    });
  });

  it("gives the kit's refusals as isError results with the one error shape", async () => {
    for (const [name, code] of [
      ["demo_late", "APP_UNAVAILABLE"],
      ["demo_down", "TIMEOUT"],
      ["demo_poisoned", "TOOL_QUARANTINED"],
    ] as const) {
      const { result } = await session.rpc("tools/call", { name, arguments: {} });
      expect(result).toMatchObject({ isError: true, structuredContent: { ok: false, error_code: code, source: "kit" } });
      expect(JSON.parse((result!["content"] as { text: string }[])[0]!.text)).toEqual(bodyOf(result));
    }
  });

  it("answers a call of a hidden denied tool as one of an unknown tool, and so tells nobody that it exists", async () => {
    const hidden = await session.rpc("tools/call", { name: "demo_shell", arguments: {} });
    const unknown = await session.rpc("tools/call", { name: "demo_shelf", arguments: {} });
    expect(JSON.stringify(hidden.error).replaceAll("demo_shell", "demo_shelf")).toBe(JSON.stringify(unknown.error));
    expect(hidden.error).toMatchObject({ code: -32602, data: { error_code: "TOOL_NOT_FOUND" } });
  });

  it("keeps the error shape out of structuredContent where the tool has an outputSchema", async () => {
    const { result } = await session.rpc("tools/call", { name: "demo_typed" });
    expect(result).not.toHaveProperty("structuredContent");
    expect(bodyOf(result)["error_code"]).toBe("RATE_LIMITED");
  });

  it("answers bad arguments with -32602, or as a result where the setting says so", async () => {
    const bad = { name: "demo_echo", arguments: { y: 1 } };
    const answer = await session.rpc("tools/call", bad);
    expect(answer.error).toMatchObject({ code: -32602, data: { error_code: "INVALID_ARGUMENTS" } });
    door.settings = { ...door.settings, invalidArguments: "result" };
    expect((await session.rpc("tools/call", bad)).result).toMatchObject({ isError: true, structuredContent: { error_code: "INVALID_ARGUMENTS" } });
  });

  it("answers unknown and broken names with -32602 and near names", async () => {
    const answer = await session.rpc("tools/call", { name: "demo_ech" });
    expect(answer.error).toMatchObject({ code: -32602, data: { error_code: "TOOL_NOT_FOUND", details: { near: ["demo_echo"] } } });
    for (const name of ["__proto__", "constructor", "", 5, null, undefined]) expect((await session.rpc("tools/call", { name })).error!.code).toBe(-32602);
  });

  it("calls as the client, in the session's own conversation or the one that _meta names", async () => {
    await session.rpc("tools/call", { name: "web_fetch" });
    expect(kit.calls.at(-1)!.options).toMatchObject({ client: "caller", session: session.id });
    await session.rpc("tools/call", {
      name: "web_fetch",
      _meta: {
        "aurora/session": "chat-7",
        "aurora/approval_id": "ap_1",
        traceparent: "00-a-b-01",
        baggage: "user=1",
        "io.modelcontextprotocol/x": 1,
        progressToken: 1,
      },
    });
    const { options } = kit.calls.at(-1)!;
    expect(options).toMatchObject({ session: "chat-7", approvalId: "ap_1" });
    expect(options.meta).toEqual({ traceparent: "00-a-b-01" });
  });

  it("runs an approved call with the id that the refusal gave", async () => {
    kit.setApps([{ package: "org.demo", tools: [{ name: "wipe", risk: "high" }] }]);
    const { result } = await session.rpc("tools/call", { name: "demo_wipe", arguments: { a: 1 } });
    const body = bodyOf(result) as { error_code: string; details: { approval_id: string } };
    expect(body.error_code).toBe("APPROVAL_REQUIRED");
    await kit.decideApproval(body.details.approval_id, "approve", "me");
    const again = () => session.rpc("tools/call", { name: "demo_wipe", arguments: { a: 1 }, _meta: { "aurora/approval_id": body.details.approval_id } });
    expect((await again()).result!["isError"]).toBeUndefined();
    expect((await again()).result!["isError"]).toBe(true);
  });
});

describe("resources, prompts and the rest", () => {
  it("lists and reads resources; one URI of two apps is listed once", async () => {
    const list = (await session.rpc("resources/list")).result!["resources"] as { uri: string }[];
    expect(list.map((r) => r.uri)).toEqual(["demo://a", "demo://b", "web://x"]);
    expect((await session.rpc("resources/templates/list")).result).toEqual({ resourceTemplates: [{ uriTemplate: "demo://{id}", name: "t" }] });
    expect((await session.rpc("resources/read", { uri: "demo://b" })).result).toEqual({ contents: [{ uri: "demo://b", text: "B" }] });
    await session.rpc("resources/read", { uri: "demo://a" });
    expect(kit.calls.at(-1)!.options).toMatchObject({ app: "org.demo" });
    expect((await session.rpc("resources/read", { uri: "no://such" })).error).toMatchObject({ code: -32002, data: { uri: "no://such" } });
  });

  it("lists, gets and completes prompts under the gateway's names", async () => {
    expect((await session.rpc("prompts/list")).result).toEqual({ prompts: [{ name: "demo_hello", arguments: [{ name: "who", required: true }] }] });
    expect(JSON.stringify((await session.rpc("prompts/get", { name: "demo_hello", arguments: { who: "you" } })).result)).toContain(
      'hello {\\"who\\":\\"you\\"}',
    );
    expect((await session.rpc("prompts/get", { name: "demo_bye" })).error!.code).toBe(-32602);
    expect((await session.rpc("prompts/get", { name: "demo_hello", arguments: { who: 5 } })).error!.code).toBe(-32602);
    const complete = (ref: object) => session.rpc("completion/complete", { ref, argument: { name: "who", value: "y" } });
    expect((await complete({ type: "ref/prompt", name: "demo_hello" })).result).toEqual({
      completion: { values: ["demo_hello:y!"], total: 1, hasMore: false },
    });
    expect((await complete({ type: "ref/resource", uri: "demo://{id}" })).result).toEqual({
      completion: { values: ["demo://{id}:y!"], total: 1, hasMore: false },
    });
    expect((await complete({ type: "ref/prompt", name: "demo_bye" })).error!.code).toBe(-32602);
  });

  it("refuses methods that it does not serve", async () => {
    for (const method of ["tasks/list", "sampling/createMessage", "server/discover", "__proto__", "constructor"])
      expect((await session.rpc(method)).error!.code).toBe(-32601);
    expect((await session.rpc("ping")).result).toEqual({});
  });

  it("subscribes once for each session, and tells each subscriber alone", async () => {
    const other = await RawSession.open(door);
    const third = await RawSession.open(door);
    const streams = [session, other, third].map((s) => s.stream("GET", null));
    await Promise.all(streams.map((s) => s.head));
    for (const s of [session, other, other]) expect((await s.rpc("resources/subscribe", { uri: "demo://a" })).result).toEqual({});
    expect(kit.subscriptions).toEqual(["demo://a", "demo://a"]);
    kit.emit("resource", "org.demo", "demo://a");
    for (const s of streams.slice(0, 2))
      expect((await s.until((m) => m["method"] === "notifications/resources/updated"))["params"]).toEqual({ uri: "demo://a" });
    await session.rpc("resources/unsubscribe", { uri: "demo://a" });
    expect(kit.subscriptions).toEqual(["demo://a"]);
    await other.rpc("resources/unsubscribe", { uri: "demo://a" });
    expect(kit.subscriptions).toEqual([]);
    expect(streams[2]!.events).toEqual([]);
    expect((await session.rpc("resources/subscribe", { uri: "no://such" })).error!.code).toBe(-32002);
    for (const s of streams) s.drop();
  });
});

describe("what the kit tells its clients", () => {
  it("tells one list_changed for many changes, and only of the list that changed for that client", async () => {
    const bot = await RawSession.open(door, { token: await door.tokenOf("bot") });
    const streams = [session.stream("GET", null), bot.stream("GET", null)];
    await Promise.all(streams.map((s) => s.head));
    for (let i = 0; i < 5; i += 1) kit.setApps([apps[0]!, { ...apps[1]!, tools: [{ name: `fetch${i}` }] }]);
    await streams[0]!.until((m) => m["method"] === "notifications/tools/list_changed");
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(streams[0]!.events.map((e) => e.message!["method"])).toEqual(["notifications/tools/list_changed"]);
    expect(streams[1]!.events).toEqual([]);
    kit.setApps(apps.map((a) => ({ ...a, prompts: [], resources: {} })));
    await streams[1]!.until((m) => m["method"] === "notifications/prompts/list_changed");
    await streams[1]!.until((m) => m["method"] === "notifications/resources/list_changed");
    for (const s of streams) s.drop();
  });

  it("gives an app's log to the one session that uses it, from the level that it asked for; to nobody when that is not clear", async () => {
    let finish: (() => void)[] = [];
    kit.setApps([{ package: "org.demo", tools: [{ name: "work", run: () => new Promise((resolve) => finish.push(() => resolve({ content: [] }))) }] }]);
    const log = (data: string, level = "info", extra = {}) => kit.emit("notification", "org.demo", "notifications/message", { level, data, ...extra });
    log("nobody is there");
    const work = (s: RawSession) => s.stream("POST", { jsonrpc: "2.0", id: "w", method: "tools/call", params: { name: "demo_work" } });
    const mine = work(session);
    await vi.waitFor(() => expect(finish).toHaveLength(1));
    log("too low", "debug");
    log("words of a chat", "warning", { logger: "aurora/event" });
    log("mine");
    expect((await mine.until((m) => m["method"] === "notifications/message"))["params"]).toEqual({ level: "info", data: "mine" });
    const other = await RawSession.open(door);
    const theirs = work(other);
    await vi.waitFor(() => expect(finish).toHaveLength(2));
    log("whose?");
    kit.emit("notification", "org.demo", "notifications/message", { level: "error", data: "theirs" }, { client: "caller", session: other.id });
    await theirs.until((m) => (m["params"] as { data?: string })?.data === "theirs");
    for (const done of finish) done();
    await Promise.all([mine.ended, theirs.ended]);
    expect(JSON.stringify(mine.events)).not.toMatch(/whose|theirs|too low|chat|nobody/);
    expect(JSON.stringify(theirs.events)).not.toMatch(/whose|mine/);
    finish = [];
  });

  it("sets the log level of a session, and refuses unknown ones", async () => {
    expect((await session.rpc("logging/setLevel", { level: "error" })).result).toEqual({});
    expect((await session.rpc("logging/setLevel", { level: "loud" })).error!.code).toBe(-32602);
  });
});

describe("server-to-client requests", () => {
  const asking = (method: string, params = {}) => [
    {
      package: "org.demo",
      tools: [
        {
          name: "ask",
          run: async (_args: object, options: Parameters<NonNullable<FakeTool["run"]>>[1]) => {
            if (!options.onServerRequest) return { content: [{ type: "text", text: "cannot ask" }] };
            try {
              return {
                content: [{ type: "text", text: JSON.stringify(await options.onServerRequest({ method, params, signal: new AbortController().signal })) }],
              };
            } catch (error) {
              return { content: [{ type: "text", text: `refused: ${(error as Error).message}` }] };
            }
          },
        },
      ],
    },
  ];
  const ask = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "demo_ask" } };
  const textOf = (message: Record<string, unknown>) => (message["result"] as { content: { text: string }[] }).content[0]!.text;

  it("go out on the stream of the call that caused them, and the answer comes back to it", async () => {
    kit.setApps(asking("sampling/createMessage", { maxTokens: 5 }));
    const able = await RawSession.open(door, { capabilities: { sampling: {} } });
    const general = able.stream("GET", null);
    await general.head;
    const stream = able.stream("POST", ask);
    const question = await stream.until((m) => m["method"] === "sampling/createMessage");
    expect(question["params"]).toEqual({ maxTokens: 5 });
    expect(kit.calls.at(-1)!.options.clientCapabilities).toEqual({ sampling: {} });
    // Another session's answer with the same id goes nowhere.
    const other = await RawSession.open(door, { capabilities: { sampling: {} } });
    await other.post({ jsonrpc: "2.0", id: question["id"], result: { model: "evil" } });
    expect((await able.post({ jsonrpc: "2.0", id: question["id"], result: { model: "m" } })).status).toBe(202);
    await stream.ended;
    expect(textOf(stream.events.at(-1)!.message!)).toBe('{"model":"m"}');
    expect(general.events.filter((e) => e.message?.["id"] !== undefined)).toEqual([]);
    general.drop();
  });

  it("are refused when the client did not declare the capability, takes no stream, or says no", async () => {
    kit.setApps(asking("elicitation/create"));
    expect(textOf((await session.rpc("tools/call", { name: "demo_ask" })) as never)).toBe("cannot ask");
    // What roots an app has is the host's to say, never the client's.
    const roots = await RawSession.open(door, { capabilities: { roots: {} } });
    expect(textOf((await roots.rpc("tools/call", { name: "demo_ask" })) as never)).toBe("cannot ask");
    const sampling = await RawSession.open(door, { capabilities: { sampling: {} } });
    expect(textOf((await sampling.rpc("tools/call", { name: "demo_ask" })) as never)).toMatch(/refused: .*elicitation/);
    const able = await RawSession.open(door, { capabilities: { elicitation: {} } });
    const plain = await able.post(ask, { accept: "application/json" });
    expect(textOf(plain.json as never)).toMatch(/refused: .*no event stream/);
    const stream = able.stream("POST", { ...ask, id: 2 });
    const question = await stream.until((m) => m["method"] === "elicitation/create");
    await able.post({ jsonrpc: "2.0", id: question["id"], error: { code: -1, message: "not now" } });
    await stream.ended;
    expect(textOf(stream.events.at(-1)!.message!)).toBe("refused: the calling client refused: not now");
  });

  it("are withdrawn when the call is cancelled", async () => {
    kit.setApps(asking("elicitation/create"));
    const able = await RawSession.open(door, { capabilities: { elicitation: {} } });
    const stream = able.stream("POST", ask);
    const question = await stream.until((m) => m["method"] === "elicitation/create");
    await able.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await stream.ended;
    expect(stream.events.map((e) => e.message).filter((m) => m?.["method"] === "notifications/cancelled")).toMatchObject([
      { params: { requestId: question["id"] } },
    ]);
    expect(stream.events.some((e) => e.message && "result" in e.message)).toBe(false);
  });
});

describe("a reload of gateway.clients", () => {
  it("ends the sessions of clients that are gone, and tells the others of their new selection", async () => {
    const bot = await RawSession.open(door, { token: await door.tokenOf("bot") });
    const [streams, role] = [[session.stream("GET", null), bot.stream("GET", null)], "caller" as const];
    await Promise.all(streams.map((s) => s.head));
    await door.mcp.follow([
      { role, client: "caller", sees: () => true },
      { role, client: "bot", sees: (app) => app === "org.web" },
    ]);
    await streams[1]!.until((m) => m["method"] === "notifications/tools/list_changed");
    expect(streams[0]!.events).toEqual([]);
    await door.mcp.follow([{ role, client: "caller", sees: () => true }]);
    await streams[1]!.ended;
    expect((await bot.rpc("ping")).error!.message).toContain("no such session");
    expect((await session.rpc("ping")).result).toEqual({});
    streams[0]!.drop();
  });
});

describe("closing", () => {
  it("ends waiting streams at once and lets a running call finish", async () => {
    let finish!: () => void;
    kit.setApps([{ package: "org.demo", tools: [{ name: "work", run: () => new Promise((resolve) => (finish = () => resolve({ content: [] }))) }] }]);
    const gateway = createGateway({ kit, settings: () => door.settings, info: { name: "x", version: "1" } });
    const mcp = createGatewayHttp({ gateway });
    await mcp.close();
    await gateway.close();
    const waiting = session.stream("GET", null);
    await waiting.head;
    const running = session.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "demo_work" } });
    await vi.waitFor(() => expect(finish).toBeDefined());
    const closed = door.mcp.close(2000);
    await waiting.ended;
    finish();
    expect((await running).json).toMatchObject({ result: { content: [] } });
    await closed;
    expect((await session.post({ jsonrpc: "2.0", id: 2, method: "ping" })).status).toBe(503);
  });
});
