import { BriefMap } from "../base/brief-map.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import { MAX_TIMER_MS } from "../base/durations.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { onAbort } from "../base/cancel-signal.ts";
import { LinkError } from "../runtime/ports.ts";
import type { CloseReason, RequestOptions } from "../runtime/ports.ts";
import type { LaneHandlers } from "./lane-handlers.ts";
import { asLinkError, clamp, DEFAULT_TIMEOUT_MS, reasonOf, type Pending } from "./lane-request.ts";
import { OwedAnswers, type Debt, type Owed } from "./owed-answers.ts";
import { seconds } from "./plain-line.ts";
import { isLongWork, withMeta } from "./request-meta.ts";
import { StrayAnswers } from "./stray-answers.ts";
import type { Wire, WireMessage } from "./wire.ts";

/**
 * The requests of one connection: ids, deadlines, progress, cancellation. Every request ends exactly once, with a result or a LinkError;
 * answers nobody waits for are dropped and counted. Ids start at 0 and are never used twice.
 */
export class RpcLane {
  readonly #wire: Wire;
  readonly #handlers: LaneHandlers;
  readonly #clock: Clock;
  readonly #pending = new BriefMap<number, Pending>();
  readonly #strays: StrayAnswers;
  readonly #listeners = new Set<() => void>();
  readonly #owed = new OwedAnswers();
  #nextId = 0;
  #heard = 0;
  #toldStringIds = false;
  #closed: CloseReason | null = null;
  /** One timer for all open requests, for the earliest that is due: most are answered long before. */
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  constructor(wire: Wire, handlers: LaneHandlers, clock: Clock = systemClock) {
    this.#wire = wire;
    this.#handlers = handlers;
    this.#clock = clock;
    this.#strays = new StrayAnswers(handlers);
    wire.onmessage = (message) => {
      try {
        this.#onMessage(message);
      } catch (error) {
        // Whatever a server says must not end the host, nor keep the next message from being read.
        handlers.protocolError(`a message of the server could not be taken: ${error instanceof Error ? error.message : String(error)}`);
      }
    };
    wire.onlost = (id, error) => this.#onLost(id, error);
    wire.onclose = (reason) => this.#onClose(reason);
    wire.onerror = (error) => handlers.note(error.message);
  }

  /** Why the connection ended; null while it lives. */
  get closed(): CloseReason | null {
    return this.#closed;
  }

  /** Sends a request and gives its result object. Throws LinkError. */
  request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const { signal } = options;
    if (this.#closed !== null) return Promise.reject(new LinkError("closed", `the connection is closed: ${this.#closed.message}`));
    if (signal?.aborted === true) return Promise.reject(new LinkError("cancelled", reasonOf(signal)));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const now = this.#clock.monotonic();
      const idleMs = clamp(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
      const totalMs = clamp(options.maxTotalMs ?? MAX_TIMER_MS);
      const pending: Pending = {
        method,
        resolve,
        reject,
        unlisten: undefined,
        idleMs,
        totalMs,
        onProgress: options.onProgress,
        startedAt: now,
        suspectsAtStart: this.#strays.suspects,
        heardAt: now,
        dueAt: now + Math.min(idleMs, totalMs),
      };
      this.#pending.add(id, pending);
      if (signal !== undefined)
        pending.unlisten = onAbort(signal, () => this.#giveUp(id, new LinkError("cancelled", reasonOf(signal), { sent: true }), reasonOf(signal)));
      this.#lookAt(pending.dueAt, now);
      const message = { jsonrpc: "2.0", id, method, params: withMeta(method, params, options, id) };
      this.#wire.send(message).catch((error: unknown) => this.#fail(id, asLinkError(error)));
    });
  }

  /** Sends a notification. Throws LinkError when it cannot be handed over. */
  async notify(method: string, params: JsonObject): Promise<void> {
    if (this.#closed !== null) throw new LinkError("closed", `the connection is closed: ${this.#closed.message}`);
    try {
      await this.#wire.send({ jsonrpc: "2.0", method, params });
    } catch (error) {
      throw asLinkError(error);
    }
  }

  /** Sends the answer to a request of the server; a connection that is gone needs none. */
  async respond(message: JsonObject): Promise<void> {
    if (this.#closed === null)
      await this.#wire.send(message).catch((error: unknown) => this.#handlers.note(`an answer to the server was not sent: ${(error as Error).message}`));
  }

  /**
   * Notes that the server waits for an answer of this side: until it is settled by what this gives, silence ends no request, only the
   * hard limit does, and says so. `onOver`: every call that was open when the server asked, and so may have caused it, has ended.
   */
  owe(debt: Debt, onOver: () => void): () => void {
    const open = [...this.#pending].flatMap(([id, { method }]) => (isLongWork(method) ? [id] : []));
    this.#owed.add(debt, open, onOver);
    return () => {
      this.#owed.settle(debt);
      for (const pending of this.#pending.values()) if (isLongWork(pending.method)) pending.heardAt = this.#clock.monotonic();
    };
  }

  /** What the server waits for on behalf of one of its tasks. */
  owedFor(task: string): Owed | null {
    return this.#owed.of(task);
  }

  /** How many messages of the server have arrived. */
  get heard(): number {
    return this.#heard;
  }

  /** Resolves true when any message arrives within `ms`, false when none does or the connection ends. */
  heardWithin(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (heard: boolean): void => {
        clearTimeout(timer);
        this.#listeners.delete(onMessage);
        resolve(heard);
      };
      const onMessage = (): void => done(this.#closed === null);
      const timer = setTimeout(() => done(false), clamp(ms));
      if (this.#closed === null) this.#listeners.add(onMessage);
      else done(false);
    });
  }

  #onMessage(message: WireMessage): void {
    this.#heard += 1;
    if (this.#listeners.size > 0) for (const listener of [...this.#listeners]) listener();
    const { method, id } = message;
    if (typeof method !== "string") return this.#onAnswer(message);
    if (id !== undefined && id !== null) {
      if (typeof id === "string" || typeof id === "number") return this.#handlers.request(message);
      return this.#handlers.protocolError(`the server sent a request ${method} whose id is neither a string nor a number`);
    }
    const params = isObject(message["params"]) ? (message["params"] as JsonObject) : {};
    if (method === "notifications/progress" && this.#onProgress(params)) return;
    this.#handlers.notification(method, params);
  }

  #onAnswer(message: WireMessage): void {
    const id = this.#openId(message["id"]);
    const { error, result } = message;
    if (id === null) return this.#onStray(message["id"], error);
    if (isObject(error)) {
      const { code, data } = error;
      const text = typeof error["message"] === "string" && error["message"] !== "" ? error["message"] : "error without a message";
      return this.#fail(
        id,
        new LinkError("rpc", text, { sent: true, ...(typeof code === "number" ? { code } : {}), ...(data === undefined ? {} : { data: data as Json }) }),
      );
    }
    // Not by the protocol, but words all the same.
    if (typeof error === "string" && error !== "") return this.#fail(id, new LinkError("rpc", error, { sent: true }));
    if (!isObject(result)) {
      const what = result === undefined ? "neither a result nor an error" : "a result that is not an object";
      this.#handlers.protocolError(`the server answered ${this.#pending.get(id)!.method} with ${what}`);
      return this.#fail(id, new LinkError("invalid", `the server answered with ${what}`, { sent: true }));
    }
    this.#take(id)?.resolve(result as JsonObject);
  }

  /** The open request that an id means: the number itself, or, for servers that turn ids into text, its digits. */
  #openId(id: unknown): number | null {
    if (typeof id === "number") return this.#pending.has(id) ? id : null;
    if (typeof id !== "string" || !/^\d{1,15}$/.test(id) || !this.#pending.has(Number(id))) return null;
    if (!this.#toldStringIds) this.#handlers.note("the server turns request ids into strings; they are accepted");
    this.#toldStringIds = true;
    return Number(id);
  }

  #onStray(id: unknown, error: unknown): void {
    if (id === null && isObject(error)) {
      // The server could not read the id. With one request open there is no doubt which it was.
      this.#handlers.protocolError(`the server could not read a request: ${String(error["message"])}`);
      if (this.#pending.size === 1)
        this.#fail(
          [...this.#pending.keys()][0]!,
          new LinkError("rpc", String(error["message"] ?? "the server could not read the request"), {
            sent: true,
            ...(typeof error["code"] === "number" ? { code: error["code"] } : {}),
          }),
        );
      return;
    }
    this.#strays.take(id, this.#nextId);
  }

  #onProgress(params: JsonObject): boolean {
    const token = params["progressToken"];
    const id = typeof token === "string" && /^\d{1,15}$/.test(token) ? Number(token) : token;
    if (typeof id !== "number") return false;
    const pending = this.#pending.get(id);
    // Progress after the end is late, not news.
    if (pending === undefined) return id < this.#nextId;
    pending.heardAt = this.#clock.monotonic();
    const { progress, total, message } = params;
    if (pending.onProgress !== undefined && typeof progress === "number") {
      pending.onProgress({ progress, ...(typeof total === "number" ? { total } : {}), ...(typeof message === "string" ? { message } : {}) });
    }
    return true;
  }

  #lookAt(dueAt: number, now: number): void {
    if (dueAt >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = dueAt;
    // Whatever an answer may come from keeps the process alive itself.
    this.#timer = setTimeout(() => this.#onTimer(), clamp(dueAt - now)).unref();
  }

  #onTimer(): void {
    this.#timerAt = Infinity;
    const now = this.#clock.monotonic();
    for (const [id, pending] of this.#pending) if (pending.dueAt <= now + 0.5) this.#onDue(id, pending, now);
    let next = Infinity;
    for (const { dueAt } of this.#pending.values()) next = Math.min(next, dueAt);
    if (next < Infinity) this.#lookAt(next, now);
  }

  /** Progress only notes the time; here it is seen whether a request is really over. */
  #onDue(id: number, pending: Pending, now: number): void {
    if (this.#owed.any && isLongWork(pending.method)) pending.heardAt = now;
    const totalLeft = pending.startedAt + pending.totalMs - now;
    const left = Math.min(totalLeft, pending.heardAt + pending.idleMs - now);
    if (left > 0.5) {
      pending.dueAt = now + left;
      return;
    }
    const elapsed = seconds(now - pending.startedAt);
    const owed = totalLeft <= 0.5 ? this.#owed.of(id) : null;
    const text =
      totalLeft <= 0.5
        ? `${pending.method} took longer than its hard limit of ${seconds(pending.totalMs)}${owed?.words ?? ""}`
        : `no answer to ${pending.method} within ${seconds(pending.idleMs)}${pending.heardAt > pending.startedAt ? ` of the last progress (${elapsed} in all)` : ""}`;
    const data = owed?.approvalId ? { data: { approval_id: owed.approvalId } } : {};
    this.#giveUp(id, new LinkError("timeout", text + this.#strays.hint(pending.suspectsAtStart), { sent: true, ...data }), "timed out");
  }

  /** Ends a request from this side: the server is told, once, and never about `initialize` (the protocol forbids that). */
  #giveUp(id: number, error: LinkError, reason: string): void {
    const pending = this.#take(id);
    if (pending === undefined) return;
    this.#strays.giveUp(id);
    if (pending.method !== "initialize" && this.#closed === null) {
      this.#wire.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } }).catch(() => {
        // The server is gone or deaf: there is nothing left to cancel.
      });
    }
    this.#wire.abandon?.(id);
    pending.reject(error);
  }

  #fail(id: number, error: LinkError): void {
    this.#take(id)?.reject(error);
  }

  #onLost(id: number | string | null, error: LinkError): void {
    // An answer that cannot be told is the only open request's, if there is only one.
    const open = id === null && this.#pending.size === 1 ? [...this.#pending.keys()][0]! : this.#openId(id);
    if (open !== null) this.#fail(open, error);
  }

  #onClose(reason: CloseReason): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    clearTimeout(this.#timer);
    for (const id of [...this.#pending.keys()]) this.#fail(id, new LinkError("closed", `the connection ended: ${reason.message}`, { sent: true }));
    for (const listener of [...this.#listeners]) listener();
    this.#handlers.closed(reason);
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.take(id);
    if (pending === undefined) return undefined;
    pending.unlisten?.();
    this.#owed.ended(id);
    return pending;
  }
}
