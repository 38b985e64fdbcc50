import { randomBytes } from "node:crypto";
import { CancelSource } from "../base/cancel-signal.ts";
import { byteLength, type JsonObject } from "../base/json.ts";
import { stringifyExact } from "../base/exact-json.ts";
import type { Principal } from "../base/principal.ts";
import { withRelatedTask } from "../calls/related-task.ts";
import type { CallResult } from "../kit-api.ts";
import type { ServerRequest, TaskNews } from "../runtime/ports.ts";
import type { NamedTool } from "./gateway-names.ts";
import type { GatewaySession, InFlight } from "./gateway-session.ts";
import type { Speaker } from "./gateway-speaker.ts";

/** A request of the client on whose stream the app may ask while the task works. */
interface Listener {
  readonly session: GatewaySession;
  readonly flight: InFlight;
}

type Status = TaskNews["status"] | "completed" | "failed" | "cancelled";

export interface GatewayTaskOptions {
  readonly named: NamedTool;
  /** The session that made it: notifications go there. */
  readonly session: GatewaySession;
  /** The conversation that the call belongs to. */
  readonly conversation: string;
  readonly ttlMs: number;
  /** Told of every change of what the client is shown. */
  readonly onChange: (task: GatewayTask) => void;
}

/** A call that runs as a task for a client of the gateway. Its id is the gateway's own, random, and means nothing to the app. */
export class GatewayTask {
  readonly id = randomBytes(24).toString("base64url");
  readonly named: NamedTool;
  readonly session: GatewaySession;
  readonly conversation: string;
  readonly owner: Pick<Principal, "client" | "role">;
  /** Cancels the call. */
  readonly abort = new CancelSource();
  /** Who works on it. */
  readonly speaker: Speaker;
  /** Whether its call was sent to the app. */
  sent = false;
  /** Resolves when the app has accepted the task. */
  readonly accepted: Promise<void>;
  /** Resolves when the call has ended. */
  readonly ended: Promise<void>;
  readonly #onChange: GatewayTaskOptions["onChange"];
  readonly #listeners = new Set<Listener>();
  #accept!: () => void;
  #end!: () => void;
  #waiting: { readonly resolve: (listener: Listener) => void; readonly reject: (error: Error) => void }[] = [];
  #questions = 0;
  #status: Status = "working";
  #message: string | null = null;
  #pollMs: number | null = null;
  #immediate: string | null = null;
  #ttlMs: number;
  #createdAt: number | null = null;
  #updatedAt = Date.now();
  #call: CallResult | null = null;
  #bytes = 0;

  constructor(options: GatewayTaskOptions) {
    this.named = options.named;
    this.session = options.session;
    this.conversation = options.conversation;
    this.speaker = { source: options.named.tool, conversation: options.conversation };
    this.owner = { client: options.session.principal.client, role: options.session.principal.role };
    this.#ttlMs = options.ttlMs;
    this.#onChange = options.onChange;
    this.accepted = new Promise((resolve) => (this.#accept = resolve));
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  /** When the app accepted it, wall clock milliseconds; null before: then the client has not heard of it. */
  get createdAt(): number | null {
    return this.#createdAt;
  }
  get ttlMs(): number {
    return this.#ttlMs;
  }
  /** What became of the call; null while it runs. */
  get call(): CallResult | null {
    return this.#call;
  }
  /** What its result takes to remember. */
  get bytes(): number {
    return this.#bytes;
  }
  /** Words of the app that stand in what is shown of it, beside its result. */
  get words(): string | null {
    return this.#message;
  }
  /** What the app wants a model to hear as soon as the task is made. */
  get immediate(): string | null {
    return this.#immediate;
  }
  get status(): Status {
    return this.#questions > 0 && this.#call === null ? "input_required" : this.#status;
  }

  belongsTo({ client, role }: Pick<Principal, "client" | "role">): boolean {
    return this.owner.client === client && this.owner.role === role;
  }

  /** Takes what the app says; the first news is that it accepted the task. */
  hear(news: TaskNews): void {
    if (this.#call !== null) return;
    const first = this.#createdAt === null;
    if (first) this.#begin(news.ttlMs);
    if (news.immediate !== undefined) this.#immediate = news.immediate;
    this.#pollMs = news.pollMs;
    this.#change(() => {
      this.#status = news.status;
      this.#message = news.message;
    }, first);
  }

  /** Takes what became of the call. */
  finish(call: CallResult): void {
    if (this.#call !== null) return;
    const first = this.#createdAt === null;
    if (first) this.#begin(null);
    this.#change(() => {
      this.#call = call;
      this.#status = call.error === null ? "completed" : call.error.error_code === "CANCELLED" ? "cancelled" : "failed";
      this.#message = call.error?.message ?? null;
      this.#bytes = byteLength(stringifyExact(call.result));
    }, first);
    this.#end();
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("the task has ended"));
  }

  /** Lets the app ask on this request's stream; gives what ends that. */
  listen(session: GatewaySession, flight: InFlight): () => void {
    const listener = { session, flight };
    this.#listeners.add(listener);
    for (const { resolve } of this.#waiting.splice(0)) resolve(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Asks the owner what the app wants to know, on a tasks/result request of the owner; waits until there is one, and says so in the status. */
  async ask(request: ServerRequest): Promise<JsonObject> {
    this.#change(() => (this.#questions += 1));
    try {
      const { session, flight } = await this.#listener(request.signal);
      return await session.ask({ ...request, params: withRelatedTask(request.params, this.id) }, flight, this.speaker);
    } finally {
      this.#change(() => (this.#questions -= 1));
    }
  }

  /** The task as MCP shows it. */
  shown(): JsonObject {
    return {
      taskId: this.id,
      status: this.status,
      ...(this.#message === null ? {} : { statusMessage: this.#message }),
      createdAt: new Date(this.#createdAt ?? this.#updatedAt).toISOString(),
      lastUpdatedAt: new Date(this.#updatedAt).toISOString(),
      ttl: this.#ttlMs,
      ...(this.#pollMs === null ? {} : { pollInterval: this.#pollMs }),
    };
  }

  #begin(appTtlMs: number | null): void {
    this.#createdAt = Date.now();
    this.#ttlMs = Math.min(this.#ttlMs, appTtlMs ?? this.#ttlMs);
    this.#accept();
  }

  #change(change: () => void, silent = false): void {
    const before = `${this.status} ${this.#message}`;
    change();
    if (`${this.status} ${this.#message}` === before) return;
    this.#updatedAt = Date.now();
    if (!silent) this.#onChange(this);
  }

  #listener(signal: AbortSignal): Promise<Listener> {
    const [open] = this.#listeners;
    if (open) return Promise.resolve(open);
    if (this.#call !== null || signal.aborted) return Promise.reject(new Error("the task has ended"));
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((w) => w !== waiting);
        reject(new Error("the app no longer wants an answer"));
      };
      const waiting = {
        resolve: (listener: Listener) => (signal.removeEventListener("abort", giveUp), resolve(listener)),
        reject: (error: Error) => (signal.removeEventListener("abort", giveUp), reject(error)),
      };
      this.#waiting.push(waiting);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }
}
