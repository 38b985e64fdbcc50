import type { CancelSignal } from "../base/cancel-signal.ts";
import type { JsonObject } from "../base/json.ts";
import { own } from "../base/json.ts";
import { LinkError } from "../runtime/ports.ts";
import type { CloseReason, Connection, RequestOptions } from "../runtime/ports.ts";
import type { AppListing } from "../tools/types.ts";
import type { ServerHello, Session } from "./handshake.ts";
import type { ListLimits } from "./list-pages.ts";
import { readListing } from "./listing.ts";
import type { RpcLane } from "./rpc-lane.ts";
import type { Wire } from "./wire.ts";

/** What a {@link McpConnection} is made of. */
export interface ConnectionParts {
  readonly app: string;
  readonly scope: string;
  readonly transport: "stdio" | "http";
  readonly pid: () => number | null;
  readonly wire: Wire;
  readonly lane: RpcLane;
  readonly session: Session;
  readonly limits: () => ListLimits;
  /** Opens a new session after the server forgot the old one; null where there are no sessions. */
  readonly renew: (() => Promise<Session>) | null;
  readonly onNote: (note: string) => void;
}

/** Requests that change nothing: they may be sent again after a refusal for lack of capacity, or when their connection broke off. */
const SAFE = new Set([
  "ping",
  "tools/list",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
  "tasks/get",
  "tasks/result",
]);
const BUSY = new Set([429, 502, 503, 504]);
const BUSY_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const UNHEARD_KEPT = 1000;

/** One initialised connection, whatever carries it. */
export class McpConnection implements Connection {
  readonly app: string;
  readonly scope: string;
  readonly transport: "stdio" | "http";
  readonly #parts: ConnectionParts;
  readonly #lane: RpcLane;
  #session: Session;
  #renewal: Promise<void> | null = null;
  /** Subscriptions and the log level live in the session: a new one must be told again. */
  readonly #standing = new Map<string, { readonly method: string; readonly params: JsonObject }>();
  #silentPing = false;
  #notificationHandler: ((method: string, params: JsonObject) => void) | null = null;
  readonly #watchers = new Set<(method: string, params: JsonObject) => void>();
  #unheard: { readonly method: string; readonly params: JsonObject }[] = [];
  #closedHandlers: ((reason: CloseReason) => void)[] = [];

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.app = parts.app;
    this.scope = parts.scope;
    this.transport = parts.transport;
    this.#lane = parts.lane;
    this.#session = parts.session;
  }

  get pid(): number | null {
    return this.#parts.pid();
  }
  get protocolVersion(): string {
    return this.#hello.protocolVersion;
  }
  get serverInfo(): AppListing["serverInfo"] {
    return this.#hello.serverInfo;
  }
  get capabilities(): JsonObject {
    return this.#hello.capabilities;
  }
  get instructions(): string | null {
    return this.#hello.instructions;
  }
  get closed(): boolean {
    return this.#lane.closed !== null;
  }
  get heard(): number {
    return this.#lane.heard;
  }
  get #hello(): ServerHello {
    return this.#session.hello;
  }
  get session(): Session {
    return this.#session;
  }

  request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const answer = this.#parts.renew === null ? this.#lane.request(method, params, options) : this.#requestOverHttp(method, params, options);
    if (method !== "resources/subscribe" && method !== "resources/unsubscribe" && method !== "logging/setLevel") return answer;
    return answer.then((result) => {
      this.#remember(method, params);
      return result;
    });
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return this.#lane.notify(method, params);
  }

  owedFor(task: string): ReturnType<Connection["owedFor"]> {
    return this.#lane.owedFor(task);
  }

  list(options: RequestOptions = {}): Promise<AppListing> {
    return readListing(this.app, this.#hello, this.#parts.limits(), (method, params) => this.request(method, params, options));
  }

  /** A ping; and, should the server keep silent about it, one cheap list that it declares. Anything that arrives meanwhile is life too. */
  async alive(timeoutMs: number): Promise<boolean> {
    if (this.closed) return false;
    const list = ["tools", "prompts", "resources"].find((name) => Object.hasOwn(this.capabilities, name));
    const heard = this.#lane.heardWithin(timeoutMs);
    if (this.#silentPing && list !== undefined) {
      this.#probe(`${list}/list`, timeoutMs);
      return heard;
    }
    this.#probe("ping", timeoutMs);
    if (list === undefined) return heard;
    if (await Promise.race([heard, this.#lane.heardWithin(timeoutMs / 2)])) return true;
    if (this.closed) return false;
    this.#probe(`${list}/list`, timeoutMs / 2);
    if (!(await heard)) return false;
    this.#silentPing = true;
    this.#parts.onNote("the server does not answer ping; a list request is its probe from now on");
    return true;
  }

  onNotification(handler: (method: string, params: JsonObject) => void): void {
    this.#notificationHandler = handler;
    const unheard = this.#unheard;
    this.#unheard = [];
    for (const { method, params } of unheard) handler(method, params);
  }

  watch(handler: (method: string, params: JsonObject) => void): () => void {
    this.#watchers.add(handler);
    return () => void this.#watchers.delete(handler);
  }

  onClosed(handler: (reason: CloseReason) => void): void {
    const reason = this.#lane.closed;
    if (reason !== null) queueMicrotask(() => handler(reason));
    else this.#closedHandlers.push(handler);
  }

  close(options: { readonly force?: boolean } = {}): Promise<void> {
    return this.#parts.wire.close(options);
  }

  /** A notification came off the wire. Kept, within bounds, until there is a handler. */
  deliverNotification(method: string, params: JsonObject): void {
    if (method === "notifications/cancelled") this.#session.deliver({ jsonrpc: "2.0", method, params });
    for (const watcher of this.#watchers) watcher(method, params);
    if (isTaskProgress(method, params)) return;
    if (this.#notificationHandler !== null) this.#notificationHandler(method, params);
    else if (this.#unheard.length < UNHEARD_KEPT) this.#unheard.push({ method, params });
  }

  /** The wire has ended. */
  deliverClosed(reason: CloseReason): void {
    const handlers = this.#closedHandlers;
    this.#closedHandlers = [];
    for (const handler of handlers) handler(reason);
  }

  /** The server forgot the session while nobody was asking. */
  sessionLost(): void {
    this.#renew().catch((error: unknown) => this.#parts.onNote(`a new session could not be opened: ${(error as Error).message}`));
  }

  async #requestOverHttp(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    // Sent now, a request would go without a session.
    if (this.#renewal !== null) await this.#renewal.catch(() => {});
    const session = this.#session;
    try {
      return await this.#lane.request(method, params, options);
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      // The server refused the request because it does not know the session: it has not run, so it may be sent once more.
      if (error.kind === "session-expired") {
        if (this.#session === session) await this.#renew();
        return await this.#lane.request(method, params, options);
      }
      const wait = error.retryAfterMs ?? BUSY_WAIT_MS;
      const passing = (error.kind === "http" && BUSY.has(error.code ?? 0)) || (error.kind === "network" && error.sent);
      if (!passing || !SAFE.has(method) || wait > LONGEST_WAIT_MS) throw error;
      await pause(wait, options.signal);
      return await this.#lane.request(method, params, options);
    }
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#openSession().finally(() => (this.#renewal = null));
    return this.#renewal;
  }

  async #openSession(): Promise<void> {
    this.#session = await this.#parts.renew!();
    this.#parts.onNote("the server had forgotten the session; a new one was opened");
    for (const { method, params } of this.#standing.values()) {
      await this.#lane
        .request(method, params)
        .catch((error: unknown) => this.#parts.onNote(`${method} failed in the new session: ${(error as Error).message}`));
    }
    // A new session may show other things; whoever listens compares digests.
    for (const name of ["tools", "prompts", "resources"]) {
      if (Object.hasOwn(this.capabilities, name)) this.deliverNotification(`notifications/${name}/list_changed`, {});
    }
  }

  #probe(method: string, timeoutMs: number): void {
    // Only the arrival of anything counts, an error included.
    this.request(method, {}, { timeoutMs }).catch(() => {});
  }

  #remember(method: string, params: JsonObject): void {
    const uri = String(own(params, "uri"));
    if (method === "resources/unsubscribe") this.#standing.delete(`subscribe ${uri}`);
    else this.#standing.set(method === "resources/subscribe" ? `subscribe ${uri}` : method, { method, params });
  }
}

function pause(ms: number, signal: CancelSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(new LinkError("cancelled", "cancelled"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Progress of a task that a call follows: it has its own watcher, and after the end it is late, not news. */
function isTaskProgress(method: string, params: JsonObject): boolean {
  const token = method === "notifications/progress" ? own(params, "progressToken") : undefined;
  return typeof token === "string" && token.startsWith("task-");
}
