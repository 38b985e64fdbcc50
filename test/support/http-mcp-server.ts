import { createServer as createHttp } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** One request to the test server, and ways to answer it. */
export interface Exchange {
  readonly verb: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON-RPC message of a POST; an empty object otherwise. */
  readonly message: { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown> };
  readonly body: string;
  /** The how-manieth request with this verb and JSON-RPC method this is, from 1. */
  readonly count: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  reply(status: number, headers?: Record<string, string>, body?: string): void;
  result(result: object): void;
  /** Starts an event stream; gives a function that sends one event. */
  stream(): (data: object | string, id?: string) => void;
}

/** A Streamable HTTP server for tests: `script` answers what it wants to (and says so with true), good manners the rest. */
export interface HttpMcpServer {
  readonly url: string;
  readonly origin: string;
  readonly seen: Exchange[];
  /** JSON-RPC methods of POSTs, and `GET`, `DELETE`, in order. */
  readonly log: string[];
  readonly server: Server;
  /** How many TCP connections were made. */
  readonly connections: () => number;
  close(): Promise<void>;
}

export async function httpMcpServer(
  script: (exchange: Exchange) => unknown = () => false,
  options: { readonly tls?: { readonly key: string; readonly cert: string }; readonly port?: number } = {},
): Promise<HttpMcpServer> {
  const seen: Exchange[] = [];
  const log: string[] = [];
  const counts = new Map<string, number>();
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const message = (body === "" ? {} : JSON.parse(body)) as Exchange["message"];
      const name = request.method === "POST" ? (message.method ?? "response") : request.method!;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      log.push(name);
      const reply: Exchange["reply"] = (status, headers = {}, text = "") => {
        response.writeHead(status, headers);
        response.end(text);
      };
      const exchange: Exchange = {
        verb: request.method!,
        path: request.url!,
        headers: request.headers,
        message,
        body,
        count,
        request,
        response,
        reply,
        result: (result) => reply(200, { "content-type": "application/json" }, JSON.stringify({ jsonrpc: "2.0", id: message.id, result })),
        stream: () => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.flushHeaders();
          return (data, id) =>
            void response.write(
              `${id === undefined ? "" : `id: ${id}\n`}data: ${typeof data === "string" ? data : JSON.stringify({ jsonrpc: "2.0", ...data })}\n\n`,
            );
        },
      };
      seen.push(exchange);
      if (script(exchange) !== true) behave(exchange);
    });
  };
  const server = options.tls === undefined ? createHttp(listener) : createHttps(options.tls, listener);
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const origin = `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/mcp`,
    origin,
    seen,
    log,
    server,
    connections: () => connections,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function behave({ verb, message, result, reply }: Exchange): void {
  if (verb === "GET") return reply(405);
  if (verb !== "POST") return reply(200);
  switch (message.method) {
    case "initialize":
      return result({ protocolVersion: message.params!["protocolVersion"] as string, capabilities: { tools: {} }, serverInfo: { name: "http", version: "1" } });
    case "ping":
      return result({});
    case "tools/list":
      return result({ tools: [{ name: "echo", inputSchema: { type: "object" } }] });
    case "tools/call":
      return result({ content: [{ type: "text", text: JSON.stringify(message.params!["arguments"] ?? {}) }] });
    default:
      return reply(202);
  }
}
