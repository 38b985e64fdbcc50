import type { Clock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { EMPTY_CATALOG } from "../tools/catalog.ts";
import type { AppListing } from "../tools/types.ts";
import type { AppPlan, ChangeSet, Plan } from "../plan/types.ts";
import { AppRunner } from "./app-runner.ts";
import type { AppRunnerEvents } from "./bring-up.ts";
import { buildCatalog, type CatalogApp, type PinCheck } from "./build-catalog.ts";
import { debounce } from "./debounce.ts";
import type { Lease, Life } from "./generation.ts";
import { HOST_STOPS } from "./drains.ts";
import { leaseConnection, type LeaseRequest } from "./lease.ts";
import { LinkError, type CloseReason, type Connector, type Logger, type ServerRequest } from "./ports.ts";
import { whyDown, type AppView, type Snapshot } from "./snapshot.ts";
import { createStartGate, type StartGate } from "./start-gate.ts";

/** What the runtime tells the rest of the kit; all names are packages. */
export interface RuntimeEvents {
  onSnapshot(snapshot: Snapshot, catalogChanged: boolean): void;
  onAppChange(view: AppView): void;
  onStarted(app: AppPlan, life: Life, listing: AppListing): void;
  onStopping(app: AppPlan, life: Life, replaced: boolean): void;
  onStopped(app: AppPlan, life: Life, replaced: boolean): void;
  onReplaced(app: AppPlan, life: Life): void;
  onCrashed(app: AppPlan, life: Life, reason: CloseReason): void;
  onListed(app: AppPlan, before: AppListing, after: AppListing): void;
  onNotification(app: AppPlan, method: string, params: JsonObject, scope?: string): void;
  onProtocolError(app: AppPlan, message: string): void;
  onLog(app: AppPlan, line: string, source: "stderr" | "kit"): void;
  onServerRequest(app: AppPlan, request: ServerRequest): Promise<JsonObject>;
  /** Called before a listing counts, so that first-use pins can be taken. */
  admitListing(app: AppPlan, listing: AppListing): void;
}

/** What the runtime works with. */
export interface RuntimeDeps {
  readonly connector: Connector;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly pins: PinCheck;
  readonly cleanListing: (listing: AppListing) => AppListing;
  readonly mask: (text: string) => string;
  readonly events: RuntimeEvents;
}

/**
 * The running graph. Holds one runner per app and the current snapshot; a plan is applied by one assignment, then every added
 * or changed app joins by itself with one more.
 */
export class Runtime {
  readonly #deps: RuntimeDeps;
  readonly #runners = new Map<string, AppRunner>();
  /** Apps that were taken out and still stop. */
  readonly #leaving = new Map<AppRunner, Promise<void>>();
  #stopped = false;
  readonly #gate: StartGate;
  #snapshot: Snapshot;
  readonly #refreshSoon = debounce(() => this.refresh(), 20, 200);

  constructor(plan: Plan, deps: RuntimeDeps) {
    this.#deps = deps;
    this.#gate = createStartGate(plan.limits.concurrentStarts);
    this.#snapshot = { revision: 0, plan, catalog: EMPTY_CATALOG, apps: new Map() };
  }

  /** The current snapshot; take it once per call. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** The current snapshot with counts that change without an event (running calls) read anew; for status. */
  look(): Snapshot {
    return { ...this.#snapshot, apps: this.#views(this.#snapshot.plan) };
  }

  runner(app: string): AppRunner | undefined {
    return this.#runners.get(app);
  }

  /** Makes a plan the running one: policy, exposure and removals at once, then apps start, change and stop each by itself. */
  apply(plan: Plan, changes: ChangeSet, revision: number): void {
    if (this.#stopped) return;
    this.#gate.setLimit(plan.limits.concurrentStarts);
    for (const name of changes.stop) this.#remove(name);
    for (const name of [...changes.restart, ...changes.reconnect, ...changes.relist, ...changes.live]) this.#runners.get(name)?.update(plan.apps.get(name)!);
    for (const name of changes.unchanged) this.#runners.get(name)?.adopt(plan.apps.get(name)!);
    for (const name of changes.start) this.#add(plan.apps.get(name)!);
    this.#publish(plan, revision, true);
  }

  /** Takes over a plan that means the same as the running one: only its places in the files differ, which explanations show. */
  adopt(plan: Plan): void {
    for (const [name, app] of plan.apps) this.#runners.get(name)?.adopt(app);
    this.#snapshot = { ...this.#snapshot, plan, apps: this.#views(plan) };
  }

  /** Builds the snapshot anew after pins, policy or an app changed. What apps go through as the host stops is no news, least of all for the exports. */
  refresh(): void {
    if (this.#stopped) return;
    this.#refreshSoon.cancel();
    this.#publish(this.#snapshot.plan, this.#snapshot.revision, false);
  }

  /** Holds a connection of an app for one call; rejects with a LinkError when it cannot be had. */
  lease(app: string, request: LeaseRequest): Lease | Promise<Lease> {
    const runner = this.#runners.get(app);
    if (!runner) return Promise.reject(new LinkError("closed", `app ${app} is not running`));
    return leaseConnection(runner, request, runner.deps);
  }

  /** Apps that a full tool name may belong to, by its beginning; several where one package is the beginning of another. */
  ownersOf(name: string): AppRunner[] {
    return [...this.#runners.values()].filter((runner) => name.startsWith(`${runner.package}.`));
  }

  /** A calling session has gone: its own connections, where it had some, are closed. */
  endSession(scope: string): void {
    for (const runner of this.#runners.values()) runner.generation?.sessions.end(scope);
  }

  /** Stops every app in parallel; `drainMs` bounds how long running calls may go on. */
  async stop(drainMs: number): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled([...this.#runners.values(), ...this.#leaving.keys()].map((runner) => runner.stop(drainMs, HOST_STOPS)));
  }

  /** Apps that have not stopped yet. */
  stopping(): string[] {
    return [...this.#runners.values()].filter((r) => r.state !== "stopped").map((r) => r.package);
  }

  #add(plan: AppPlan): void {
    const { events: out } = this.#deps;
    const now = (): AppPlan => runner.plan;
    const events: AppRunnerEvents = {
      onChange: () => {
        // The app's state is visible at once; the catalogue follows when things are quiet.
        this.#snapshot = { ...this.#snapshot, apps: this.#views(this.#snapshot.plan) };
        out.onAppChange(viewOf(runner));
        this.#refreshSoon.request();
      },
      onStarted: (life) => {
        out.admitListing(now(), runner.listing!);
        this.refresh();
        out.onStarted(now(), life, runner.listing!);
      },
      onStopping: (life, replaced) => out.onStopping(now(), life, replaced),
      onStopped: (life, replaced) => {
        // Taken out and put back before it had ended: the app runs, so only its old process has gone.
        const owner = this.#runners.get(plan.package);
        if (owner !== runner && owner?.connection) out.onReplaced(now(), life);
        else out.onStopped(now(), life, replaced);
      },
      onReplaced: (life) => out.onReplaced(now(), life),
      onCrashed: (life, reason) => out.onCrashed(now(), life, reason),
      onListed: (before, after) => {
        out.admitListing(now(), after);
        this.refresh();
        out.onListed(now(), before, after);
      },
      onNotification: (method, params, scope) => out.onNotification(now(), method, params, scope),
      onProtocolError: (message) => out.onProtocolError(now(), message),
      onLog: (line, source) => out.onLog(now(), line, source),
      onServerRequest: (request) => out.onServerRequest(now(), request),
    };
    const runner: AppRunner = new AppRunner(plan, { ...this.#deps, gate: this.#gate, events });
    this.#runners.set(plan.package, runner);
    const before = [...this.#leaving].find(([old]) => old.package === plan.package)?.[1];
    // Taken out and put back at once: a server that holds a lock or a port waits until its predecessor is gone.
    if (before && plan.handover === "stop_first") void before.then(() => runner.start());
    else runner.start();
  }

  #remove(name: string): void {
    const runner = this.#runners.get(name);
    if (!runner) return;
    this.#runners.delete(name);
    const leaving = runner.stop();
    this.#leaving.set(runner, leaving);
    void leaving.finally(() => this.#leaving.delete(runner));
  }

  #publish(plan: Plan, revision: number, force: boolean): void {
    const apps = this.#views(plan);
    const listed: CatalogApp[] = [];
    for (const view of apps.values())
      if (view.lastListing && view.plan) listed.push({ plan: view.plan, listing: view.listing ?? view.lastListing, down: downOf(view) });
    const catalog = buildCatalog(listed, plan.policy, this.#deps.pins);
    const changed = force || catalog.digest !== this.#snapshot.catalog.digest;
    this.#snapshot = { revision, plan, catalog, apps };
    this.#deps.events.onSnapshot(this.#snapshot, changed);
  }

  #views(plan: Plan): Map<string, AppView> {
    const apps = new Map<string, AppView>();
    for (const runner of this.#runners.values()) apps.set(runner.package, viewOf(runner));
    for (const parked of plan.parked.values()) {
      if (apps.has(parked.package)) continue;
      apps.set(parked.package, {
        package: parked.package,
        plan: null,
        state: parked.state,
        reason: parked.reason,
        pid: null,
        protocol: null,
        version: null,
        restarts: 0,
        nextAttempt: null,
        calls: 0,
        sessions: null,
        listing: null,
        lastListing: null,
        source: parked.display,
      });
    }
    return apps;
  }
}

/** What the catalogue says of the tools of an app that is not up. */
function downOf(view: AppView): CatalogApp["down"] {
  if (view.state === "ready") return null;
  return { moment: view.listing !== null, reason: view.listing === null ? whyDown(view.package, view.state, null) : "the app is down for a moment" };
}

function viewOf(runner: AppRunner): AppView {
  return {
    package: runner.package,
    plan: runner.plan,
    state: runner.state,
    reason: runner.reason,
    pid: runner.connection?.pid ?? null,
    protocol: runner.connection?.protocolVersion ?? null,
    // From the listing, which is clean; a server may call itself anything.
    version: runner.connection === null ? null : (runner.listing?.serverInfo.version ?? null),
    restarts: runner.restarts,
    nextAttempt: runner.nextAttempt,
    calls: runner.calls,
    sessions: runner.sessions,
    listing: runner.listing,
    lastListing: runner.lastListing,
    source: runner.plan.source,
  };
}
