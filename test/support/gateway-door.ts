import http from "node:http";
import { LOCAL_DOOR } from "../../src/control/http-server.ts";
import type { GatewayPlan, Kit } from "../../src/kit-api.ts";
import { createGatewayHttp, type GatewayHttpOptions } from "../../src/mcp/gateway-http.ts";
import { createGateway, type Gateway } from "../../src/mcp/gateway.ts";
import { memoryLog } from "./fake-kit.ts";
import { SseReader } from "../../src/mcp/sse-reader.ts";
import { openDoor, request, type Answer, type Door } from "./door.ts";

export interface GatewayDoor extends Door {
  readonly gateway: Gateway;
  readonly gatewayLog: ReturnType<typeof memoryLog>;
  readonly mcp: ReturnType<typeof createGatewayHttp>;
  /** Live settings; tests may change them. */
  settings: Pick<GatewayPlan, "naming" | "denied" | "invalidArguments">;
}

/** The HTTP door with the real gateway behind /mcp. */
export async function openGatewayDoor(kit: Kit, options: { gateway?: Partial<GatewayPlan>; http?: Partial<GatewayHttpOptions> } = {}): Promise<GatewayDoor> {
  const live = { settings: { ...LOCAL_DOOR, ...options.gateway } };
  const gatewayLog = memoryLog();
  const gateway = createGateway({ kit, settings: () => live.settings, info: { name: "aurora-mcp-kit", version: "0.0.0" }, log: gatewayLog, debounceMs: 20 });
  const mcp = createGatewayHttp({ gateway, ...options.http });
  const door = await openDoor(kit, { mcp, ...(options.gateway ? { gateway: options.gateway } : {}) });
  return {
    ...door,
    gateway,
    gatewayLog,
    mcp,
    get settings() {
      return live.settings;
    },
    set settings(next) {
      live.settings = { ...live.settings, ...next };
    },
    async stop() {
      await mcp.close();
      await gateway.close();
      await door.stop();
    },
  };
}

/** An MCP session over plain HTTP requests, for tests that look at the wire. */
export class RawSession {
  readonly door: Door;
  readonly token: string;
  id = "";
  version = "2025-11-25";
  #next = 0;

  constructor(door: Door, token = door.caller) {
    this.door = door;
    this.token = token;
  }

  static async open(door: Door, options: { token?: string; capabilities?: object; version?: string } = {}): Promise<RawSession> {
    const session = new RawSession(door, options.token);
    const answer = await session.post({
      jsonrpc: "2.0",
      id: "init",
      method: "initialize",
      params: { protocolVersion: options.version ?? "2025-11-25", capabilities: options.capabilities ?? {}, clientInfo: { name: "raw", version: "1" } },
    });
    session.id = String(answer.headers["mcp-session-id"]);
    session.version = (answer.json as { result: { protocolVersion: string } }).result.protocolVersion;
    await session.post({ jsonrpc: "2.0", method: "notifications/initialized" });
    return session;
  }

  headers(extra: http.OutgoingHttpHeaders = {}): http.OutgoingHttpHeaders {
    return { accept: "application/json, text/event-stream", ...(this.id ? { "mcp-session-id": this.id, "mcp-protocol-version": this.version } : {}), ...extra };
  }

  post(message: unknown, extra: http.OutgoingHttpHeaders = {}, signal?: AbortSignal): Promise<Answer> {
    return request(this.door, "POST", "/mcp", { token: this.token, body: message, headers: this.headers(extra), ...(signal ? { signal } : {}) });
  }

  /** A request whose answer is JSON; gives the whole response. */
  async rpc(
    method: string,
    params: object = {},
  ): Promise<{ result?: Record<string, unknown>; error?: { code: number; message: string; data?: Record<string, unknown> } }> {
    return (await this.post({ jsonrpc: "2.0", id: (this.#next += 1), method, params })).json as never;
  }

  /** A request read as an event stream, message by message; `last` is the last event id. Destroying `socket` drops the connection. */
  stream(method: "POST" | "GET", message: unknown, extra: http.OutgoingHttpHeaders = {}): EventReader {
    return new EventReader(this, method, message, extra);
  }
}

/** An open event stream, as the client end sees it. */
export class EventReader {
  readonly events: { id: string | null; message: Record<string, unknown> | null }[] = [];
  readonly head: Promise<http.IncomingMessage>;
  readonly ended: Promise<void>;
  readonly #req: http.ClientRequest;
  #wake: (() => void)[] = [];

  constructor(session: RawSession, method: string, message: unknown, extra: http.OutgoingHttpHeaders) {
    const body = message === null ? undefined : JSON.stringify(message);
    const headers = {
      authorization: `Bearer ${session.token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...session.headers(method === "GET" ? { accept: "text/event-stream", ...extra } : extra),
    };
    this.#req = http.request({ host: "127.0.0.1", port: session.door.port, method, path: "/mcp", agent: false, headers });
    this.head = new Promise((resolve, reject) => {
      this.#req.on("response", resolve);
      this.#req.on("error", reject);
    });
    this.head.catch(() => undefined);
    this.ended = this.head.then(async (res) => {
      const reader = new SseReader(1e8, {
        event: ({ id, data }) => {
          this.events.push({ id, message: data === "" ? null : (JSON.parse(data) as Record<string, unknown>) });
          for (const wake of this.#wake.splice(0)) wake();
        },
        retry: () => undefined,
        oversize: () => undefined,
      });
      try {
        for await (const chunk of res) reader.push(chunk as Buffer);
      } catch {
        // Dropped on purpose.
      }
      for (const wake of this.#wake.splice(0)) wake();
    });
    this.ended.catch(() => undefined);
    this.#req.end(body);
  }

  /** Waits for a message that fits. */
  async until(fits: (message: Record<string, unknown>) => boolean, ms = 3000): Promise<Record<string, unknown>> {
    const deadline = Date.now() + ms;
    for (;;) {
      const found = this.events.find((e) => e.message !== null && fits(e.message));
      if (found) return found.message!;
      if (Date.now() > deadline) throw new Error(`no such message among ${JSON.stringify(this.events)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 50);
        this.#wake.push(() => (clearTimeout(timer), resolve()));
      });
    }
  }

  get lastId(): string {
    return this.events.at(-1)?.id ?? "";
  }

  drop(): void {
    this.#req.destroy();
  }
}
