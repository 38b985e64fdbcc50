import type { CancelSignal } from "../base/cancel-signal.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { AmpEnvelope, Priority } from "../amp/types.ts";
import type { AppPlan } from "../plan/types.ts";
import type { AppListing } from "../tools/types.ts";

/** Why a request on a connection did not give a result. */
export type LinkErrorKind =
  | "timeout" // no answer in time
  | "cancelled" // the caller's signal
  | "closed" // process gone, connection lost
  | "session-expired"
  | "unauthorized"
  | "forbidden"
  | "http" // any other HTTP status
  | "network"
  | "rpc" // the server answered with a JSON-RPC error
  | "invalid" // the server answered, but not with what the protocol allows
  | "too-large"
  | "version" // no common protocol version
  | "overloaded"; // the server does not read its input

/** Thrown by a {@link Connection}. `sent`: the request may have reached the server, so its outcome is unknown unless it answered. */
export class LinkError extends Error {
  readonly kind: LinkErrorKind;
  readonly sent: boolean;
  /** JSON-RPC error code or HTTP status, where there is one. */
  readonly code: number | undefined;
  readonly data: Json | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(kind: LinkErrorKind, message: string, options: { sent?: boolean; code?: number; data?: Json; retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "LinkError";
    this.kind = kind;
    this.sent = options.sent ?? false;
    this.code = options.code;
    this.data = options.data;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Progress of one request. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Bounds of one request. Times are milliseconds. */
export interface RequestOptions {
  /** Longest silence; progress starts it anew. */
  readonly timeoutMs?: number;
  /** Hard limit, whatever progress arrives. */
  readonly maxTotalMs?: number;
  readonly signal?: CancelSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** `_meta` members to send with the request. */
  readonly meta?: JsonObject;
}

/** What an app says of a task of its own that is not over (MCP 2025-11-25). */
export interface TaskNews {
  readonly status: "working" | "input_required";
  readonly message: string | null;
  /** How long to wait before the next look, in milliseconds. */
  readonly pollMs: number;
  /** How long the app keeps the task from its creation, in milliseconds; null: no limit known. */
  readonly ttlMs: number | null;
  /** What a model may hear at once, while the task works. Only with the first news. */
  readonly immediate?: string;
}

/** A caller's wish that a call runs as a task of the app, where app and tool can. */
export interface TaskWish {
  /** How long the task is to be kept from its creation, in milliseconds. */
  readonly ttlMs: number;
  /** Told when the app has accepted the task, and then of every change until it ends; the end itself is the call's result. */
  readonly onNews: (news: TaskNews) => void;
}

/** How a connection ended. `planned`: this side closed it. */
export interface CloseReason {
  readonly planned: boolean;
  /** In words, masked: `exited with code 1 after 3s`. */
  readonly message: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Last lines of stderr, control characters taken out. */
  readonly stderrTail: readonly string[];
}

/** An unplanned end without exit code, signal or last words of the server. */
export function diedAs(message: string): CloseReason {
  return { planned: false, message, exitCode: null, signal: null, stderrTail: [] };
}

/** A server-to-client request (roots/list, sampling/createMessage, elicitation/create) on its way to whoever may answer. */
export interface ServerRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal: AbortSignal;
  /** Told which approval the answer waits for, so that a call which ends meanwhile can say so. */
  readonly onApproval?: (id: string) => void;
}

/**
 * One connection to one server, ready for use (initialized). Methods throw {@link LinkError}.
 * Nothing of any MCP SDK shows through here.
 */
export interface Connection {
  readonly app: string;
  /** `shared`, or the id of the one calling session it serves. */
  readonly scope: string;
  readonly pid: number | null;
  readonly transport: "stdio" | "http";
  readonly protocolVersion: string;
  readonly serverInfo: AppListing["serverInfo"];
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
  readonly closed: boolean;
  /** How many messages of the server have arrived, of any kind: each is a sign of life. */
  readonly heard: number;
  /** Any MCP request; gives the raw result object. */
  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  notify(method: string, params: JsonObject): Promise<void>;
  /** What a task of the server waits for from this side, in words for an error, with the approval that a person is to decide. */
  owedFor(task: string): { readonly words: string; readonly approvalId: string | null } | null;
  /** Everything the server shows, read tolerantly, page by page: one bad item costs that item. */
  list(options?: RequestOptions): Promise<AppListing>;
  /** Proves life by any answer, error included; false when there was none in time. */
  alive(timeoutMs: number): Promise<boolean>;
  /** Every notification of the server, but progress of own requests. One handler at a time. */
  onNotification(handler: (method: string, params: JsonObject) => void): void;
  /** Hears every notification too, progress of tasks included, before the one handler; gives what ends that. */
  watch(handler: (method: string, params: JsonObject) => void): () => void;
  /** Called once. */
  onClosed(handler: (reason: CloseReason) => void): void;
  /** Closes for good: stdin closed, then TERM, then KILL of the process group; or the HTTP session deleted. Resolves when nothing is left. `force` skips the waits. */
  close(options?: { readonly force?: boolean }): Promise<void>;
}

/** Why a start failed. `retry` false: a fault of the configuration (program not found, 404, 401) that trying again cannot mend. */
export class StartError extends Error {
  readonly retry: boolean;
  readonly stderrTail: readonly string[];
  constructor(message: string, options: { retry: boolean; stderrTail?: readonly string[]; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "StartError";
    this.retry = options.retry;
    this.stderrTail = options.stderrTail ?? [];
  }
}

/** Whether a start that failed may go better another time. */
export function canRetry(error: unknown): boolean {
  return !(error instanceof StartError) || error.retry;
}

/** What a connection tells while it lives, beside MCP notifications. */
export interface ConnectionHooks {
  /** MCP capabilities of the one calling client that this connection serves; granted ones among them are declared upstream. */
  readonly clientCapabilities?: JsonObject;
  /** Answers a server-to-client request; throws to refuse. Only methods that the app's grants allow arrive. */
  readonly onServerRequest?: (request: ServerRequest) => Promise<JsonObject>;
  /** One line of the server's stderr, or a note on what it did wrong on the wire (source `kit`). Already free of control characters. */
  readonly onLog?: (line: string, source: "stderr" | "kit") => void;
  /** A breach of the protocol, for mcp.error events. Rate-limited by the caller. */
  readonly onProtocolError?: (message: string) => void;
}

/** Makes connections. */
export interface Connector {
  /** Starts or reaches the server and initialises it within `plan.startTimeoutMs`. Throws {@link StartError}; an aborted start leaves no process. */
  connect(plan: AppPlan, scope: string, hooks: ConnectionHooks, signal: AbortSignal): Promise<Connection>;
  /** Ends every process that an earlier, dead host with the same data folder left behind. Gives how many. */
  reapOrphans(): Promise<number>;
  /** Ends all groups at once, without waiting; for the last moment of the process. */
  killAll(): void;
}

/** What became of an envelope handed to the inbox. */
export type PutResult = "written" | "duplicate" | "dropped";

/** Where AMP envelopes go (contracts 7). Once `put` resolves `written`, the event survives a crash. */
export interface Inbox {
  put(envelope: AmpEnvelope, priority: Priority): Promise<PutResult>;
  stats(): {
    readonly dir: string | null;
    readonly written: number;
    readonly duplicates: number;
    readonly dropped: number;
    readonly queued: number;
    readonly pending: number;
    readonly degraded: string | null;
  };
  /** Live settings. */
  configure(settings: { readonly maxPending: number }): void;
  /** Writes what is queued (bounded in time) and stops. */
  close(): Promise<void>;
}

/** An append-only file of JSON records, one a line. */
export interface Journal<T> {
  /** All whole records, oldest first; a torn last line is left out. */
  read(): Promise<T[]>;
  /** Resolves when the record is in the file; with `durable`, when it is on the disk. Records keep their order. */
  append(record: T, durable: boolean): Promise<void>;
  /** Replaces the whole content in one step (for compaction). */
  rewrite(records: readonly T[]): Promise<void>;
  close(): Promise<void>;
}

/** A small JSON document that is replaced as a whole. */
export interface DocumentStore<T> {
  read(): Promise<T | null>;
  write(value: T): Promise<void>;
}

/** A log with levels; fields are masked before they are written. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}
