import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createFakeKit } from "../support/fake-kit.ts";
import { openGatewayDoor, RawSession, type GatewayDoor } from "../support/gateway-door.ts";
import { request } from "../support/door.ts";

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const kit = createFakeKit([
  {
    package: "org.demo",
    tools: [
      { name: "echo" },
      { name: "wipe", risk: "high" },
      { name: "slow", run: (_args, options) => new Promise((_, reject) => options.signal!.addEventListener("abort", () => reject(new Error("aborted")))) },
      {
        name: "steps",
        run: async (_args, options) => {
          for (const progress of [1, 2, 3]) {
            options.onProgress?.({ progress, total: 3 });
            await later(60);
          }
          return { content: [{ type: "text", text: "done" }] };
        },
      },
    ],
  },
]);
const clients = ["alice", "bob"].map((name) => ({ name, tokenFile: "", include: null, exclude: [] }));
let door: GatewayDoor;
beforeAll(async () => {
  door = await openGatewayDoor(kit, { gateway: { clients } });
});
afterAll(() => door.stop());

const call = (id: number, name: string, meta?: object) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: {}, ...(meta ? { _meta: meta } : {}) },
});

describe("sessions", () => {
  it("are bound to their principal: another one's looks like none", async () => {
    const alice = await RawSession.open(door, { token: await door.tokenOf("alice") });
    const bob = await RawSession.open(door, { token: await door.tokenOf("bob") });
    const asBob = new RawSession(door, await door.tokenOf("bob"));
    asBob.id = alice.id;
    for (const method of ["POST", "GET", "DELETE"]) {
      const answer = await request(door, method, "/mcp", {
        token: asBob.token,
        headers: asBob.headers(),
        ...(method === "POST" ? { body: call(1, "org_demo_echo") } : {}),
      });
      expect(answer.status).toBe(404);
    }
    expect((await alice.rpc("ping")).result).toEqual({});
    expect((await bob.rpc("ping")).result).toEqual({});
    const asOperator = new RawSession(door, door.operator);
    asOperator.id = alice.id;
    expect((await asOperator.post(call(1, "demo_echo"))).status).toBe(404);
  });

  it("have ids that the server chooses, at random", async () => {
    const fixed = new RawSession(door);
    fixed.id = "chosen-by-client";
    const answer = await fixed.post({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } });
    expect(answer.status).toBe(200);
    expect(answer.headers["mcp-session-id"]).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect((await fixed.post(call(1, "demo_echo"))).status).toBe(404);
  });

  it("need their id, 400 without it, 404 for one that is not there", async () => {
    const none = new RawSession(door);
    expect((await none.post(call(1, "demo_echo"))).status).toBe(400);
    none.id = "unknown";
    expect((await none.post(call(1, "demo_echo"))).status).toBe(404);
    expect((await request(door, "GET", "/mcp", { token: door.caller, headers: { accept: "text/event-stream" } })).status).toBe(400);
  });

  it("end with DELETE: 404 from then on, running calls cancelled, own open approvals refused", async () => {
    const session = await RawSession.open(door);
    const asked = (await session.rpc("tools/call", { name: "demo_wipe", arguments: {} })).result!;
    const id = (asked["_meta"] as Record<string, { details: { approval_id: string } }>)["aurora/error"]!.details.approval_id;
    expect(JSON.stringify(asked["content"])).toContain("while this client stays connected");
    const kept = (await session.rpc("tools/call", { name: "demo_wipe", arguments: {}, _meta: { "aurora/session": "long-lived" } })).result!;
    const keptId = (kept["_meta"] as Record<string, { details: { approval_id: string } }>)["aurora/error"]!.details.approval_id;
    expect(JSON.stringify(kept["content"])).not.toContain("stays connected");
    const running = session.post(call(7, "demo_slow"));
    await vi.waitFor(() => expect(kit.calls.at(-1)!.name).toBe("org.demo.slow"));
    expect((await request(door, "DELETE", "/mcp", { token: session.token, headers: session.headers() })).status).toBe(204);
    await running;
    expect(kit.calls.at(-1)!.options.signal!.aborted).toBe(true);
    expect((await session.post(call(8, "demo_echo"))).status).toBe(404);
    const states = Object.fromEntries(kit.listApprovals({ all: true }).map((row) => [row.id, row.state]));
    expect(states[id]).toBe("denied");
    expect(states[keptId]).toBe("pending");
    expect(kit.endedSessions).toContain(`caller/${session.id}`);
    expect(kit.endedSessions).toContain("caller/long-lived");
  });

  it("that are idle end by themselves, and make room for new ones", async () => {
    let now = 0;
    const small = await openGatewayDoor(kit, { http: { maxSessions: 2, now: () => now } });
    const first = await RawSession.open(small);
    now = 1;
    const second = await RawSession.open(small);
    const listening = second.stream("GET", null);
    await listening.head;
    now = 2;
    const third = await RawSession.open(small);
    expect((await first.post(call(1, "demo_echo"))).status).toBe(404);
    expect((await third.rpc("ping")).result).toEqual({});
    const open = third.stream("GET", null);
    await open.head;
    const refused = await new RawSession(small).post({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {} },
    });
    expect(refused.status).toBe(503);
    expect(small.mcp.sessions).toBe(2);
    await small.stop();
  });
});

describe("the wire", () => {
  it("refuses batches, other shapes, and unknown protocol versions", async () => {
    const session = await RawSession.open(door);
    expect((await session.post(Array.from({ length: 10_000 }, (_, i) => call(i, "demo_echo")))).status).toBe(400);
    expect((await session.post([])).status).toBe(400);
    for (const wrong of [
      {},
      { jsonrpc: "1.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", id: null, method: "ping" },
      { jsonrpc: "2.0", id: {}, method: "ping" },
      { jsonrpc: "2.0", id: 1, method: "ping", params: [] },
      "x",
      1,
      null,
    ]) {
      expect((await session.post(wrong)).status).toBe(400);
    }
    expect((await session.post(call(1, "demo_echo"), { "mcp-protocol-version": "1999-01-01" })).status).toBe(400);
    expect((await session.post(call(1, "demo_echo"), { "mcp-protocol-version": "2025-06-18" })).status).toBe(200);
    expect((await session.post(call(1, "demo_echo"), { accept: "text/html" })).status).toBe(406);
  });

  it("answers initialize with the asked revision where it is known, else with the newest", async () => {
    for (const [asked, given] of [
      ["2024-11-05", "2024-11-05"],
      ["2025-06-18", "2025-06-18"],
      ["2099-01-01", "2025-11-25"],
    ] as const)
      expect((await RawSession.open(door, { version: asked })).version).toBe(given);
    const answer = await new RawSession(door).post({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
    expect(answer.status).toBe(400);
  });

  it("answers in JSON where nothing streams, and on a stream from the first message on", async () => {
    const session = await RawSession.open(door);
    const plain = await session.post(call(1, "demo_steps"));
    expect(plain.headers["content-type"]).toBe("application/json");
    const stream = session.stream("POST", call(2, "demo_steps", { progressToken: "t" }));
    expect((await stream.head).headers["content-type"]).toBe("text/event-stream");
    await stream.ended;
    const messages = stream.events.flatMap((e) => (e.message ? [e.message] : []));
    expect(messages.map((m) => m["method"] ?? "response")).toEqual(["notifications/progress", "notifications/progress", "notifications/progress", "response"]);
    expect(messages[0]!["params"]).toEqual({ progressToken: "t", progress: 1, total: 3 });
    expect(stream.events[0]!.message).toBeNull();
    const only = await session.post(call(3, "demo_steps", { progressToken: 5 }), { accept: "application/json" });
    expect((only.json as { id: number }).id).toBe(3);
  });

  it("cancels by notification: the request gets no response", async () => {
    const session = await RawSession.open(door);
    const running = session.post(call(9, "demo_slow"));
    await vi.waitFor(() => expect(kit.calls.at(-1)!.options.session).toBe(session.id));
    expect((await session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } })).status).toBe(202);
    const answer = await running;
    expect([answer.status, answer.text]).toEqual([202, ""]);
    expect(kit.calls.at(-1)!.options.signal!.aborted).toBe(true);
  });

  it("knows requests by ids and progress by tokens of any size, to the last digit", async () => {
    const session = await RawSession.open(door);
    const [one, other] = ["9007199254740993", "9007199254740992"];
    const slow = (id: string, name = "demo_slow", token = '"t"') =>
      session.post(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","_meta":{"progressToken":${token}}}}`);
    const running = slow(one);
    await vi.waitFor(() => expect(kit.calls.at(-1)!.options.session).toBe(session.id));
    expect((await slow(one)).text).toContain(`"id":${one},"error"`);
    const steps = await slow(other, "demo_steps", one);
    expect(steps.text).toContain(`"progressToken":${one},`);
    expect(steps.text).toContain(`"id":${other},"result"`);
    await session.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${other}}}`);
    await session.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${one}}}`);
    expect((await running).status).toBe(202);
    session.id = "";
    const opened = await session.post(`{"jsonrpc":"2.0","id":-${one},"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`);
    expect(opened.text).toContain(`"id":-${one},`);
  });

  it("takes a byte order mark in front of a message", async () => {
    const session = await RawSession.open(door);
    const answer = await session.post('\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}');
    expect([answer.status, answer.json]).toEqual([200, { jsonrpc: "2.0", id: 1, result: {} }]);
  });

  it("cancels when the client of a plain answer goes away", async () => {
    const session = await RawSession.open(door);
    const gone = new AbortController();
    const running = session.post(call(9, "demo_slow"), {}, gone.signal);
    await vi.waitFor(() => expect(kit.calls.at(-1)!.options.session).toBe(session.id));
    gone.abort();
    await expect(running).rejects.toThrow();
    await vi.waitFor(() => expect(kit.calls.at(-1)!.options.signal!.aborted).toBe(true));
  });

  it("refuses a second request with the id of a running one", async () => {
    const session = await RawSession.open(door);
    const running = session.post(call(1, "demo_steps"));
    await vi.waitFor(() => expect(kit.calls.at(-1)!.options.session).toBe(session.id));
    expect(((await session.post(call(1, "demo_echo"))).json as { error: { code: number } }).error.code).toBe(-32600);
    expect(((await running).json as { result: unknown }).result).toBeDefined();
  });
});

describe("resumption", () => {
  it("gives a client that lost its stream what it missed, once, in order", async () => {
    const session = await RawSession.open(door);
    const stream = session.stream("POST", call(1, "demo_steps", { progressToken: 1 }));
    await stream.until((m) => m["method"] === "notifications/progress");
    const lastId = stream.lastId;
    stream.drop();
    await later(100);
    const resumed = session.stream("GET", null, { "last-event-id": lastId });
    await resumed.ended;
    const progress = [...stream.events, ...resumed.events].flatMap((e) =>
      e.message?.["method"] ? [(e.message["params"] as { progress: number }).progress] : [],
    );
    expect(progress).toEqual([1, 2, 3]);
    expect(resumed.events.length).toBeGreaterThan(1);
    expect(resumed.events.at(-1)!.message).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } });
    expect(kit.calls.filter((c) => c.options.session === session.id)).toHaveLength(1);
  });

  it("stays within the own session: another session's event id replays nothing of it", async () => {
    const alice = await RawSession.open(door, { token: await door.tokenOf("alice") });
    const stream = alice.stream("POST", call(1, "demo_steps", { progressToken: "secret-of-alice" }));
    await stream.ended;
    const bob = await RawSession.open(door, { token: await door.tokenOf("bob") });
    const firstId = stream.events[0]!.id!;
    for (const id of [firstId, "0.0", "1.0", "999.1", "x", "__proto__", "1.1.1"]) {
      const replay = bob.stream("GET", null, { "last-event-id": id });
      const { statusCode } = await replay.head;
      expect([200, 400]).toContain(statusCode);
      await later(20);
      expect(JSON.stringify(replay.events)).not.toContain("secret-of-alice");
      expect(replay.events.filter((e) => e.message !== null)).toEqual([]);
      replay.drop();
    }
  });

  it("keeps messages for a session whose stream is away", async () => {
    const session = await RawSession.open(door);
    const stream = session.stream("GET", null);
    await stream.head;
    stream.drop();
    await later(50);
    kit.setApps([{ package: "org.demo", tools: [{ name: "other" }] }]);
    await later(60);
    const again = session.stream("GET", null);
    await again.until((m) => m["method"] === "notifications/tools/list_changed");
    again.drop();
  });
});
