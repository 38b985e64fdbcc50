import { randomUUID } from "node:crypto";
import { formatDuration, MAX_TIMER_MS } from "../base/durations.ts";
import { KitError, messageOf } from "../base/errors.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";
import { truncate } from "../base/text.ts";
import { LinkError, type Connection, type Progress, type TaskNews } from "../runtime/ports.ts";
import { signalWithin } from "./join-signals.ts";
import type { SendOptions } from "./operation.ts";
import { withoutRelatedTask } from "./related-task.ts";

const IMMEDIATE = "io.modelcontextprotocol/model-immediate-response";

const STATUSES: ReadonlySet<unknown> = new Set(["working", "input_required", "completed", "failed", "cancelled"]);
const DEFAULT_POLL_MS = 1000;
const SHORTEST_POLL_MS = 50;
const LONGEST_POLL_MS = 10_000;
const MAX_MESSAGE_CHARS = 2000;
/** So many polls in a row may get no answer while the connection stands. */
const MOST_SILENT_POLLS = 3;
const CANCEL_WITHIN_MS = 5000;

/**
 * Runs a tools/call as a task of its app (MCP 2025-11-25) and waits for the task's end; gives what tasks/result gives. `full` names the tool
 * in errors. The server says when to look again; its status notifications shorten the wait. A server that answers at once, without a task, is
 * taken at its word. When the signal aborts or the time is over, the app is told to cancel the task. Throws LinkError or KitError.
 */
export async function callAsTask(connection: Connection, params: JsonObject, options: SendOptions, full: string): Promise<JsonObject> {
  const limitMs = Math.min(options.maxTotalMs ?? MAX_TIMER_MS, options.task?.ttlMs ?? MAX_TIMER_MS);
  const within = signalWithin(options.signal, limitMs);
  const { signal } = within;
  // A token of its own: that of the request ends with its answer, which here only says that the task exists.
  const token = `task-${randomUUID()}`;
  let task: FollowedTask | null = null;
  const stop = connection.watch((method, said) => {
    if (method === "notifications/tasks/status" && task !== null && own(said, "taskId") === task.id) task.hear(said);
    if (method === "notifications/progress" && own(said, "progressToken") === token) tellProgress(said, options.onProgress);
  });
  try {
    const asked = { ...params, task: { ttl: options.task?.ttlMs ?? limitMs }, _meta: { progressToken: token } };
    const answer = await connection.request("tools/call", asked, { ...options, signal });
    const created = own(answer, "task");
    if (!isObject(created)) return answer;
    task = new FollowedTask(connection, created as JsonObject, { ...options, signal }, full);
    task.begin(own(own(answer, "_meta"), IMMEDIATE));
    return withoutRelatedTask(await task.end());
  } catch (error) {
    task?.cancel();
    if (!signal.aborted || options.signal?.aborted === true) throw error;
    const owed = task && connection.owedFor(task.id);
    throw new LinkError(
      "timeout",
      `the task took longer than its hard limit of ${formatDuration(limitMs)} (its ttl, max_total_timeout, or the timeout of a rule)${owed?.words ?? ""}`,
      { sent: true, ...(owed?.approvalId ? { data: { approval_id: owed.approvalId } } : {}) },
    );
  } finally {
    stop();
    within.release();
  }
}

type BoundOptions = SendOptions & { readonly signal: AbortSignal };

/** A task that the app has accepted. */
class FollowedTask {
  readonly id: string;
  readonly #connection: Connection;
  readonly #options: BoundOptions;
  readonly #full: string;
  #state: TaskState;
  #silentPolls = 0;
  /** The request for the result, once it was sent; the server may ask its questions on it. */
  #result: Promise<JsonObject> | null = null;
  #settled: { readonly result: JsonObject } | { readonly error: unknown } | null = null;
  #wake = (): void => {};

  constructor(connection: Connection, created: JsonObject, options: BoundOptions, full: string) {
    const id = own(created, "taskId");
    if (typeof id !== "string" || id === "") throw new LinkError("invalid", "the server made a task without a taskId", { sent: true });
    this.id = id;
    this.#connection = connection;
    this.#options = options;
    this.#full = full;
    this.#state = readState(created);
  }

  /** Tells that the task exists; `immediate` is what the app wants the model to hear meanwhile. */
  begin(immediate: unknown): void {
    const { status, ...rest } = this.#state;
    const more = typeof immediate === "string" ? { immediate: truncate(immediate, MAX_MESSAGE_CHARS) } : {};
    this.#options.task?.onNews({ ...rest, ...more, status: isOpen(status) ? status : "working" });
  }

  /** Takes what the app says of the task, in an answer or in a notification. */
  hear(said: JsonObject): void {
    const before = this.#state;
    this.#state = readState(said);
    const { status, message } = this.#state;
    // The end of the task is the end of the call, and told as that.
    if (isOpen(status) && (status !== before.status || message !== before.message)) this.#options.task?.onNews({ ...this.#state, status });
    if (status !== before.status) this.#wake();
  }

  /** Waits for the end of the task and gives its result. */
  async end(): Promise<JsonObject> {
    while (!this.#over()) {
      if (this.#state.status === "input_required") this.#ask(this.#options.maxTotalMs);
      await this.#pause(this.#state.pollMs);
      if (this.#settled !== null && "result" in this.#settled) return this.#settled.result;
      // A server that refuses to wait on tasks/result is asked again at the end.
      if (this.#settled !== null && isRefusal(this.#settled.error)) this.#result = this.#settled = null;
      else if (this.#settled !== null) throw afterSending(this.#settled.error);
      if (!this.#over()) await this.#poll();
    }
    if (this.#state.status === "cancelled")
      throw new KitError("CANCELLED", `the app cancelled the task of ${this.#full}${inWords(this.#state)}; whether it took effect is unknown`, {
        outcome: "unknown",
      });
    try {
      return await this.#ask(this.#options.timeoutMs);
    } catch (error) {
      if (isRefusal(error) && this.#state.status === "completed")
        throw new KitError("PROTOCOL_ERROR", `the app does not give the result of the task of ${this.#full}: ${messageOf(error)}`, {
          cause: error,
          outcome: "unknown",
        });
      throw afterSending(error);
    }
  }

  /** Tells the app that nobody waits any more. */
  cancel(): void {
    if (this.#over() || this.#connection.closed || own(own(this.#connection.capabilities, "tasks"), "cancel") === undefined) return;
    this.#connection.request("tasks/cancel", { taskId: this.id }, { timeoutMs: CANCEL_WITHIN_MS }).catch(() => {
      // It may be over already, or the app gone: there is nothing left to cancel.
    });
  }

  #over(): boolean {
    return !isOpen(this.#state.status);
  }

  #ask(timeoutMs: number | undefined): Promise<JsonObject> {
    if (this.#result !== null) return this.#result;
    const { signal, maxTotalMs } = this.#options;
    const asked = this.#connection.request("tasks/result", { taskId: this.id }, { signal, ...given({ timeoutMs, maxTotalMs }) });
    this.#result = asked;
    asked.then(
      (result) => ((this.#settled = { result }), this.#wake()),
      (error: unknown) => ((this.#settled = { error }), this.#wake()),
    );
    return asked;
  }

  async #poll(): Promise<void> {
    const { signal, timeoutMs } = this.#options;
    try {
      const said = await this.#connection.request("tasks/get", { taskId: this.id }, { signal, ...given({ timeoutMs }) });
      this.#silentPolls = 0;
      this.hear(said);
    } catch (error) {
      if (signal.aborted) throw error;
      if (isRefusal(error))
        throw new KitError(
          "PROTOCOL_ERROR",
          `the app does not know the task of ${this.#full} any more: ${messageOf(error)}; whether it took effect is unknown`,
          {
            cause: error,
            outcome: "unknown",
          },
        );
      this.#silentPolls += 1;
      if (this.#connection.closed || this.#silentPolls >= MOST_SILENT_POLLS) throw afterSending(error);
    }
  }

  /** Waits so long, or until there is news; throws when the signal aborts. */
  async #pause(ms: number): Promise<void> {
    const { signal } = this.#options;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener("abort", this.#wake, { once: true });
      if (signal.aborted || this.#settled !== null) this.#wake();
    });
    signal.removeEventListener("abort", this.#wake);
    this.#wake = () => {};
    if (signal.aborted) throw new LinkError("cancelled", signal.reason instanceof LinkError ? signal.reason.message : "cancelled", { sent: true });
  }
}

/** A task as its app describes it. */
interface TaskState extends Omit<TaskNews, "status" | "immediate"> {
  readonly status: TaskNews["status"] | "completed" | "failed" | "cancelled";
}

function readState(said: JsonObject): TaskState {
  const status = own(said, "status");
  const message = own(said, "statusMessage");
  const poll = own(said, "pollInterval");
  const ttl = own(said, "ttl");
  return {
    status: STATUSES.has(status) ? (status as TaskState["status"]) : "working",
    message: typeof message === "string" && message !== "" ? truncate(message, MAX_MESSAGE_CHARS) : null,
    pollMs: typeof poll === "number" ? Math.min(Math.max(poll, SHORTEST_POLL_MS), LONGEST_POLL_MS) : DEFAULT_POLL_MS,
    ttlMs: typeof ttl === "number" && ttl > 0 ? ttl : null,
  };
}

function isOpen(status: TaskState["status"]): status is TaskNews["status"] {
  return status === "working" || status === "input_required";
}

function inWords({ message }: TaskState): string {
  return message === null ? "" : ` (${message})`;
}

/** Whether the server itself answered with an error. */
function isRefusal(error: unknown): boolean {
  return error instanceof LinkError && error.kind === "rpc";
}

/** A fault on the way to a task that exists: whatever failed now, the call itself was taken. */
function afterSending(error: unknown): unknown {
  if (!(error instanceof LinkError) || error.kind === "rpc" || (error.sent && error.kind !== "http")) return error;
  return new LinkError(error.kind === "http" ? "network" : error.kind, error.message, { sent: true, cause: error });
}

function tellProgress(said: JsonObject, onProgress: ((progress: Progress) => void) | undefined): void {
  const { progress, total, message } = said;
  if (typeof progress !== "number") return;
  onProgress?.({ progress, ...(typeof total === "number" ? { total } : {}), ...(typeof message === "string" ? { message } : {}) });
}

function given<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}
