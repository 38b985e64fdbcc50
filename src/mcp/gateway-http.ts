import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { CancelSource } from "../base/cancel-signal.ts";
import { stringifyExact } from "../base/exact-json.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Principal } from "../base/principal.ts";
import { remember } from "../base/remember.ts";
import { traceHeaders } from "../base/tracing.ts";
import { EventLog, EventStream, readEventId, startEventStream } from "./gateway-events.ts";
import { PostAnswer } from "./gateway-post.ts";
import type { Gateway } from "./gateway.ts";
import { INVALID_REQUEST, readMessage, REFUSED, rpcFault, rpcResult, RpcError, SESSION_NOT_FOUND, type RpcId } from "./gateway-rpc.ts";
import type { GatewaySession } from "./gateway-session.ts";
import { PROTOCOL_VERSIONS } from "./protocol-versions.ts";

/** One request at the MCP endpoint; Host, Origin, token and body have been checked. */
export interface McpRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly body: Json;
  readonly principal: Principal;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

/** The Streamable HTTP transport of the gateway. */
export interface GatewayHttp {
  handle(request: McpRequest): Promise<undefined> | undefined;
  /** Takes over who may come in after a reload: sessions of callers that are gone end, the others get their new tool selection. */
  follow(principals: readonly Principal[]): Promise<void>;
  /** Open sessions. */
  readonly sessions: number;
  /** Takes no new requests, ends waiting streams at once, gives running requests up to `graceMs` (5 s), and ends all sessions. */
  close(graceMs?: number): Promise<void>;
}

export interface GatewayHttpOptions {
  readonly gateway: Gateway;
  readonly maxSessions?: number;
  readonly maxSessionsPerClient?: number;
  /** A session without requests and without an open stream ends after this long. */
  readonly idleMs?: number;
  /** Milliseconds that never step back. */
  readonly now?: () => number;
}

interface HttpSession {
  readonly session: GatewaySession;
  readonly log: EventLog;
  /** Streams by number; 0 is that of the session itself. Ended ones stay a while for resumption. */
  readonly streams: Map<number, EventStream>;
  readonly main: EventStream;
  nextStream: number;
  lastUsed: number;
}

const KEEP_ALIVE_MS = 15_000;
/** Streams of a session that are remembered; the oldest ended ones go first. */
const MAX_STREAMS = 300;

/** Serves a gateway over Streamable HTTP (revision 2025-11-25 and before): sessions bound to their principal, resumable streams, JSON answers where nothing streams. */
export function createGatewayHttp(options: GatewayHttpOptions): GatewayHttp {
  const { gateway } = options;
  const { maxSessions = 1000, maxSessionsPerClient = 200, idleMs = 30 * 60_000, now = () => performance.now() } = options;
  const sessions = new Map<string, HttpSession>();
  /** Requests that run, and who waits until none does. */
  let posts = 0;
  let onIdle = (): void => {};
  let closed = false;

  const isIdle = (entry: HttpSession): boolean => entry.session.inFlight.size === 0 && !entry.main.attached;
  const end = async (entry: HttpSession): Promise<void> => {
    sessions.delete(entry.session.id);
    for (const stream of entry.streams.values()) stream.end();
    await gateway.end(entry.session);
  };
  const sweep = setInterval(() => {
    for (const entry of sessions.values()) {
      for (const stream of entry.streams.values()) stream.keepAlive();
      if (isIdle(entry) && now() - entry.lastUsed > idleMs) void end(entry);
    }
  }, KEEP_ALIVE_MS).unref();

  /** Makes room for one more session: idle ones go, longest unused first. False when all are busy. */
  const makeRoom = (client: string): boolean => {
    const mine = [...sessions.values()].filter((entry) => entry.session.principal.client === client);
    const candidates = mine.length >= maxSessionsPerClient ? mine : sessions.size >= maxSessions ? [...sessions.values()] : null;
    if (candidates === null) return true;
    const oldest = candidates.filter(isIdle).sort((a, b) => a.lastUsed - b.lastUsed)[0];
    if (!oldest) return false;
    void end(oldest);
    return true;
  };

  const initialize = (request: McpRequest, id: RpcId, params: JsonObject): void => {
    const { res, principal } = request;
    if (!makeRoom(principal.client)) return void refuse(res, 503, id, "too many sessions are open", { headers: { "Retry-After": "30" } });
    const log = new EventLog();
    const main = new EventStream(0, log);
    try {
      const { session, result } = gateway.open(params, principal, { send: (message) => (main.send(message), true) });
      sessions.set(session.id, { session, log, main, streams: new Map([[0, main]]), nextStream: 1, lastUsed: now() });
      answer(res, 200, rpcResult(id, result), { "Mcp-Session-Id": session.id });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      refuse(res, 400, id, error.message, { code: error.code });
    }
  };

  /** The session of a request. Answers 400 or 404 itself and gives null when there is none for this principal. */
  const sessionOf = ({ req, res, principal }: McpRequest, id: RpcId | null): HttpSession | null => {
    const header = req.headers["mcp-session-id"];
    if (typeof header !== "string") return refuse(res, 400, id, "the Mcp-Session-Id header is missing; begin with initialize");
    const entry = sessions.get(header);
    const owner = entry?.session.principal;
    // Another principal's session looks like none at all.
    if (!entry || owner?.client !== principal.client || owner.role !== principal.role)
      return refuse(res, 404, id, "there is no such session; begin with initialize", { code: SESSION_NOT_FOUND });
    entry.session.principal = principal;
    entry.lastUsed = now();
    const version = req.headers["mcp-protocol-version"];
    if (version !== undefined && !PROTOCOL_VERSIONS.includes(String(version)))
      return refuse(res, 400, id, `MCP-Protocol-Version ${String(version).slice(0, 40)} is not served; these are: ${PROTOCOL_VERSIONS.join(", ")}`);
    return entry;
  };

  const post = async (request: McpRequest): Promise<undefined> => {
    posts += 1;
    try {
      const { req, res, body } = request;
      const accepts = accepted(req.headers.accept);
      if (!accepts.json && !accepts.stream) return void refuse(res, 406, null, "Accept must have application/json and text/event-stream");
      const message = readMessage(body);
      if (message.kind === "invalid") return void refuse(res, 400, message.id, message.message, { code: INVALID_REQUEST });
      if (message.kind === "request" && message.method === "initialize") return void initialize(request, message.id, message.params);
      const entry = sessionOf(request, message.kind === "request" ? message.id : null);
      if (!entry) return;
      const { session } = entry;
      if (message.kind !== "request") {
        await session.take(message, session.outlet);
        res.writeHead(202).end();
        return;
      }
      const abort = new CancelSource();
      const out = new PostAnswer({
        res,
        log: entry.log,
        streamId: entry.nextStream++,
        accepts,
        primes: session.protocolVersion >= "2025-11-25",
        headers: { "Mcp-Session-Id": session.id },
        onStream: (stream) => keepStream(entry, stream),
        abort,
      });
      out.finish(await session.take(message, out, abort, { transport: "tcp", trace: traceHeaders(req.headers) }));
      entry.lastUsed = now();
    } finally {
      posts -= 1;
      if (posts === 0) onIdle();
    }
  };

  const get = (request: McpRequest): void => {
    const { req, res, closing } = request;
    if (!accepted(req.headers.accept).stream) return void refuse(res, 406, null, "Accept must have text/event-stream");
    const entry = sessionOf(request, null);
    if (!entry) return;
    const resumed = req.headers["last-event-id"];
    const point = typeof resumed === "string" && resumed !== "" ? readEventId(resumed) : undefined;
    const stream = point === undefined ? entry.main : point === null ? undefined : entry.streams.get(point.stream);
    if (!stream) return void refuse(res, 400, null, "this Last-Event-ID is not of this session, or no longer kept");
    startEventStream(res, { "Mcp-Session-Id": entry.session.id });
    const onClosing = (): void => void res.end();
    closing.addEventListener("abort", onClosing);
    res.on("close", () => {
      closing.removeEventListener("abort", onClosing);
      entry.lastUsed = now();
    });
    stream.attach(res, point?.seq);
  };

  const remove = async (request: McpRequest): Promise<undefined> => {
    const entry = sessionOf(request, null);
    if (!entry) return;
    await end(entry);
    request.res.writeHead(204).end();
  };

  return {
    get sessions() {
      return sessions.size;
    },
    handle(request) {
      const { req, res } = request;
      if (closed) refuse(res, 503, null, "the host is stopping", { headers: { Connection: "close" } });
      else if (req.method === "POST") return post(request);
      else if (req.method === "GET") get(request);
      else return remove(request);
      return undefined;
    },
    async follow(principals) {
      const gone: HttpSession[] = [];
      for (const entry of sessions.values()) {
        const { client, role } = entry.session.principal;
        const now = principals.find((p) => p.client === client && p.role === role);
        if (now) entry.session.principal = now;
        else gone.push(entry);
      }
      await Promise.all(gone.map(end));
      gateway.follow(principals);
    },
    async close(graceMs = 5000) {
      closed = true;
      clearInterval(sweep);
      for (const { main } of sessions.values()) main.end();
      if (posts > 0) await Promise.race([new Promise<void>((resolve) => (onIdle = resolve)), sleep(graceMs, undefined, { ref: false })]);
      await Promise.all([...sessions.values()].map(end));
    },
  };
}

function keepStream(entry: HttpSession, stream: EventStream): void {
  entry.streams.set(stream.id, stream);
  for (const [id, old] of entry.streams) {
    if (entry.streams.size <= MAX_STREAMS) return;
    if (old.ended) entry.streams.delete(id);
  }
}

/** Which answers a client takes; no Accept header means all. */
function accepted(header: string | undefined): Accepts {
  return header === undefined ? { stream: true, json: true } : readAccept(header);
}

interface Accepts {
  readonly stream: boolean;
  readonly json: boolean;
}

/** Every request of a client has the same header. */
const readAccept = remember((header): Accepts => {
  const types = header.split(",").map((part) => part.split(";")[0]!.trim().toLowerCase());
  const takes = (type: string, group: string): boolean => types.includes(type) || types.includes(group) || types.includes("*/*");
  return { stream: takes("text/event-stream", "text/*"), json: takes("application/json", "application/*") };
});

/** Names of the door's own errors (control/http-errors.ts) for what is refused here. */
const ERROR_NAMES = { 400: "BAD_REQUEST", 404: "NOT_FOUND", 406: "NOT_ACCEPTABLE", 503: "OVERLOADED" } as const;

function refuse(
  res: ServerResponse,
  status: keyof typeof ERROR_NAMES,
  id: RpcId | null,
  message: string,
  { code = REFUSED, headers = {} }: { readonly code?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): null {
  const data = { ok: false, error_code: ERROR_NAMES[status], message, retryable: status === 503, source: "kit" } as const;
  answer(res, status, rpcFault(id, code, message, data), headers);
  return null;
}

function answer(res: ServerResponse, status: number, message: JsonObject, headers: Readonly<Record<string, string>> = {}): void {
  const text = stringifyExact(message);
  res.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text), "Cache-Control": "no-store", ...headers });
  res.end(text);
}
