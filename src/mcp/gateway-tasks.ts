import type { CancelSignal } from "../base/cancel-signal.ts";
import { formatDuration } from "../base/durations.ts";
import { KitError } from "../base/errors.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";
import type { Principal } from "../base/principal.ts";
import { withRelatedTask } from "../calls/related-task.ts";
import type { CallOptions } from "../kit-api.ts";
import type { NamedTool } from "./gateway-names.ts";
import { optionsOf, progressToken, textOf } from "./gateway-options.ts";
import { listPage } from "./gateway-pages.ts";
import { refusal, unknownMethod } from "./gateway-results.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "./gateway-rpc.ts";
import type { GatewaySession, InFlight, MethodHandler } from "./gateway-session.ts";
import { GatewayTask } from "./gateway-task.ts";
import { callAnswer, refuseHidden, taskSupportFor, type ToolDeps } from "./gateway-tools.ts";

/** The tasks of all clients of a gateway (MCP 2025-11-25). A task belongs to the principal that made it; for any other there is none. */
export interface GatewayTasks {
  /** The requests about tasks, by method. */
  readonly methods: readonly (readonly [string, MethodHandler])[];
  /** Runs a call as a task; resolves when the app has accepted it. Throws an {@link RpcError} when the call is refused. */
  create(session: GatewaySession, named: NamedTool, params: JsonObject, flight: InFlight): Promise<JsonObject>;
  /** Whether a principal has tasks that are remembered. */
  has(principal: Principal): boolean;
  /** The tasks that an app works on now. */
  running(app: string): readonly GatewayTask[];
  /** Cancels and forgets the tasks of callers that are gone. */
  retain(principals: readonly Principal[]): void;
  /** Cancels all tasks; resolves when their calls have ended. */
  close(): Promise<void>;
}

const DEFAULT_TTL_MS = 3_600_000;
const LONGEST_TTL_MS = 86_400_000;
const MAX_TASKS = 1000;
const MAX_TASKS_PER_CLIENT = 200;
/** Bytes of results that are remembered, all together. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** Makes the tasks of a gateway. Every task is one call of the kit, so it goes the one way of every call; only its result waits here for its owner. */
export function createGatewayTasks(deps: ToolDeps): GatewayTasks {
  const { kit } = deps;
  /** Oldest first. */
  const tasks = new Map<string, GatewayTask>();
  const expiries = new Map<string, NodeJS.Timeout>();
  const overdue = new Set<string>();

  const forget = (task: GatewayTask): void => {
    tasks.delete(task.id);
    overdue.delete(task.id);
    clearTimeout(expiries.get(task.id));
    expiries.delete(task.id);
  };
  /** What may go to make room: the oldest of those that have ended. */
  const spare = (among: readonly GatewayTask[]): GatewayTask | undefined => among.find((task) => task.call !== null);
  const makeRoom = (client: string): void => {
    const all = [...tasks.values()];
    const mine = all.filter((task) => task.owner.client === client);
    if (mine.length < MAX_TASKS_PER_CLIENT && all.length < MAX_TASKS) return;
    const oldest = spare(mine.length >= MAX_TASKS_PER_CLIENT ? mine : all);
    if (!oldest) throw refusal(new KitError("RATE_LIMITED", `${mine.length} tasks of this client are running; wait for one of them, or cancel it`).toBody());
    forget(oldest);
  };
  const boundResults = (newest: GatewayTask): void => {
    const ended = [...tasks.values()].filter((task) => task.call !== null && task !== newest);
    let bytes = ended.reduce((sum, task) => sum + task.bytes, newest.bytes);
    for (const task of ended) {
      if (bytes <= MAX_RESULT_BYTES) return;
      bytes -= task.bytes;
      forget(task);
    }
  };
  /** Remembered from its creation for its ttl; a call that runs is not forgotten before it ends. */
  const startExpiry = (task: GatewayTask): void => {
    if (!tasks.has(task.id)) return;
    const timer = setTimeout(() => {
      if (task.call === null) overdue.add(task.id);
      else forget(task);
    }, task.ttlMs);
    expiries.set(task.id, timer.unref());
  };

  /** Hearing of a task is hearing its app: the conversation is marked before the words leave. */
  const heard = async ({ named }: GatewayTask, options: Pick<CallOptions, "client" | "session">): Promise<void> => kit.heard?.(named.tool, options);
  /** One after the other, so that the client hears of the changes in their order. */
  let telling = Promise.resolve();
  const tell = (task: GatewayTask): void => {
    const shown = task.shown();
    const { words, owner, conversation, session } = task;
    telling = telling
      .then(() => (words === null ? undefined : heard(task, { client: owner.client, session: conversation })))
      .then(() => session.notify("notifications/tasks/status", shown))
      // What cannot be marked is not said; the client may ask.
      .catch(() => undefined);
  };

  const find = (session: GatewaySession, params: JsonObject): GatewayTask => {
    const id = textOf(params, "taskId");
    const task = tasks.get(id);
    // Another principal's task looks like none at all.
    if (!task?.belongsTo(session.principal) || task.createdAt === null)
      throw new RpcError(INVALID_PARAMS, `there is no task ${JSON.stringify(id.slice(0, 64))}: it never was, or its time is over`);
    return task;
  };
  const show = async (task: GatewayTask, session: GatewaySession, params: JsonObject, flight: InFlight): Promise<JsonObject> => {
    const { words } = task;
    // What is shown is what was looked at: the app may say something new while the mark is written.
    const shown = task.shown();
    if (words !== null) await heard(task, optionsOf(session, params, flight));
    return shown;
  };

  const run = async (task: GatewayTask, params: JsonObject, options: CallOptions): Promise<void> => {
    const token = progressToken(params);
    const ask = options.onServerRequest;
    const call = await kit.callTool(task.named.tool.full, params["arguments"] ?? {}, {
      ...options,
      signal: task.abort.signal,
      onSent: (source) => {
        task.sent = true;
        options.onSent?.(source);
      },
      task: { ttlMs: task.ttlMs, onNews: (news) => task.hear(news) },
      ...(token === null
        ? {}
        : { onProgress: (progress) => task.session.notify("notifications/progress", withRelatedTask({ progressToken: token, ...progress }, task.id)) }),
      // Before there is a task the client waits on the request that makes it.
      ...(ask === undefined ? {} : { onServerRequest: (request) => (task.createdAt === null ? ask(request) : task.ask(request)) }),
    });
    // Refused before there was a task: then there is none.
    if (task.createdAt === null && call.error !== null && call.result === null) {
      refuseHidden(deps, task.session, task.named, call);
      throw refusal(call.error);
    }
    task.finish(call);
    boundResults(task);
    if (overdue.has(task.id)) forget(task);
  };

  const methods: readonly (readonly [string, MethodHandler])[] = [
    ["tasks/get", (session, params, flight) => show(find(session, params), session, params, flight)],
    [
      "tasks/list",
      async (session, params, flight) => {
        const mine = [...tasks.values()].filter((task) => task.createdAt !== null && task.belongsTo(session.principal));
        const rows = await Promise.all(mine.map(async (task) => ({ key: ageKey(task), shown: await show(task, session, params, flight) })));
        rows.sort((a, b) => (a.key < b.key ? -1 : 1));
        return listPage(
          "tasks",
          rows,
          (row) => row.key,
          (row) => row.shown,
          params,
        );
      },
    ],
    [
      "tasks/result",
      async (session, params, flight) => {
        const task = find(session, params);
        const options = optionsOf(session, params, flight);
        // Before the app may ask anything on this request, and again before its result leaves: the wait may outlast the mark.
        await heard(task, options);
        const stop = task.listen(session, flight);
        try {
          await Promise.race([task.ended, aborted(flight.abort.signal)]);
        } finally {
          stop();
        }
        // Whoever asked has gone; the task goes on.
        if (task.call === null) return {};
        await heard(task, options);
        return withRelatedTask(callAnswer(deps, session, task.named, task.call), task.id);
      },
    ],
    [
      "tasks/cancel",
      async (session, params, flight) => {
        const task = find(session, params);
        if (task.call !== null) throw new RpcError(INVALID_PARAMS, `the task has ended already: it is ${task.status}`);
        task.abort.abort();
        await task.ended;
        return show(task, session, params, flight);
      },
    ],
  ];

  /** Whoever was not told of tasks gets what an unknown method gets. */
  const offered = methods.map(([method, handler]): readonly [string, MethodHandler] => [
    method,
    (session, params, flight) => {
      if (!session.offersTasks) throw unknownMethod(method);
      return handler(session, params, flight);
    },
  ]);

  return {
    methods: offered,
    async create(session, named, params, flight) {
      if (taskSupportFor(kit, session, named) === "forbidden")
        throw new RpcError(METHOD_NOT_FOUND, `${named.name} does not run as a task; call it without one`);
      const ttlMs = readTtl(params["task"]);
      makeRoom(session.principal.client);
      const options = optionsOf(session, params, flight);
      const task = new GatewayTask({ named, session, conversation: options.session ?? session.id, ttlMs, onChange: tell });
      tasks.set(task.id, task);
      const cancel = (): void => task.abort.abort();
      flight.abort.signal.addEventListener("abort", cancel);
      const stop = task.listen(session, flight);
      try {
        await Promise.race([task.accepted, run(task, params, options)]);
      } catch (error) {
        forget(task);
        throw error;
      } finally {
        stop();
        flight.abort.signal.removeEventListener("abort", cancel);
      }
      startExpiry(task);
      const { immediate } = task;
      if (immediate !== null) await heard(task, options);
      return {
        task: await show(task, session, params, flight),
        ...(immediate === null ? {} : { _meta: { "io.modelcontextprotocol/model-immediate-response": immediate } }),
      };
    },
    has: (principal) => [...tasks.values()].some((task) => task.belongsTo(principal)),
    running: (app) => [...tasks.values()].filter((task) => task.sent && task.call === null && task.named.tool.app === app),
    retain(principals) {
      for (const task of tasks.values()) {
        if (principals.some((principal) => task.belongsTo(principal))) continue;
        task.abort.abort();
        forget(task);
      }
    },
    async close() {
      const open = [...tasks.values()].filter((task) => task.call === null && task.createdAt !== null);
      for (const task of tasks.values()) task.abort.abort();
      await Promise.all(open.map((task) => task.ended));
      for (const task of tasks.values()) forget(task);
    },
  };
}

/** Sorts tasks by age, and tells each apart. */
function ageKey({ createdAt, id }: GatewayTask): string {
  return `${String(createdAt).padStart(16, "0")} ${id}`;
}

/** How long a client wants its task kept; throws an {@link RpcError} for what is no time. */
function readTtl(wish: unknown): number {
  const ttl = own(wish, "ttl") ?? DEFAULT_TTL_MS;
  if (!isObject(wish) || typeof ttl !== "number" || !(ttl > 0))
    throw new RpcError(
      INVALID_PARAMS,
      `task must be an object; its ttl, where it has one, a number of milliseconds up to ${LONGEST_TTL_MS} (${formatDuration(LONGEST_TTL_MS)})`,
    );
  return Math.min(ttl, LONGEST_TTL_MS);
}

function aborted(signal: CancelSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
