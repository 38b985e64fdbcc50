import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { stringifyExact } from "../../src/base/exact-json.ts";
import { HTTP_ERRORS } from "../../src/control/http-errors.ts";
import { compileRoutes, type Route } from "../../src/control/route.ts";
import { createMetrics } from "../../src/control/metrics.ts";
import { createRoutes } from "../../src/control/routes.ts";
import { readFile } from "node:fs/promises";
import { createFakeKit } from "../support/fake-kit.ts";
import { openDoor, request, type Door } from "../support/door.ts";

const kit = createFakeKit([
  {
    package: "org.demo",
    tools: [
      { name: "echo" },
      { name: "wipe", risk: "high" },
      { name: "poisoned", state: "quarantined", definition: { description: "SECRET INSTRUCTION" } },
      { name: "hang", run: (_args, options) => new Promise((_, reject) => options.signal!.addEventListener("abort", () => reject(new Error("aborted")))) },
    ],
    resources: { "demo://a": "A" },
    prompts: [{ name: "hello" }],
  },
]);
let door: Door;
beforeAll(async () => {
  door = await openDoor(kit, { gateway: { clients: [{ name: "bot", tokenFile: "", include: null, exclude: ["org.demo/wipe"] }] } });
});
afterAll(() => door.stop());

const routes = (): Route[] => {
  const metrics = createMetrics(kit);
  metrics.close();
  return createRoutes({ kit, metrics, version: "1", mcp: { handle: () => undefined } });
};
const concrete = (path: string): string => path.replace("{app}", "org.demo").replace("{id}", "ap_1");
const get = (path: string, token = door.operator) => request(door, "GET", path, { token });
const post = (path: string, body: unknown, token = door.operator) => request(door, "POST", path, { token, body });
const code = ({ json }: { json: unknown }): string => {
  const body = json as { error_code?: string; error: { data: { error_code: string } } };
  return body.error_code ?? body.error.data.error_code;
};

describe("who may do what", () => {
  it("no route but the public ones answers without a token, and no operator route answers a caller", async () => {
    for (const route of routes()) {
      const send = (token?: string) =>
        request(door, route.method, concrete(route.path), { ...(token ? { token } : {}), ...(route.body ? { body: "[1" } : {}) });
      const [nobody, stranger] = [await send(), await send("x".repeat(43))];
      const caller = route.role === "operator" ? await send(door.caller) : null;
      if (route.role === "public") expect([route.path, nobody.status < 400]).toEqual([route.path, true]);
      else expect([route.path, nobody.status, stranger.status, code(nobody)]).toEqual([route.path, 401, 401, "UNAUTHORIZED"]);
      if (caller) expect([route.path, caller.status, code(caller)]).toEqual([route.path, 403, "FORBIDDEN"]);
    }
    expect(
      routes()
        .filter((r) => r.role === "public")
        .map((r) => r.path)
        .sort(),
    ).toEqual(["/healthz", "/openapi.json", "/readyz"]);
  });

  it("the agent that asks cannot approve, whichever its token", async () => {
    const asked = await post("/api/call", { tool: "org.demo.wipe", arguments: {} }, await door.tokenOf("bot"));
    const id = (asked.json as { error: { details: { approval_id: string } } }).error.details.approval_id;
    for (const token of [door.caller, await door.tokenOf("bot")]) expect((await post(`/api/approvals/${id}/approve`, {}, token)).status).toBe(403);
    expect((await request(door, "POST", `/api/approvals/${id}/approve`, { body: {} })).status).toBe(401);
    expect(kit.listApprovals()).toMatchObject([{ id, state: "pending", client: "bot" }]);
    expect((await post(`/api/approvals/${id}/approve`, { by: "ann" })).json).toMatchObject({ id, state: "approved", decided_by: ["ann"] });
    expect(code(await post(`/api/approvals/${id}/deny`, {}))).toBe("CONFLICT");
    expect((await post("/api/approvals/ap_none/deny", {})).status).toBe(404);
  });

  it("auth.mode none lets callers in without a token, and operators only with theirs", async () => {
    const open = await openDoor(kit, { gateway: { authMode: "none" } });
    expect((await request(open, "GET", "/api/status")).status).toBe(200);
    expect((await request(open, "POST", "/api/reload", { body: {} })).status).toBe(403);
    expect((await request(open, "GET", "/api/status", { token: "wrong-token-wrong-token" })).status).toBe(401);
    expect((await request(open, "POST", "/api/reload", { body: {}, token: open.operator })).status).toBe(200);
    await open.stop();
  });
});

describe("the route table", () => {
  it("knows exact paths only, and names the methods that a path takes", async () => {
    for (const path of ["/", "/api", "/api/status/", "/API/status", "//api/status", "/api/../api/status", "/api/apps//logs", "/api/apps/%zz", "/api/status%00"])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    const wrong = await request(door, "DELETE", "/api/status", { token: door.operator });
    expect([wrong.status, wrong.headers["allow"], code(wrong)]).toEqual([405, "GET, HEAD", "METHOD_NOT_ALLOWED"]);
    expect((await request(door, "PUT", "/mcp", { token: door.operator })).headers["allow"]).toBe("DELETE, GET, HEAD, POST");
    expect((await request(door, "POST", "/api/nothing", { body: {} })).status).toBe(401);
  });

  it("HEAD is GET without the body: the same checks, status and headers, and no stream that stays open", async () => {
    for (const [path, token] of [
      ["/healthz", ""],
      ["/api/status", ""],
      ["/api/status", door.operator],
      ["/api/nothing", door.operator],
      ["/openapi.json", ""],
    ] as const) {
      const [full, head] = [await request(door, "GET", path, { token }), await request(door, "HEAD", path, { token })];
      expect([path, head.status, head.headers["content-type"], head.headers["content-length"]]).toEqual([
        path,
        full.status,
        full.headers["content-type"],
        full.headers["content-length"],
      ]);
      expect([head.text, full.text === ""]).toEqual(["", false]);
    }
    for (const path of ["/api/events", "/mcp", "/api/apps/org.demo/logs?follow=true"])
      expect((await request(door, "HEAD", path, { token: door.operator })).headers["content-type"]).toBe("text/event-stream");
    expect((await request(door, "HEAD", "/api/events")).status).toBe(401);
  });

  it("refuses two rows for one method and path", () => {
    const row = routes()[0]!;
    expect(() => compileRoutes([row, row])).toThrow(/two routes for GET \/api\/tools/);
  });

  it("stands whole in the OpenAPI document", async () => {
    const document = (await request(door, "GET", "/openapi.json")).json as {
      openapi: string;
      paths: Record<string, Record<string, { operationId: string; security: object[]; requestBody?: object }>>;
    };
    expect(document.openapi).toBe("3.1.0");
    const listed = Object.entries(document.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));
    expect(listed.sort()).toEqual(
      routes()
        .map((r) => `${r.method} ${r.path}`)
        .sort(),
    );
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((o) => o.operationId));
    expect(new Set(ids).size).toBe(ids.length);
    expect(document.paths["/healthz"]!["get"]!.security).toEqual([]);
    expect(document.paths["/api/reload"]!["post"]!.requestBody).toBeDefined();
  });

  it("and its error codes stand whole in docs/http-api.md", async () => {
    const text = await readFile(new URL("../../docs/http-api.md", import.meta.url), "utf8");
    for (const route of routes()) expect(text).toContain(`\`${route.method} ${route.path}\``);
    const documented = [...text.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \|/gm)].map((m) => `${m[1]} ${m[2]}`);
    expect(documented.sort()).toEqual(
      Object.entries(HTTP_ERRORS)
        .map(([name, row]) => `${name} ${row.status}`)
        .sort(),
    );
  });
});

describe("tools", () => {
  it("are exported with the catalogue's digest as ETag, and 304 while it stands", async () => {
    const first = await get("/api/tools?format=openai", door.caller);
    const etag = String(first.headers["etag"]);
    expect(etag).toBe(`"${kit.catalog().digest}"`);
    expect(first.json).toHaveLength(3);
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const again = await request(door, "GET", "/api/tools?format=openai", { token: door.caller, headers: { "if-none-match": tag } });
      expect([again.status, again.text, again.headers["etag"]]).toEqual([304, "", etag]);
    }
    expect((await request(door, "GET", "/api/tools", { token: door.caller, headers: { "if-none-match": '"other"' } })).status).toBe(200);
    expect((await get("/api/tools?format=text", door.caller)).headers["content-type"]).toContain("text/plain");
    expect((await get("/api/tools?format=xml")).json).toMatchObject({ message: expect.stringContaining("openai, openai-responses") });
    expect((await get("/api/tools?max_name=0")).status).toBe(400);
    const search = await get("/api/tools?mode=search", door.caller);
    expect((search.json as { function: { name: string } }[]).map((tool) => tool.function.name).sort()).toEqual(["call_tool", "search_tools"]);
    expect((await get("/api/tools?mode=serch")).json).toMatchObject({ error_code: "BAD_REQUEST", message: "mode must be one of all, search" });
  });

  it("refuse a query parameter that the route does not have, and name those that it has", async () => {
    expect(await get("/api/tools?formt=openai")).toMatchObject({
      status: 400,
      json: { error_code: "BAD_REQUEST", message: "unknown query parameter formt; /api/tools has format, max_name, max_tools, mode" },
    });
    expect((await get("/api/status?x=1")).json).toMatchObject({ message: "unknown query parameter x; /api/status has no query parameters" });
    expect((await get("/healthz?probe=1")).status).toBe(200);
  });

  it("are called one by one; the outcome is in the answer", async () => {
    expect((await post("/api/call", { tool: "demo_echo", arguments: { a: 1 }, session: "s9", turn: "t1" }, door.caller)).json).toMatchObject({
      outcome: "succeeded",
      ok: true,
      error: null,
      result: { content: [{ text: '{"a":1}' }] },
      duration_ms: 1,
    });
    expect(kit.calls.at(-1)!.options).toMatchObject({ client: "caller", session: "s9", turn: "t1" });
    const missing = await post("/api/call", { tool: "nothing" });
    expect([missing.status, (missing.json as { error: { error_code: string } }).error.error_code]).toEqual([200, "TOOL_NOT_FOUND"]);
    for (const body of [{}, [], { tool: 5 }, { tool: "x", arguments: {}, extra: 1 }, { tool: "x", client: "operator" }, "null"])
      expect((await post("/api/call", body)).status).toBe(400);
    expect((await post("/api/call", "{")).json).toMatchObject({ error_code: "BAD_REQUEST" });
  });

  it("get whole numbers with all their digits", async () => {
    await post("/api/call", '{"tool":"demo_echo","arguments":{"id":1234567890123456789012}}', door.caller);
    expect(stringifyExact(kit.calls.at(-1)!.args)).toBe('{"id":1234567890123456789012}');
  });

  it("are called as a model gave them, one message for each call, in order", async () => {
    const calls = ["a", "b", "c"].map((id, i) => ({
      id,
      type: "function",
      function: { name: i === 1 ? "nothing" : "demo_echo", arguments: JSON.stringify({ i }) },
    }));
    const { messages } = (await post("/api/tool-calls", { tool_calls: calls, session: "s" }, door.caller)).json as { messages: { tool_call_id: string }[] };
    expect(messages.map((m) => m.tool_call_id)).toEqual(["a", "b", "c"]);
    await post("/api/end-turn", { session: "s", turn: "t" }, door.caller);
    expect(kit.endedTurns).toEqual(["caller/s/t"]);
  });

  it.each([
    ["/api/call", { tool: "demo_hang" }],
    ["/api/tool-calls", { tool_calls: [{ id: "1", function: { name: "demo_hang", arguments: "{}" } }] }],
  ])("%s cancels when the client goes away", async (path, body) => {
    const gone = new AbortController();
    const count = kit.calls.length;
    const running = request(door, "POST", path, { token: door.caller, body, signal: gone.signal });
    await vi.waitFor(() => expect(kit.calls).toHaveLength(count + 1));
    gone.abort();
    await expect(running).rejects.toThrow();
    await vi.waitFor(() => expect(kit.calls.at(-1)!.options.signal!.aborted).toBe(true));
  });

  it("show a caller no text that nobody accepted, and a named client only its selection", async () => {
    expect((await get("/api/catalog")).text).toContain("SECRET");
    expect((await get("/api/catalog", door.caller)).text).not.toContain("SECRET");
    const rows = (await get("/api/catalog", await door.tokenOf("bot"))).json as { tool: string }[];
    expect(rows.map((r) => r.tool)).toEqual(["echo", "hang"]);
  });

  it("are explained to an operator", async () => {
    expect((await get('/api/explain?tool=demo_echo&args={"a":1}&session=s')).json).toMatchObject({ tool: "org.demo.echo", decision: "allow" });
    expect([(await get("/api/explain")).status, (await get("/api/explain?tool=x")).status, (await get("/api/explain?tool=demo_echo&args=[1]")).status]).toEqual(
      [400, 404, 400],
    );
  });
});

describe("the rest of the API", () => {
  it("gives status, apps, logs, and restarts", async () => {
    expect((await get("/api/status", door.caller)).json).toMatchObject({ state: "running", apps: [{ package: "org.demo" }] });
    expect((await get("/api/apps/org.demo", door.caller)).json).toMatchObject({ package: "org.demo", state: "ready" });
    expect((await post("/api/apps/org.demo/restart", undefined)).json).toMatchObject({ restarts: 1 });
    expect((await post("/api/apps/none/restart", undefined)).status).toBe(404);
    for (const line of ["one", "two", "three"]) kit.log("org.demo", line);
    expect((await get("/api/apps/org.demo/logs?tail=2")).json).toEqual({ app: "org.demo", lines: ["two", "three"] });
    expect((await get("/api/apps/org.demo/logs?tail=x")).status).toBe(400);
  });

  it("reads resources and prompts; refusals have the error shape and a fitting status", async () => {
    expect((await get("/api/resources", door.caller)).json).toMatchObject({ resources: [{ app: "org.demo", resource: { uri: "demo://a" } }], templates: [] });
    expect((await post("/api/resources/read", { uri: "demo://a" }, door.caller)).json).toMatchObject({ ok: true, result: { contents: [{ text: "A" }] } });
    const missing = await post("/api/resources/read", { uri: "demo://b" }, door.caller);
    expect([missing.status, code(missing)]).toEqual([404, "RESOURCE_NOT_FOUND"]);
    expect((await get("/api/prompts", door.caller)).json).toMatchObject([{ name: "hello", short: "demo_hello" }]);
    expect((await post("/api/prompts/get", { name: "demo_hello", arguments: { a: "b" } }, door.caller)).json).toMatchObject({ ok: true });
    expect((await post("/api/prompts/get", { name: "demo_hello", arguments: { a: 1 } }, door.caller)).status).toBe(400);
  });

  it("reloads, applies, plans, locks, and clears marks", async () => {
    expect((await post("/api/reload", {})).json).toMatchObject({ result: "unchanged" });
    expect((await post("/api/apply", {})).json).toMatchObject({ result: "applied" });
    expect((await get("/api/plan")).json).toMatchObject({ report: { changes: 0 } });
    expect((await get("/api/lock")).json).toMatchObject([{ state: "new" }]);
    expect((await post("/api/lock/accept", { select: ["b"] })).json).toMatchObject([{ app: "b", state: "accepted" }]);
    const seen = { app: "a", kind: "tool", name: "t", pin: "sha256:1", accepted: null };
    expect((await post("/api/lock/accept", { select: [seen] })).json).toMatchObject([{ app: "a", state: "accepted" }]);
    const late = await post("/api/lock/accept", { select: [{ ...seen, pin: "sha256:2" }] });
    expect([late.status, code(late)]).toEqual([409, "CONFLICT"]);
    for (const wrong of [{ ...seen, pin: undefined }, { ...seen, kind: "plugin" }, { ...seen, more: 1 }, 7])
      expect([wrong, (await post("/api/lock/accept", { select: [wrong] })).status]).toEqual([wrong, 400]);
    expect((await post("/api/sessions/clear", { client: "caller", session: "s1" })).json).toEqual({ cleared: true });
    expect((await post("/api/sessions/clear", { client: "caller", session: "s1" })).json).toEqual({ cleared: false });
    expect((await get("/api/sessions")).json).toEqual([]);
  });

  it("is healthy while it serves, and ready while the host runs", async () => {
    kit.state = "stopping";
    expect([(await request(door, "GET", "/healthz")).status, (await request(door, "GET", "/readyz")).status]).toEqual([200, 503]);
    kit.state = "running";
    expect((await request(door, "GET", "/readyz")).json).toEqual({ ok: true, state: "running" });
  });

  it("counts calls, decisions and reloads, without arguments, texts or tokens", async () => {
    await post("/api/call", { tool: "demo_echo", arguments: { password: "hunter2" } });
    const { text, headers } = await get("/metrics", door.caller);
    expect(headers["content-type"]).toContain("text/plain");
    expect(text).toMatch(/aurora_calls_total\{app="org\.demo",tool="echo",outcome="succeeded",code=""\} \d/);
    for (const name of [
      "aurora_call_duration_seconds_bucket",
      "aurora_decisions_total",
      "aurora_reloads_total",
      "aurora_app_up",
      "aurora_app_restarts",
      "aurora_app_tool_tokens",
      'aurora_result_tokens_total{app="org.demo"}',
      "aurora_inbox_events",
      "aurora_approvals_pending",
    ])
      expect(text).toContain(name);
    for (const secret of ["hunter2", "SECRET", door.caller, door.operator]) expect(text).not.toContain(secret);
  });

  it("answers a fault of its own without telling what it was", async () => {
    const lockDiff = kit.lockDiff;
    kit.lockDiff = () => {
      throw new Error("/secret/path");
    };
    const answer = await get("/api/lock");
    kit.lockDiff = lockDiff;
    expect([answer.status, code(answer)]).toEqual([500, "INTERNAL"]);
    expect(answer.text).not.toContain("secret");
    expect(door.log.lines.join()).toContain("/secret/path");
  });
});
