import { WebSocket, type RawData } from "ws";
import { isJsonObject, type JsonObject } from "../common/json.ts";

/** State of the connection that brings events. */
export interface StreamState {
  readonly connected: boolean;
  /** Connections made so far. */
  readonly connections: number;
  /** Why there is no connection. */
  readonly reason: string | undefined;
}

/** OneBot's event connection, made again whenever it breaks. */
export interface EventStream {
  start(): void;
  stop(): void;
  state(): StreamState;
}

/** What the stream needs. Times are in milliseconds. */
export interface EventStreamOptions {
  readonly url: string;
  readonly token: string | undefined;
  /** First wait before a new attempt; doubles up to `maxRetry`, and starts afresh when a connection brought something. */
  readonly firstRetry: number;
  readonly maxRetry: number;
  /** A number from 0 to 1 for the jitter of the waits. */
  readonly random: () => number;
  readonly onEvent: (event: JsonObject) => void;
  /** One line for the log when the connection comes or goes; said once, not for every attempt. */
  readonly onState: (message: string) => void;
}

const HANDSHAKE = 10_000;
const MAX_MESSAGE = 8 * 1024 * 1024;
/** A connection that answers no ping for this long is dead, though TCP may not know yet. */
const PING = 30_000;

/** OneBot v11 over a forward WebSocket, with the token as a bearer. */
export function createEventStream(options: EventStreamOptions): EventStream {
  let socket: WebSocket | undefined;
  let retry: NodeJS.Timeout | undefined;
  let running = false;
  let connected = false;
  let connections = 0;
  let failures = 0;
  let reason: string | undefined = "not started";

  const connect = (): void => {
    const current = new WebSocket(options.url, {
      headers: options.token ? { authorization: `Bearer ${options.token}` } : {},
      handshakeTimeout: HANDSHAKE,
      maxPayload: MAX_MESSAGE,
      perMessageDeflate: false,
    });
    socket = current;
    let alive = true;
    const heartbeat = setInterval(() => {
      if (!alive) current.terminate();
      else if (current.readyState === WebSocket.OPEN) current.ping();
      alive = false;
    }, PING);
    current.on("open", () => {
      connected = true;
      connections += 1;
      reason = undefined;
      alive = true;
      options.onState("connected to OneBot's events");
    });
    current.on("pong", () => {
      alive = true;
    });
    current.on("message", (raw) => {
      alive = true;
      failures = 0;
      const event = parse(raw);
      // Answers to calls share the connection on some servers; only events carry a post_type.
      if (running && event && typeof event["post_type"] === "string") options.onEvent(event);
    });
    // Every error is followed by a close, which does the rest.
    current.on("error", (error) => {
      reason = reasonOf(error);
    });
    current.on("close", (code) => {
      clearInterval(heartbeat);
      const first = connected || failures === 0;
      connected = false;
      reason ??= `the connection was closed (code ${code})`;
      if (!running) return;
      if (first) options.onState(`no connection to OneBot's events: ${reason}; trying again`);
      const wait = Math.min(options.maxRetry, options.firstRetry * 2 ** Math.min(failures, 20));
      failures += 1;
      retry = setTimeout(connect, wait * (0.75 + options.random() / 4));
    });
  };

  return {
    start: () => {
      if (running) return;
      running = true;
      reason = "connecting";
      connect();
    },
    stop: () => {
      running = false;
      clearTimeout(retry);
      socket?.terminate();
    },
    state: () => ({ connected, connections, reason }),
  };
}

function parse(raw: RawData): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(String(raw));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The system's code or the handshake's status; other texts may hold the URL and its token. */
function reasonOf(error: Error & { readonly code?: unknown }): string {
  const refused = /^Unexpected server response: ([0-9]{3})$/.exec(error.message);
  if (refused)
    return refused[1] === "401" || refused[1] === "403" ? "OneBot refused the access token; check ONEBOT_TOKEN" : `OneBot answered with status ${refused[1]}`;
  return typeof error.code === "string" ? error.code : "the connection failed";
}
