import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_DOOR, startHttpServer, type HttpServer, type HttpServerOptions } from "../../src/control/http-server.ts";
import { createMetrics } from "../../src/control/metrics.ts";
import { createRoutes, type McpEndpoint } from "../../src/control/routes.ts";
import { loadTokens, readToken, tokenFiles } from "../../src/control/tokens.ts";
import type { GatewayPlan, Kit } from "../../src/kit-api.ts";
import { memoryLog } from "./fake-kit.ts";

export interface Door extends HttpServer {
  readonly dataDir: string;
  readonly caller: string;
  readonly operator: string;
  readonly log: ReturnType<typeof memoryLog>;
  tokenOf(client: string): Promise<string>;
  stop(): Promise<void>;
}

const NO_MCP: McpEndpoint = { handle: ({ res }) => void res.writeHead(200).end() };

/** A real HTTP door on a free loopback port, with fresh tokens, in front of a kit. `clients` get a token file of their own. */
export async function openDoor(
  kit: Kit,
  options: { gateway?: Partial<GatewayPlan>; mcp?: McpEndpoint; server?: Partial<HttpServerOptions> } = {},
): Promise<Door> {
  const dataDir = await mkdtemp(join(tmpdir(), "aurora-door-"));
  const clients = (options.gateway?.clients ?? []).map((c) => ({ ...c, tokenFile: join(dataDir, `${c.name}.token`) }));
  const gateway: GatewayPlan = { ...LOCAL_DOOR, ...options.gateway, clients };
  const tokens = await loadTokens(dataDir, clients);
  const metrics = createMetrics(kit);
  const log = memoryLog();
  const server = await startHttpServer({
    gateway,
    tokens: () => tokens,
    log,
    routes: createRoutes({ kit, metrics, version: "0.0.0", mcp: options.mcp ?? NO_MCP }),
    ...options.server,
  });
  const files = tokenFiles(dataDir);
  return {
    ...server,
    dataDir,
    log,
    caller: await readToken(files.caller),
    operator: await readToken(files.operator),
    tokenOf: (client) => readToken(join(dataDir, `${client}.token`)),
    async stop() {
      metrics.close();
      await server.close(200);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
}

/** One HTTP request whose headers are sent exactly as given (`Host` too). `body` may be an object, which is sent as JSON. */
export function request(
  door: { port: number },
  method: string,
  path: string,
  options: { token?: string; headers?: http.OutgoingHttpHeaders; body?: unknown; signal?: AbortSignal } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body =
      options.body === undefined ? undefined : typeof options.body === "string" || Buffer.isBuffer(options.body) ? options.body : JSON.stringify(options.body);
    const headers: http.OutgoingHttpHeaders = {
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
      ...options.headers,
    };
    const req = http.request(
      { host: "127.0.0.1", port: door.port, method, path, headers, agent: false, ...(options.signal ? { signal: options.signal } : {}) },
      (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (chunk: Buffer) => chunks.push(chunk));
        res.on("error", reject);
        res.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          let json: unknown = null;
          try {
            json = JSON.parse(text);
          } catch {
            // Not every answer is JSON.
          }
          resolve({ status: res.statusCode!, headers: res.headers, text, json });
        });
      },
    );
    req.on("error", reject);
    req.end(body);
  });
}

/** Writes raw bytes to a socket and gives all that comes back until the server closes it or `ms` pass. */
export function rawExchange(port: number, bytes: string, ms = 2000): Promise<{ readonly text: string; readonly closed: boolean }> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write(bytes));
    let text = "";
    const timer = setTimeout(() => {
      resolve({ text, closed: false });
      socket.destroy();
    }, ms);
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => (text += chunk));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error);
    });
    socket.on("close", () => {
      clearTimeout(timer);
      resolve({ text, closed: true });
    });
  });
}
