import { vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { AppPlan, Plan } from "../../src/plan/types.ts";
import type { CloseReason, Connection, ConnectionHooks, Logger } from "../../src/runtime/ports.ts";
import { Runtime } from "../../src/runtime/runtime.ts";
import type { AppView } from "../../src/runtime/snapshot.ts";
import type { AppListing } from "../../src/tools/types.ts";
import { policyOf } from "../policy/policy-of.ts";
import { appPlan, stdioSpec } from "../support/app-plan.ts";
import { NO_CHANGES } from "../support/changes.ts";

/** A server as the supervisor sees it, played by a test. */
export interface PlayedServer {
  /** Comes up, or throws a StartError; by default at once. */
  connect?: (attempt: number, signal: AbortSignal) => Promise<void> | void;
  /** Names of the tools it lists. */
  list?: (count: number) => Promise<readonly string[]> | readonly string[];
  /** Whether it answers the probe. */
  alive?: (scope: string) => Promise<boolean> | boolean;
}

/** One connection that was made, and how to make its server act. */
export interface PlayedConnection {
  notify(method: string, params?: JsonObject): void;
  die(message: string): void;
}

/** A runtime over played servers and a fake clock; use under `vi.useFakeTimers()`. */
export interface World {
  readonly runtime: Runtime;
  /** What happened, in order: `attempt x`, `ready x`, `crashed x: why`, `listed x`. */
  readonly log: string[];
  /** How many snapshots were published so far. */
  published(): number;
  readonly connections: Map<string, PlayedConnection>;
  /** Times of the attempts of an app, milliseconds since the world began. */
  attempts(app: string): readonly number[];
  view(app: string): AppView;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  /** Makes every app start. */
  start(): Promise<void>;
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

export function world(
  servers: Readonly<Record<string, PlayedServer>>,
  options: { readonly concurrentStarts?: number; readonly plan?: Partial<AppPlan> } = {},
): World {
  const began = Date.now();
  const log: string[] = [];
  let published = 0;
  const attempts = new Map<string, number[]>();
  const connections = new Map<string, PlayedConnection>();
  const apps = new Map(
    Object.keys(servers).map((name) => [
      name,
      appPlan(stdioSpec("played", []), { package: name, trust: "high", restart: { enabled: true, maxAttempts: 3, backoffMs: 2_000 }, ...options.plan }),
    ]),
  );
  const plan = { apps, parked: new Map(), policy: policyOf({}), limits: { concurrentStarts: options.concurrentStarts ?? 4 } } as unknown as Plan;

  const connect = async (appOf: AppPlan, scope: string, _hooks: ConnectionHooks, signal: AbortSignal): Promise<Connection> => {
    const app = appOf.package;
    const server = servers[app]!;
    const times = attempts.get(app) ?? [];
    attempts.set(app, times);
    times.push(Date.now() - began);
    log.push(`attempt ${app}`);
    await server.connect?.(times.length, signal);
    let closed: CloseReason | null = null;
    let lists = 0;
    let heard = 0;
    let onClosed: ((reason: CloseReason) => void) | null = null;
    let onNotification: ((method: string, params: JsonObject) => void) | null = null;
    const end = (reason: CloseReason): void => {
      if (closed !== null) return;
      closed = reason;
      onClosed?.(reason);
    };
    connections.set(app, {
      notify: (method, params = {}) => {
        heard += 1;
        onNotification?.(method, params);
      },
      die: (message) => end({ planned: false, message, exitCode: null, signal: null, stderrTail: [] }),
    });
    return {
      app,
      scope,
      pid: 1,
      transport: "stdio",
      protocolVersion: "2025-11-25",
      serverInfo: { name: app, version: "1" },
      capabilities: { tools: {} },
      instructions: null,
      get closed() {
        return closed !== null;
      },
      get heard() {
        return heard;
      },
      request: () => Promise.resolve({}),
      notify: () => Promise.resolve(),
      owedFor: () => null,
      list: async () => {
        lists += 1;
        log.push(`list ${app}`);
        return listing(app, (await server.list?.(lists)) ?? ["echo"]);
      },
      alive: async () => (await server.alive?.(scope)) ?? true,
      onNotification: (handler) => void (onNotification = handler),
      watch: () => () => undefined,
      onClosed: (handler) => void (onClosed = handler),
      close: async () => end({ planned: true, message: "closed", exitCode: 0, signal: null, stderrTail: [] }),
    };
  };

  const runtime = new Runtime(plan, {
    connector: { connect, reapOrphans: () => Promise.resolve(0), killAll() {} },
    clock: { now: () => Date.now(), monotonic: () => Date.now() - began },
    random: () => 0.5,
    log: silent,
    cleanListing: (shown) => shown,
    mask: (text) => text,
    pins: () => ({ accepted: true, reason: null }),
    events: {
      onSnapshot: () => void (published += 1),
      onAppChange() {},
      onStopping() {},
      onStopped() {},
      onReplaced() {},
      onNotification() {},
      onLog() {},
      admitListing() {},
      onStarted: (app) => log.push(`ready ${app.package}`),
      onCrashed: (app, _life, reason) => log.push(`crashed ${app.package}: ${reason.message}`),
      onListed: (app) => log.push(`listed ${app.package}`),
      onProtocolError: (app, message) => log.push(`fault ${app.package}: ${message}`),
      onServerRequest: () => Promise.reject(new Error("not played")),
    },
  });
  const pass = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));
  return {
    runtime,
    log,
    connections,
    pass,
    published: () => published,
    attempts: (app) => attempts.get(app) ?? [],
    view: (app) => runtime.look().apps.get(app)!,
    async start() {
      runtime.apply(plan, { ...NO_CHANGES, start: [...apps.keys()], empty: false }, 1);
      await pass(0);
    },
  };
}

function listing(app: string, tools: readonly string[]): AppListing {
  return {
    app,
    serverInfo: { name: app, version: "1" },
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    instructions: null,
    tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })),
    prompts: [],
    resources: [],
    templates: [],
    dropped: [],
    conflicts: [],
    warnings: [],
  };
}
