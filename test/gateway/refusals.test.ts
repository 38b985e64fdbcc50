import { randomUUID } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFakeKit } from "../support/fake-kit.ts";
import { request, type Answer } from "../support/door.ts";
import { openGatewayDoor, type GatewayDoor } from "../support/gateway-door.ts";

const kit = createFakeKit([{ package: "org.demo", tools: [{ name: "echo" }] }]);
let door: GatewayDoor;
beforeAll(async () => {
  door = await openGatewayDoor(kit);
});
afterAll(() => door.stop());

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const ACCEPT = { accept: "application/json, text/event-stream" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};

/** A request that no server can take: what it sends, and what becomes of it. */
interface Refused {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly status: number;
  readonly code: number;
  readonly name: string;
  /** Of the request, where it could be read. */
  readonly id?: number;
}

const LIKE_THE_SDK: Record<string, Refused> = {
  "a body that is no JSON": { body: "{bad", status: 400, code: -32700, name: "BAD_REQUEST" },
  "an empty body": { body: "", status: 400, code: -32700, name: "BAD_REQUEST" },
  "another content type": { body: PING, headers: { "content-type": "text/plain" }, status: 415, code: -32000, name: "UNSUPPORTED_MEDIA_TYPE" },
  "an Accept that no answer fits": { body: PING, headers: { accept: "text/html" }, status: 406, code: -32000, name: "NOT_ACCEPTABLE" },
  "a stream for who takes none": { method: "GET", headers: { accept: "text/html" }, status: 406, code: -32000, name: "NOT_ACCEPTABLE" },
  "a body that is too large": { body: `"${"x".repeat(5_000_000)}"`, status: 413, code: -32000, name: "BODY_TOO_LARGE" },
  "a session that is not there": { body: PING, headers: { "mcp-session-id": "gone" }, status: 404, code: -32001, name: "NOT_FOUND", id: 1 },
  "a method of HTTP that is not served": { method: "PUT", status: 405, code: -32000, name: "METHOD_NOT_ALLOWED" },
};

const OURS: Record<string, Refused> = {
  "no JSON-RPC message": { body: {}, status: 400, code: -32600, name: "BAD_REQUEST" },
  "a bare value": { body: "5", status: 400, code: -32600, name: "BAD_REQUEST" },
  "a batch": { body: [PING, PING], status: 400, code: -32600, name: "BAD_REQUEST" },
  "an empty batch": { body: [], status: 400, code: -32600, name: "BAD_REQUEST" },
  "no session": { method: "GET", status: 400, code: -32000, name: "BAD_REQUEST" },
  "an unusable initialize": { body: { ...PING, method: "initialize" }, status: 400, code: -32602, name: "BAD_REQUEST", id: 1 },
  "a foreign Host": { body: PING, headers: { host: "evil.example" }, status: 403, code: -32000, name: "FORBIDDEN" },
  "a foreign Origin": { body: PING, headers: { origin: "https://evil.example" }, status: 403, code: -32000, name: "FORBIDDEN" },
  "a token that nobody has": { body: PING, headers: { authorization: "Bearer nobody" }, status: 401, code: -32000, name: "UNAUTHORIZED" },
};

const send = (port: number, { method = "POST", body, headers }: Refused, token: string): Promise<Answer> =>
  request({ port }, method, "/mcp", { token, ...(body === undefined ? {} : { body }), headers: { ...ACCEPT, ...headers } });

describe("what the MCP endpoint refuses is a JSON-RPC error whose data is the one error shape", () => {
  it.each(Object.entries({ ...LIKE_THE_SDK, ...OURS }))("%s", async (_what, refused) => {
    const answer = await send(door.port, refused, door.caller);
    expect([answer.status, answer.headers["content-type"]]).toEqual([refused.status, "application/json"]);
    const { jsonrpc, id, error } = answer.json as { jsonrpc: string; id: unknown; error: { code: number; message: string; data: object } };
    expect([jsonrpc, id]).toEqual(["2.0", refused.id ?? null]);
    expect(error).toEqual({
      code: refused.code,
      message: expect.stringMatching(/\w+ \w+/),
      data: { ok: false, error_code: refused.name, message: error.message, retryable: false, source: "kit" },
    });
  });

  it("says who to ask for a token, and how, in the head too; other routes keep the plain shape", async () => {
    const answer = await request(door, "POST", "/mcp", { body: PING, headers: ACCEPT });
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="aurora-mcp"');
    expect((await request(door, "GET", "/api/tools")).json).toMatchObject({ ok: false, error_code: "UNAUTHORIZED" });
    expect((await request(door, "GET", "/mcp/x", { token: door.caller })).json).toMatchObject({ ok: false, error_code: "NOT_FOUND" });
  });

  it("reaches the person at an SDK client in words", async () => {
    const connect = (token: string, path = "/mcp"): Promise<void> =>
      new Client({ name: "c", version: "1" }).connect(
        new StreamableHTTPClientTransport(new URL(`${door.url}${path}`), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
      );
    await expect(connect("nobody")).rejects.toThrow(/a token is needed.*caller\.token/);
    await expect(connect(door.caller, "/mcp?x")).resolves.toBeUndefined();
  });
});

describe("the SDK's own server", () => {
  let server: http.Server;
  let port = 0;
  beforeAll(async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
    await new McpServer({ name: "s", version: "1" }).connect(transport as never);
    server = http.createServer((req, res) => void transport.handleRequest(req, res));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
    await send(port, { body: INITIALIZE } as Refused, "");
  });
  afterAll(() => void server.close());

  it.each(Object.entries(LIKE_THE_SDK))("refuses %s with the same status and code", async (_what, refused) => {
    const answer = await send(port, refused, "");
    expect([answer.status, (answer.json as { error: { code: number } }).error.code]).toEqual([refused.status, refused.code]);
  });
});
