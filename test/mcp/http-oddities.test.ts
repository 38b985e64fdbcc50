import { describe, expect, it } from "vitest";
import { httpSpec } from "../support/app-plan.ts";
import { httpMcpServer } from "../support/http-mcp-server.ts";
import type { Exchange, HttpMcpServer } from "../support/http-mcp-server.ts";
import { atEnd, open, textOf, toolCall, until } from "./support.ts";

async function serve(script: (exchange: Exchange) => unknown): Promise<HttpMcpServer> {
  const server = await httpMcpServer(script);
  atEnd(() => server.close());
  return server;
}

const counted = (server: HttpMcpServer, name: string): number => server.log.filter((entry) => entry === name).length;
const DONE = { content: [{ type: "text", text: "done" }] };
const json = (x: Exchange, status: number, message: object): void =>
  x.reply(status, { "content-type": "application/json" }, JSON.stringify({ jsonrpc: "2.0", ...message }));

/** Answers tool calls alone; the rest behaves well. */
const calls =
  (answer: (exchange: Exchange) => void) =>
  (x: Exchange): boolean => {
    if (x.message.method !== "tools/call") return false;
    answer(x);
    return true;
  };

/** A server with sessions s1, s2, … that answers the second call of the first session with `refuse`. */
const forgetful =
  (refuse: (exchange: Exchange) => void) =>
  (x: Exchange): boolean => {
    if (x.message.method === "initialize") x.response.setHeader("mcp-session-id", `s${x.count}`);
    if (x.message.method !== "tools/call" || x.count < 2 || x.headers["mcp-session-id"] !== "s1") return false;
    refuse(x);
    return true;
  };

describe("event ids", () => {
  it("count within their stream: every call may begin with the same one", async () => {
    const server = await serve(
      calls((x) => {
        x.stream()({ id: x.message.id, result: DONE }, "1");
        x.response.end();
      }),
    );
    const { connection } = await open(httpSpec(server.url));
    for (let i = 0; i < 3; i += 1) expect(textOf(await connection.request(...toolCall()))).toBe("done");
  });

  it("that tell no events apart lose none, neither on a call's stream nor on the standing one", async () => {
    const news = (n: number): object => ({ method: "notifications/message", params: { level: "info", data: n } });
    const server = await serve((x) => {
      if (x.verb === "GET") {
        const send = x.stream();
        for (const n of [1, 2, 3]) send(news(10 * x.count + n), "0");
        if (x.count === 1) x.response.end();
        return true;
      }
      return calls((call) => {
        const send = call.stream();
        send("", "0");
        send(news(1), "0");
        send({ id: call.message.id, result: DONE }, "0");
        call.response.end();
      })(x);
    });
    const { connection } = await open(httpSpec(server.url));
    const heard: unknown[] = [];
    connection.onNotification((_method, params) => heard.push(params["data"]));
    expect(textOf(await connection.request(...toolCall()))).toBe("done");
    await until(() => heard.includes(23));
    expect(heard.sort()).toEqual([1, 11, 12, 13, 21, 22, 23]);
  });
});

describe("the GET stream", () => {
  it("of a server that knows no GET (501) is asked for once", async () => {
    const server = await serve((x) => x.verb === "GET" && (x.reply(501), true));
    const { connection } = await open(httpSpec(server.url));
    await until(() => counted(server, "GET") === 1);
    await connection.request("ping", {});
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(counted(server, "GET")).toBe(1);
  });

  it("is opened anew when the server still holds the broken one (409), and without an event id that is too old for it (400)", async () => {
    const lastIds: unknown[] = [];
    const server = await serve((x) => {
      if (x.verb !== "GET") return false;
      lastIds.push(x.headers["last-event-id"]);
      if (x.count === 1) {
        x.stream()({ method: "notifications/message", params: { level: "info", data: 1 } }, "e1");
        x.response.end();
      } else if (x.count === 2) x.reply(409, {}, "Conflict: Only one SSE stream is allowed per session");
      else if (x.count === 3) x.reply(400, {}, "Invalid event ID");
      else x.stream()({ method: "notifications/message", params: { level: "info", data: 2 } }, "e2");
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    const heard: unknown[] = [];
    connection.onNotification((_method, params) => heard.push(params["data"]));
    await until(() => heard.includes(2), 12_000);
    expect(lastIds).toEqual([undefined, "e1", "e1", undefined]);
  }, 20_000);

  it("is opened although the server refused notifications/initialized", async () => {
    const server = await serve((x) => {
      if (x.message.method === "notifications/initialized") return (x.reply(405), true);
      if (x.verb !== "GET") return false;
      x.stream()({ method: "notifications/message", params: { level: "info", data: "here" } });
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    await new Promise<void>((resolve) => connection.onNotification(() => resolve()));
  });
});

describe("a session that the server forgot", () => {
  const ways: [string, (x: Exchange) => void][] = [
    ["400 of a server that was started anew", (x) => json(x, 400, { id: null, error: { code: -32000, message: "Bad Request: Server not initialized" } })],
    ["401 with the session in its words", (x) => x.reply(401, {}, "Unauthorized: Session not found")],
    ["410", (x) => x.reply(410)],
    ["422 that wants initialize", (x) => x.reply(422, {}, "Unexpected message, expect initialize request")],
    ["200 with an error that names no request", (x) => json(x, 200, { id: null, error: { code: -32600, message: "Session not found" } })],
    ["200 with the SDK's own error for the request", (x) => json(x, 200, { id: x.message.id, error: { code: -32001, message: "Session not found" } })],
  ];
  it.each(ways)("is opened anew, and the call sent again, after %s", async (_name, refuse) => {
    const server = await serve(forgetful(refuse));
    const { connection } = await open(httpSpec(server.url));
    for (const n of [1, 2, 3]) expect(textOf(await connection.request(...toolCall("echo", { n })))).toBe(`{"n":${n}}`);
    expect(counted(server, "initialize")).toBe(2);
    expect(counted(server, "tools/call")).toBe(4);
  });

  it("is not read into the words of a tool", async () => {
    const server = await serve(forgetful((x) => json(x, 200, { id: x.message.id, error: { code: -32000, message: "browser session not found" } })));
    const { connection } = await open(httpSpec(server.url));
    await connection.request(...toolCall());
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "rpc", message: "browser session not found" });
    expect(counted(server, "initialize")).toBe(1);
    expect(counted(server, "tools/call")).toBe(2);
  });
});

describe("a response that does not answer", () => {
  it("but holds an error that names no request, or none of ours, fails its own request with that, whatever else is open", async () => {
    const held: Exchange[] = [];
    const server = await serve(
      calls((x) => {
        const id = [undefined, null, "server-error"][x.count - 2];
        if (x.count === 1) held.push(x);
        else if (x.count === 5) x.stream()({ id: null, error: { code: -32600, message: "bad 5" } });
        else json(x, 200, { id, error: { code: -32600, message: `bad ${x.count}`, data: { n: x.count } } });
      }),
    );
    const { connection } = await open(httpSpec(server.url));
    const first = connection.request(...toolCall());
    await until(() => held.length === 1);
    for (const n of [2, 3, 4])
      await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "rpc", code: -32600, message: `bad ${n}`, data: { n } });
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "rpc", message: "bad 5" });
    held[0]!.result(DONE);
    expect(textOf(await first)).toBe("done");
  });

  it("is told for what it is: without a body, or an event of another name", async () => {
    const server = await serve(
      calls((x) => {
        if (x.count === 1) return x.reply(202);
        x.response.writeHead(200, { "content-type": "text/event-stream" });
        x.response.end('event: error\ndata: {"error":"out of order"}\n\n');
      }),
    );
    const { connection } = await open(httpSpec(server.url));
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ message: expect.stringMatching(/^HTTP 202 from .* without a body/) });
    await expect(connection.request(...toolCall())).rejects.toMatchObject({
      message: expect.stringContaining('an event "error" instead of a message: {"error":"out of order"}'),
    });
  });
});

describe("a kept connection that the server closes just when it is used again", () => {
  it("costs neither the start nor a list, and a call is never sent twice", async () => {
    const cut = new Set(["notifications/initialized", "tools/list", "tools/call"]);
    const server = await serve((x) => {
      if (!cut.delete(x.message.method ?? "")) return false;
      x.response.socket!.destroy();
      return true;
    });
    const { connection } = await open(httpSpec(server.url));
    expect((await connection.list()).tools).toHaveLength(1);
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "network", sent: true });
    expect(counted(server, "notifications/initialized")).toBe(2);
    expect(counted(server, "tools/list")).toBe(2);
    expect(counted(server, "tools/call")).toBe(1);
    expect(textOf(await connection.request(...toolCall("echo", { a: 1 })))).toBe('{"a":1}');
  });
});

describe("cookies", () => {
  it("of a load balancer go back to it, beside a configured one, until they are over", async () => {
    const seen: (string | undefined)[] = [];
    const server = await serve((x) => {
      if (x.verb === "POST") seen.push(x.headers.cookie);
      if (x.message.method === "initialize") {
        x.response.setHeader("mcp-session-id", "s1");
        x.response.setHeader("set-cookie", ["AWSALB=a1; Path=/; Expires=Tue, 01 Jan 2999 00:00:00 GMT", "odd", "k=\u00fc", "gone=1; Max-Age=0"]);
        return false;
      }
      if (!/AWSALB=a[12]/.test(x.headers.cookie ?? "")) return (x.reply(404, {}, "Session not found"), true);
      if (x.message.method === "tools/call") x.response.setHeader("set-cookie", x.count === 1 ? ["AWSALB=a2", "route=r"] : ["route=; Max-Age=0"]);
      return false;
    });
    const { connection } = await open(httpSpec(server.url, { headers: { Cookie: "mine=1" } }));
    for (const n of [1, 2, 3]) expect(textOf(await connection.request(...toolCall("echo", { n })))).toBe(`{"n":${n}}`);
    expect(seen).toEqual(["mine=1", "mine=1; AWSALB=a1", "mine=1; AWSALB=a1", "mine=1; AWSALB=a2; route=r", "mine=1; AWSALB=a2"]);
    expect(counted(server, "initialize")).toBe(1);
  });

  it("of one app are never another's", async () => {
    const server = await serve((x) => {
      if (x.message.method === "initialize") x.response.setHeader("set-cookie", `c=${x.count}`);
      return calls((call) => call.result({ content: [{ type: "text", text: String(call.headers.cookie) }] }))(x);
    });
    const [one, other] = [await open(httpSpec(server.url)), await open(httpSpec(server.url))];
    expect(textOf(await one.connection.request(...toolCall()))).toBe("c=1");
    expect(textOf(await other.connection.request(...toolCall()))).toBe("c=2");
  });
});
