import type { JsonObject } from "../base/json.ts";
import type { AppRunner } from "./app-runner.ts";
import { openConnection, type AppRunnerDeps } from "./bring-up.ts";
import type { CallHooks, Generation, Lease } from "./generation.ts";
import type { Connection } from "./ports.ts";
import type { Hold } from "./session-connections.ts";

/** What a call needs of an app. */
export interface LeaseRequest {
  /** `shared`, or the id of the calling session; it gets a connection of its own where the app is isolated. */
  readonly scope: string;
  readonly hooks: CallHooks;
  /** MCP capabilities of the calling client, for a connection of its own. */
  readonly capabilities: JsonObject | undefined;
  /** Gives the wait up. Asked for only where there is something to wait for: most calls find their app ready, and a signal is dear. */
  readonly signal: () => AbortSignal;
}

/**
 * Holds a connection of an app for one call: the shared one, or the calling session's own where the app is isolated. Most calls find
 * their app ready and are not kept waiting. Rejects with a LinkError kind `closed` when the app cannot be had.
 */
export function leaseConnection(runner: AppRunner, request: LeaseRequest, deps: AppRunnerDeps): Lease | Promise<Lease> {
  const generation = runner.generation;
  const ready = generation !== null && !generation.draining && !isIsolated(generation, request);
  return (ready ? generation.tryLease(generation.hold, request.hooks) : null) ?? waitForLease(runner, request, deps);
}

function isIsolated(generation: Generation, { scope }: LeaseRequest): boolean {
  return generation.plan.isolation === "session" && scope !== "shared";
}

async function waitForLease(runner: AppRunner, request: LeaseRequest, deps: AppRunnerDeps): Promise<Lease> {
  const { hooks, signal } = request;
  for (;;) {
    const generation = await runner.ready(signal);
    const isolated = isIsolated(generation, request);
    // A changed app may have taken over meanwhile, also while the call waited for its connection or its place; its generation serves the call then.
    const hold = isolated ? await holdSession(generation, request, deps) : generation.hold;
    if (hold === null) continue;
    const lease = await generation.lease(hold, hooks, signal);
    if (lease === null) continue;
    if (!generation.draining && !(isolated && lease.connection.closed)) return lease;
    lease.release();
  }
}

/** The calling session's own connection; null when its generation is on its way out. */
async function holdSession(generation: Generation, request: LeaseRequest, deps: AppRunnerDeps): Promise<Hold | null> {
  if (generation.draining) return null;
  try {
    return await generation.sessions.hold(request.scope, (signal) => openSession(generation, request, deps, signal), request.signal());
  } catch (error) {
    if (generation.draining && !request.signal().aborted) return null;
    throw error;
  }
}

/** A connection for one calling session alone; what the server says on it goes to the calls of that session. */
async function openSession(generation: Generation, { scope, capabilities }: LeaseRequest, deps: AppRunnerDeps, signal: AbortSignal): Promise<Connection> {
  const leave = await deps.gate.enter(signal);
  try {
    const connection = await openConnection(generation.plan, scope, deps, () => generation, signal, capabilities);
    connection.onNotification((method, params) => {
      generation.notify(scope, method, params);
      deps.events.onNotification(method, params, scope);
    });
    return connection;
  } finally {
    leave();
  }
}
