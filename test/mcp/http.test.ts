import { createServer } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { HttpSpec } from "../../src/plan/types.ts";
import { appPlan, httpSpec } from "../support/app-plan.ts";
import { makeCertificate } from "../support/certificate.ts";
import { httpMcpServer } from "../support/http-mcp-server.ts";
import type { Exchange, HttpMcpServer } from "../support/http-mcp-server.ts";
import { atEnd, connectorFor, open, temporaryFolder, textOf, toolCall, until } from "./support.ts";

async function serve(script?: (exchange: Exchange) => unknown, options?: Parameters<typeof httpMcpServer>[1]): Promise<HttpMcpServer> {
  const server = await httpMcpServer(script, options);
  atEnd(() => server.close());
  return server;
}

const ok = (text: string): object => ({ content: [{ type: "text", text }] });
const counted = (server: HttpMcpServer, name: string): number => server.log.filter((entry) => entry === name).length;

async function failedStart(spec: HttpSpec, options = {}): Promise<{ message: string; retry: boolean }> {
  return await connectorFor(options)
    .connect(appPlan(spec), "shared", {}, new AbortController().signal)
    .then(
      async (connection) => {
        await connection.close();
        throw new Error("the start did not fail");
      },
      (error: unknown) => error as { message: string; retry: boolean },
    );
}

/** A server with sessions s1, s2, …; `forget()` makes it forget the present one. */
async function sessions(
  unknown: (exchange: Exchange) => void,
  more: (exchange: Exchange) => unknown = () => false,
): Promise<HttpMcpServer & { forget: () => void }> {
  let n = 0;
  let current = "";
  const server = await serve((x) => {
    if (x.message.method === "initialize") {
      current = `s${(n += 1)}`;
      x.response.setHeader("mcp-session-id", current);
      return false;
    }
    if (x.headers["mcp-session-id"] !== current) {
      unknown(x);
      return true;
    }
    return more(x);
  });
  return Object.assign(server, { forget: () => (current = "gone") });
}

describe("a session", () => {
  it("keeps its headers: no version on initialize, both after, and is deleted at the end", async () => {
    const server = await sessions((x) => x.reply(404));
    const { connection } = await open(httpSpec(server.url));
    expect(connection).toMatchObject({ transport: "http", pid: null });
    expect(textOf(await connection.request(...toolCall("echo", { a: "日本" })))).toBe('{"a":"日本"}');
    await connection.close();
    const [first, ...rest] = server.seen;
    expect(first!.headers).not.toHaveProperty("mcp-protocol-version");
    for (const exchange of rest) expect(exchange.headers).toMatchObject({ "mcp-protocol-version": "2025-11-25", "mcp-session-id": "s1" });
    expect(server.log).toEqual(expect.arrayContaining(["initialize", "notifications/initialized", "GET", "tools/call", "DELETE"]));
    expect(connection.closed).toBe(true);
  });

  it("does not wait long for a server that never answers the DELETE; force does not wait at all", async () => {
    const server = await sessions(
      (x) => x.reply(404),
      (x) => x.verb === "DELETE",
    );
    for (const [force, limit] of [
      [false, 2500],
      [true, 500],
    ] as const) {
      const { connection } = await open(httpSpec(server.url));
      const started = Date.now();
      await connection.close({ force });
      expect(Date.now() - started).toBeLessThan(limit);
    }
  });

  it.each([
    ["404", (x: Exchange) => x.reply(404, {}, "Session not found")],
    [
      "400 with the words",
      (x: Exchange) =>
        x.reply(
          400,
          { "content-type": "application/json" },
          '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}',
        ),
    ],
    [
      "200 and an event with the words (keryx#503)",
      (x: Exchange) => {
        x.stream()('{"error":"Session not found"}');
        x.response.end();
      },
    ],
    ["200 and JSON with the words", (x: Exchange) => x.reply(200, { "content-type": "application/json" }, '{"error":"Session expired"}')],
  ])("that the server forgot (%s) is opened again once, and the refused call sent again", async (_name, unknown) => {
    const server = await sessions(unknown);
    const { connection, notes } = await open(httpSpec(server.url));
    await connection.request("logging/setLevel", { level: "info" }).catch(() => {});
    server.forget();
    const results = await Promise.all(Array.from({ length: 5 }, (_, i) => connection.request(...toolCall("echo", { i }))));
    expect(results.map(textOf)).toEqual([0, 1, 2, 3, 4].map((i) => `{"i":${i}}`));
    expect(counted(server, "initialize")).toBe(2);
    expect(notes.join()).toContain("a new one was opened");
    const heard: string[] = [];
    connection.onNotification((method) => heard.push(method));
    expect(heard).toEqual(["notifications/tools/list_changed"]);
  });

  it("that the server forgets every time is not opened in a loop", async () => {
    const server = await sessions(
      (x) => x.reply(404),
      (x) => {
        if (x.message.method !== "tools/call") return false;
        x.reply(404);
        return true;
      },
    );
    const { connection } = await open(httpSpec(server.url));
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "session-expired", sent: false });
    expect(counted(server, "initialize")).toBe(2);
    expect(counted(server, "tools/call")).toBe(2);
  });

  it("that is renewed gets its subscriptions again", async () => {
    const server = await sessions(
      (x) => x.reply(404),
      (x) => x.message.method === "resources/subscribe" && (x.result({}), true),
    );
    const { connection } = await open(httpSpec(server.url));
    await connection.request("resources/subscribe", { uri: "a://b" });
    server.forget();
    await connection.request(...toolCall());
    expect(counted(server, "resources/subscribe")).toBe(2);
  });
});

describe("a start that fails", () => {
  it.each([404, 405, 410, 401, 403])("with HTTP %i on initialize is a fault of the configuration, asked once (hermes-agent#18165)", async (status) => {
    const server = await serve((x) => (x.reply(status, { "content-type": "text/plain" }, "no"), true));
    const error = await failedStart(httpSpec(server.url));
    expect(error.retry).toBe(false);
    expect(error.message).toContain(`HTTP ${status}`);
    expect(error.message).toContain(server.url);
    expect(counted(server, "initialize")).toBe(1);
  });

  it.each([500, 502, 503, 429])("with HTTP %i may pass by itself", async (status) => {
    const server = await serve((x) => (x.reply(status), true));
    expect((await failedStart(httpSpec(server.url))).retry).toBe(true);
  });

  it("because nobody listens may pass by itself, and is not a bare 'fetch failed'", async () => {
    const server = await serve();
    await server.close();
    const error = await failedStart(httpSpec(server.url));
    expect(error.retry).toBe(true);
    expect(error.message).toContain("cannot be reached: ECONNREFUSED");
  });

  it("with a list of versions in a 400 is tried once more with one of them (xiaohongshu-mcp#697)", async () => {
    const server = await serve(
      (x) => x.message.method === "initialize" && x.count === 1 && (x.reply(400, {}, "Unsupported version; supported versions: 2025-06-18, 2025-03-26"), true),
    );
    const { connection } = await open(httpSpec(server.url));
    expect(connection.protocolVersion).toBe("2025-06-18");
    expect(server.seen.find((x) => x.message.method === "notifications/initialized")!.headers["mcp-protocol-version"]).toBe("2025-06-18");
  });

  it("with a web page is told in words", async () => {
    const server = await serve(
      (x) => (x.reply(200, { "content-type": "text/html" }, "<html><head><style>x{}</style></head><body><h1>Welcome</h1></body></html>"), true),
    );
    expect((await failedStart(httpSpec(server.url))).message).toMatch(/unexpected body from 127\.0\.0\.1:\d+, not a JSON-RPC message: Welcome/);
  });

  it("for a link-local or metadata address is refused, also in IPv6 clothes", async () => {
    for (const host of ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "100.100.100.200"]) {
      const error = await failedStart(httpSpec(`http://${host}/mcp`));
      expect(error.message).toContain("link-local or cloud metadata address");
      expect(error.retry).toBe(false);
    }
  });
});

describe("a start that goes on", () => {
  it.each([
    ["refused", (x: Exchange) => x.reply(500)],
    ["not answered", () => undefined],
  ])("although notifications/initialized is %s", async (_name, answer) => {
    const server = await serve((x) => x.message.method === "notifications/initialized" && (answer(x), true));
    const { connection, notes } = await open(httpSpec(server.url), { startTimeoutMs: 1000 });
    expect(textOf(await connection.request(...toolCall()))).toBe("{}");
    expect(notes.join("\n")).toContain("did not take notifications/initialized");
  });
});

describe("the GET stream", () => {
  it.each([400, 404, 405, 501])("that is refused with %i is asked for once and harms nothing (mcp-proxy#62)", async (status) => {
    const server = await serve((x) => x.verb === "GET" && (x.reply(status), true));
    const { connection } = await open(httpSpec(server.url));
    await new Promise((resolve) => setTimeout(resolve, status === 501 ? 100 : 1500));
    expect(counted(server, "GET")).toBe(1);
    expect(textOf(await connection.request(...toolCall()))).toBe("{}");
  });

  it("that the server closes at once, again and again, is not opened in a hot loop", async () => {
    const server = await serve((x) => x.verb === "GET" && (x.reply(200, { "content-type": "text/event-stream" }, "retry: 0\n\n"), true));
    const { connection } = await open(httpSpec(server.url));
    const started = Date.now();
    await until(() => counted(server, "GET") === 3);
    // A second, then longer.
    expect(Date.now() - started).toBeGreaterThan(1900);
    expect(textOf(await connection.request(...toolCall()))).toBe("{}");
  });

  it("brings notifications and requests; a lost one is opened again with the last event id, and what was heard is not heard twice", async () => {
    const server = await serve((x) => {
      if (x.verb !== "GET") return false;
      const send = x.stream();
      x.response.write("retry: 50\n\n");
      if (x.count === 1) {
        send({ method: "notifications/message", params: { data: 1 } }, "e1");
        setTimeout(() => x.response.destroy(), 50);
      } else {
        if (x.count === 3) send({ method: "notifications/message", params: { data: 1 } }, "e1");
        if (x.count === 3) send({ method: "notifications/message", params: { data: 2 } }, "e2");
        if (x.count === 2) x.response.end();
      }
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    const heard: unknown[] = [];
    connection.onNotification((_method, params) => heard.push(params["data"]));
    await until(() => heard.length === 2);
    expect(heard).toEqual([1, 2]);
    expect(server.seen.filter((x) => x.verb === "GET").map((x) => x.headers["last-event-id"])).toEqual([undefined, "e1", "e1"]);
  });
});

describe("a call", () => {
  it("whose stream breaks off without event ids fails at once, outcome unknown", async () => {
    const server = await serve((x) => {
      if (x.message.method !== "tools/call") return false;
      const send = x.stream();
      send({ method: "notifications/message", params: {} });
      setTimeout(() => ((x.message.params!["arguments"] as { clean?: boolean }).clean === true ? x.response.end() : x.response.destroy()), 50);
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    for (const clean of [true, false]) {
      const started = Date.now();
      await expect(connection.request(...toolCall("echo", { clean }), { timeoutMs: 15_000 })).rejects.toMatchObject({ kind: "closed", sent: true });
      expect(Date.now() - started).toBeLessThan(2000);
    }
    expect(counted(server, "tools/call")).toBe(2);
  });

  it("is resumed with Last-Event-ID, carried over a stream that brought nothing (typescript-sdk#2499)", async () => {
    let id: number | undefined;
    const server = await serve((x) => {
      if (x.message.method === "tools/call") {
        id = x.message.id;
        x.stream()("", "e1");
        x.response.write("retry: 20\n\n");
        setTimeout(() => x.response.destroy(), 30);
        return true;
      }
      if (x.verb !== "GET" || x.headers["last-event-id"] === undefined) return false;
      const send = x.stream();
      if (x.count < 4) x.response.end();
      else send({ id, result: ok("resumed") }, "e2");
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    expect(textOf(await connection.request(...toolCall(), { timeoutMs: 15_000 }))).toBe("resumed");
    expect(
      server.seen
        .filter((x) => x.verb === "GET")
        .slice(1)
        .map((x) => x.headers["last-event-id"]),
    ).toEqual(["e1", "e1", "e1"]);
    expect(counted(server, "tools/call")).toBe(1);
  });

  it("that gets HTTP 500 fails alone (harness-sdk#1169)", async () => {
    const server = await serve((x) => {
      if (x.message.method !== "tools/call") return false;
      if (x.count === 2) x.reply(500, { "content-type": "text/plain" }, "boom");
      else setTimeout(() => x.result(ok("first")), 300);
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    const first = connection.request(...toolCall());
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expect(connection.request(...toolCall())).rejects.toMatchObject({
      kind: "http",
      code: 500,
      sent: true,
      message: expect.stringMatching(/HTTP 500 from .* \(text\/plain\): boom/),
    });
    expect(textOf(await first)).toBe("first");
  });

  it("that gets a gateway's HTML page tells status, host, time and a few words (mcp-server-plugin#22)", async () => {
    const page = `<!DOCTYPE html><html><head><script>var a = "secret";</script></head><body><h1>504 Gateway Time-out</h1>${"<p>padding</p>".repeat(200)}</body></html>`;
    const server = await serve((x) => x.message.method === "tools/call" && (x.reply(504, { "content-type": "text/html; charset=utf-8" }, page), true));
    const { connection } = await open(httpSpec(server.url));
    const error = await connection.request(...toolCall()).catch((e: unknown) => e as Error & { sent: boolean });
    expect(error).toMatchObject({ kind: "http", code: 504, sent: true });
    expect((error as Error).message).toMatch(/^HTTP 504 from 127\.0\.0\.1:\d+ after \d+\.\ds \(text\/html\): 504 Gateway Time-out padding/);
    expect((error as Error).message.length).toBeLessThan(320);
    expect((error as Error).message).not.toContain("<");
    expect(counted(server, "tools/call")).toBe(1);
  });

  it.each([
    ["an event stream with a capital type", "Text/Event-Stream", (text: string) => `data: ${text}\n\n`],
    ["a stream that ends right behind the answer", "text/event-stream", (text: string) => `data: ${text}\n`],
    ["a byte order mark", "application/json", (text: string) => `\uFEFF${text}`],
    ["a batch with what is no message", "application/json", (text: string) => `[1,${text},null]`],
  ])("is read past %s", async (_name, type, wrap) => {
    const server = await serve((x) => {
      if (x.message.method !== "tools/call") return false;
      x.reply(200, { "content-type": type }, wrap(JSON.stringify({ jsonrpc: "2.0", id: x.message.id, result: ok("fine") })));
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    expect(textOf(await connection.request(...toolCall()))).toBe("fine");
  });

  it("ends at once where the event that answers it cannot be read, though the stream stays open", async () => {
    const server = await serve((x) => {
      if (x.message.method !== "tools/call") return false;
      x.stream()(`{"jsonrpc":"2.0","id":${x.message.id},"result":{"content":[],"x":NaN}}`);
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    await expect(connection.request(...toolCall(), { timeoutMs: 15_000 })).rejects.toMatchObject({ kind: "invalid", sent: true });
  });

  it.each([400, 404, 500])("that is answered by a JSON-RPC error under HTTP %i has that error", async (status) => {
    const server = await serve((x) => {
      if (x.message.method !== "tools/call") return false;
      const error = { code: -32602, message: "no such city", data: { city: "x" } };
      x.reply(status, { "content-type": "application/json" }, JSON.stringify({ jsonrpc: "2.0", id: x.message.id, error }));
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "rpc", code: -32602, message: "no such city", data: { city: "x" } });
  });

  it.each([
    ["abc", undefined],
    ["-5", undefined],
    ["1.5", 1500],
    ["Wed, 21 Oct 2015 07:28:00 GMT", 0],
  ])("takes Retry-After: %s for %s ms", async (value, retryAfterMs) => {
    const server = await serve((x) => x.message.method === "tools/call" && (x.reply(429, { "retry-after": value }), true));
    const { connection } = await open(httpSpec(server.url));
    const error = await connection.request(...toolCall()).catch((e: unknown) => e);
    expect((error as { retryAfterMs?: number }).retryAfterMs).toBe(retryAfterMs);
  });

  it("is not asked for the rest in a hot loop, however soon the server wants it", async () => {
    const server = await serve((x) => {
      if (x.message.method === "tools/call" || (x.verb === "GET" && x.headers["last-event-id"] !== undefined)) {
        x.reply(200, { "content-type": "text/event-stream" }, `retry: 0\nid: e${x.count}\ndata:\n\n`);
        return true;
      }
      return false;
    });
    const { connection } = await open(httpSpec(server.url));
    await expect(connection.request(...toolCall(), { timeoutMs: 1000 })).rejects.toMatchObject({ kind: "timeout" });
    expect(counted(server, "GET")).toBeLessThan(15);
  });

  it("carries Retry-After up; a list waits for it and is asked once more", async () => {
    const server = await serve((x) => {
      if (x.message.method === "tools/call") x.reply(429, { "retry-after": "7" });
      else if (x.message.method === "tools/list" && x.count === 1) x.reply(503, { "retry-after": "0" });
      else return false;
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "http", code: 429, retryAfterMs: 7000, sent: false });
    expect((await connection.list()).tools).toHaveLength(1);
    expect(counted(server, "tools/call")).toBe(1);
  });

  it("is cancelled by a notification, and its connection given up", async () => {
    let closed = false;
    const server = await serve((x) => x.message.method === "tools/call" && (x.stream(), x.response.on("close", () => (closed = true)), true));
    const { connection } = await open(httpSpec(server.url));
    await expect(connection.request(...toolCall(), { timeoutMs: 200 })).rejects.toMatchObject({ kind: "timeout" });
    await until(() => closed && counted(server, "notifications/cancelled") === 1);
  });

  it.each([
    ["JSON", (x: Exchange, text: string) => x.result(ok(text))],
    ["an event", (x: Exchange, text: string) => x.stream()({ id: x.message.id!, result: ok(text) })],
    [
      "JSON that inflates",
      (x: Exchange, text: string) => {
        x.response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
        x.response.end(gzipSync(JSON.stringify({ jsonrpc: "2.0", id: x.message.id, result: ok(text) })));
      },
    ],
  ])("with an answer over the limit as %s fails as too large; one under it does not", async (_name, answer) => {
    const server = await serve((x) => x.message.method === "tools/call" && (answer(x, "x".repeat(x.count === 1 ? 200_000 : 1000)), true));
    const { connection } = await open(httpSpec(server.url, { bodyBytes: 100_000 }));
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "too-large", sent: true });
    expect(textOf(await connection.request(...toolCall()))).toHaveLength(1000);
  });

  it("may be one of very many: connections are kept and bounded by what runs at once", async () => {
    const server = await serve();
    const { connection } = await open(httpSpec(server.url));
    for (let i = 0; i < 30; i += 1) await Promise.all([0, 1, 2].map(() => connection.request(...toolCall())));
    expect(server.connections()).toBeLessThan(12);
  });
});

describe("a redirect", () => {
  it("within the origin keeps method, body and headers, and is remembered and suggested (analytics-mcp-server#22)", async () => {
    const server = await serve((x) => {
      if (x.path === "/mcp") x.reply(307, { location: "/mcp/" });
      else if (x.headers.authorization !== "Bearer t0ken") x.reply(401);
      else return false;
      return true;
    });
    const { connection, notes } = await open(httpSpec(server.url, { bearer: "t0ken" }));
    expect(textOf(await connection.request(...toolCall("echo", { a: 1 })))).toBe('{"a":1}');
    expect(server.seen.filter((x) => x.path === "/mcp")).toHaveLength(1);
    expect(notes.join()).toContain(`${server.origin}/mcp/; write that address in mcp.url`);
  });

  it("to another origin is refused, and nothing reaches it (hermes-agent#62929)", async () => {
    const other = await serve();
    const server = await serve((x) => (x.reply(307, { location: `${other.url}?key=secret` }), true));
    const error = await failedStart(httpSpec(server.url, { headers: { "X-Api-Key": "k3y" } }));
    expect(error.message).toContain(`redirected to ${other.url}, which is another origin`);
    expect(error.message).not.toContain("secret");
    expect(error.retry).toBe(false);
    expect(other.seen).toEqual([]);
  });

  it.each([301, 302, 303])("with %i for a POST is an error that quotes where to", async (status) => {
    const server = await serve((x) => (x.reply(status, { location: "/elsewhere" }), true));
    expect((await failedStart(httpSpec(server.url))).message).toMatch(
      /redirected to http:\/\/127\.0\.0\.1:\d+\/elsewhere, which would turn the POST into a GET/,
    );
  });

  it("in a circle ends", async () => {
    const server = await serve((x) => (x.reply(308, { location: "/mcp" }), true));
    expect((await failedStart(httpSpec(server.url))).message).toContain("without an end");
    expect(server.seen.length).toBeLessThan(6);
  });
});

describe("headers", () => {
  it("are sent in lower case with every request", async () => {
    const server = await serve();
    const { connection } = await open(httpSpec(server.url, { headers: { "X-Team": " a " }, bearer: "t0ken" }));
    await connection.close();
    for (const exchange of server.seen) expect(exchange.headers).toMatchObject({ "x-team": "a", authorization: "Bearer t0ken" });
  });

  it.each([
    [{ "X-Team": "a\r\nAuthorization: Bearer other" }, {}, "line break"],
    [{ "X-Key": "abc\nX-Evil: 1" }, {}, "line break"],
    [{ "X-Key": "a\0b" }, {}, "control character"],
    [{ "X-Key": "日本" }, {}, "cannot carry"],
    [{ "X Key": "a" }, {}, "is not a header name"],
    [{ "X-A": "1", "x-a": "2" }, {}, "different spellings"],
    [{ Authorization: "Bearer a" }, { bearer: "b" }, "stands beside auth.bearer"],
    [{ authorization: "Bearer a" }, { oauth: {} }, "stands beside auth.oauth"],
    [{ "Mcp-Session-Id": "x" }, {}, "set by the transport"],
    [{ "Content-Length": "0" }, {}, "set by the transport"],
    [{}, { bearer: "a\nb" }, "line break"],
  ])("%j %j are refused without showing the value", async (headers, parts, text) => {
    const server = await serve();
    const error = await failedStart(httpSpec(server.url, { headers: headers as Record<string, string>, ...parts }));
    expect(error.message).toContain(text);
    expect(error.message).not.toMatch(/other|X-Evil|Bearer a/);
    expect(error.retry).toBe(false);
    expect(server.seen).toEqual([]);
  });
});

describe("TLS", () => {
  it("fails clearly for an unknown authority, works with tls.ca, and with tls.insecure under a warning (metamcp#110)", async () => {
    const { key, cert, certFile } = await makeCertificate(temporaryFolder(), "127.0.0.1");
    const server = await serve(undefined, { tls: { key, cert } });
    const error = await failedStart(httpSpec(server.url));
    expect(error.message).toMatch(/127\.0\.0\.1:\d+ cannot be reached: DEPTH_ZERO_SELF_SIGNED_CERT.*set mcp\.tls\.ca/);
    expect(error.retry).toBe(false);
    const good = await open(httpSpec(server.url, { ca: certFile }));
    expect(textOf(await good.connection.request(...toolCall()))).toBe("{}");
    const loose = await open(httpSpec(server.url, { insecure: true }));
    expect(loose.notes.join()).toContain("any certificate is accepted");
  });

  it("names a tls.ca file that cannot be read", async () => {
    expect((await failedStart(httpSpec("https://127.0.0.1:9/mcp", { ca: "/no/such/ca.pem" }))).message).toContain("mcp.tls.ca cannot be read");
  });
});

describe("a proxy", () => {
  /** A proxy that sends everything to one server, whatever its name. */
  async function proxyTo(target: HttpMcpServer): Promise<{ url: string; asked: string[] }> {
    const asked: string[] = [];
    const port = Number(new URL(target.origin).port);
    const proxy = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim());
      void fetch(target.url, {
        method: request.method!,
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        ...(request.method === "POST" ? { body: request, duplex: "half" } : {}),
      } as unknown as RequestInit).then(async (answer) => {
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
        response.end(Buffer.from(await answer.arrayBuffer()));
      });
    });
    proxy.on("connect", (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      const upstream = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on("error", () => socket.destroy());
      socket.on("error", () => upstream.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    atEnd(() => (proxy.closeAllConnections(), proxy.close()));
    return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
  }

  it("of HTTP_PROXY is used with its user, but not for NO_PROXY or loopback", async () => {
    const server = await serve();
    const proxy = await proxyTo(server);
    const hostEnv = { HTTP_PROXY: proxy.url.replace("//", "//me:p%40ss@"), NO_PROXY: "other.test,.inner.test" };
    const { connection } = await open(httpSpec("http://mcp.test/mcp"), {}, { connector: connectorFor({ hostEnv }) });
    expect(textOf(await connection.request(...toolCall()))).toBe("{}");
    expect(proxy.asked[0]).toBe(`POST http://mcp.test/mcp Basic ${Buffer.from("me:p@ss").toString("base64")}`);
    const before = proxy.asked.length;
    await open(httpSpec(server.url), {}, { connector: connectorFor({ hostEnv }) });
    await failedStart(httpSpec("http://a.inner.test:9/mcp"), { hostEnv });
    expect(proxy.asked.filter((line) => line.includes("inner") || line.includes("127.0.0.1"))).toEqual([]);
    expect(proxy.asked.length).toBeGreaterThanOrEqual(before);
  });

  it("of HTTPS_PROXY is tunnelled through, with the certificate checked for the server's name", async () => {
    const { key, cert, certFile } = await makeCertificate(temporaryFolder(), "mcp.test");
    const server = await serve(undefined, { tls: { key, cert } });
    const proxy = await proxyTo(server);
    const connector = connectorFor({ hostEnv: { https_proxy: proxy.url } });
    const { connection } = await open(httpSpec("https://mcp.test/mcp", { ca: certFile }), {}, { connector });
    expect(textOf(await connection.request(...toolCall()))).toBe("{}");
    expect(proxy.asked[0]).toBe("CONNECT mcp.test:443");
    expect((await failedStart(httpSpec("https://else.test/mcp", { ca: certFile }), { hostEnv: { https_proxy: proxy.url } })).message).toContain(
      "ERR_TLS_CERT_ALTNAME_INVALID",
    );
  });
});

describe("the old HTTP+SSE transport", () => {
  async function oldServer(endpoint = "/messages"): Promise<HttpMcpServer> {
    let send: ((data: object) => void) | undefined;
    return await serve((x) => {
      if (x.verb === "GET" && x.path === "/mcp") {
        send = x.stream() as (data: object) => void;
        x.response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
        return true;
      }
      if (x.path === "/mcp") return (x.reply(405), true);
      x.reply(202);
      const { id, method, params } = x.message;
      if (method === "initialize")
        send!({ id, result: { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "old", version: "1" } } });
      else if (id !== undefined) send!({ id, result: method === "tools/list" ? { tools: [] } : ok(JSON.stringify(params!["arguments"])) });
      return true;
    });
  }

  it("is found and used, with a warning", async () => {
    const server = await oldServer();
    const { connection, notes } = await open(httpSpec(server.url, { headers: { "X-Key": "k" } }));
    expect(connection.protocolVersion).toBe("2024-11-05");
    expect(textOf(await connection.request(...toolCall("echo", { a: 1 })))).toBe('{"a":1}');
    expect(notes.join()).toContain("old HTTP+SSE transport");
    expect(server.seen.every((x) => x.headers["x-key"] === "k")).toBe(true);
    const closed = new Promise((resolve) => connection.onClosed(resolve));
    const lost = connection.request("tools/call", { name: "x", arguments: {} });
    server.server.closeAllConnections();
    await expect(lost).rejects.toBeDefined();
    expect(await closed).toMatchObject({ planned: false });
  });

  it("never sends anything to an endpoint of another origin", async () => {
    const other = await serve();
    const server = await oldServer(`${other.origin}/messages`);
    const error = await failedStart(httpSpec(server.url));
    expect(error.message).toContain("HTTP 405");
    expect(other.seen).toEqual([]);
  });
});

describe("alive", () => {
  it("over HTTP takes any JSON-RPC answer, and renews a forgotten session", async () => {
    const server = await sessions((x) => x.reply(404));
    const { connection } = await open(httpSpec(server.url));
    expect(await connection.alive(2000)).toBe(true);
    server.forget();
    expect(await connection.alive(2000)).toBe(true);
    await server.close();
    expect(await connection.alive(500)).toBe(false);
  });
});
