import { BriefMap } from "../base/brief-map.ts";
import { CancelSource, type CancelSignal } from "../base/cancel-signal.ts";
import { MAX_TIMER_MS } from "../base/durations.ts";
import type { AppPlan } from "../plan/types.ts";
import type { AppListing } from "../tools/types.ts";
import { LinkError, type Connection, type ServerRequest } from "./ports.ts";
import { SessionConnections, type Hold } from "./session-connections.ts";
import type { JsonObject } from "../base/json.ts";

/** A call's hold on a connection. While it lasts, the connection is not closed; `signal` aborts when the drain limit is over. */
export interface Lease {
  readonly connection: Connection;
  readonly signal: CancelSignal;
  /** The call had no answer in time. When the server said nothing at all since the lease began, it is asked at once whether it lives. */
  timedOut(): void;
  release(): void;
}

/** Answers a server's request on behalf of the call that is running. */
export type ServerRequestHandler = (request: ServerRequest) => Promise<JsonObject>;

/** What a running call wants to hear of the server; only a connection that serves one session alone can tell. */
export interface CallHooks {
  readonly onServerRequest?: ServerRequestHandler | undefined;
  readonly onNotification?: ((method: string, params: JsonObject) => void) | undefined;
}

/** Names one life of an app in what is told of it. */
export interface Life {
  /** 0 is the first life since the app was added. */
  readonly restarts: number;
  /** Its process; null where the server is reached over the network. */
  readonly pid: number | null;
}

/**
 * One life of an app: the plan it was started with, its connections (shared, and one per calling session where isolated),
 * and what it last listed. A changed app gets a new generation; calls keep the one they were admitted to.
 */
export class Generation {
  readonly shared: Connection;
  listing: AppListing;
  readonly startedAt: number;
  /** Which life of the app this is: 0 is the first. Set when it takes over. */
  restarts = 0;
  /** A call timed out in silence: the server is to be probed before its turn. */
  suspect = false;
  /** Told when a call on the shared connection timed out and not a word came meanwhile. */
  onSilence: () => void = () => {};
  /** Told when the connection of one session ended without this side wanting it, and why. */
  onSessionLost: (message: string) => void = () => {};
  /** The shared connection as calls hold it. */
  readonly hold: Hold;
  readonly sessions: SessionConnections;
  #plan: AppPlan;
  readonly #pid: number | null;
  readonly #hooks = new Map<string, BriefMap<number, CallHooks>>();
  #lastLease = 0;
  #leases = 0;
  #idle: (() => void)[] = [];
  #waiting: (() => void)[] = [];
  #closing: Promise<void> | undefined;
  /** Ends the wait of a drain. */
  #late: (() => void) | undefined;

  constructor(plan: AppPlan, shared: Connection, listing: AppListing, startedAt: number) {
    this.#plan = plan;
    this.shared = shared;
    this.listing = listing;
    this.startedAt = startedAt;
    this.#pid = shared.pid;
    this.hold = { connection: shared, cut: new CancelSource(), onSilence: () => this.#silent(), release() {} };
    this.sessions = new SessionConnections(
      () => this.plan,
      (message) => this.onSessionLost(message),
    );
  }

  /** The plan that it serves; a reload may give it another that needs no new connection. */
  get plan(): AppPlan {
    return this.#plan;
  }
  set plan(plan: AppPlan) {
    this.#plan = plan;
    // More calls may run now.
    this.#wakeWaiting();
  }

  /** Names this life for events; also after its process has gone. */
  get life(): Life {
    return { restarts: this.restarts, pid: this.#pid };
  }

  get leases(): number {
    return this.#leases;
  }

  get draining(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Waits for one of the app's call places, in order, then holds a connection; a LinkError when the signal aborts first, null when the
   * generation is on its way out: its successor may have places. `hooks` hear of the server meanwhile.
   */
  async lease(hold: Hold, hooks: CallHooks, signal: () => AbortSignal): Promise<Lease | null> {
    try {
      while (!this.draining) {
        const lease = this.tryLease(hold, hooks);
        if (lease !== null) return lease;
        await this.#turn(signal());
      }
    } catch (error) {
      hold.release();
      throw error;
    }
    hold.release();
    return null;
  }

  /** Holds a connection for a call if one of the app's call places is free, else null. */
  tryLease(hold: Hold, hooks: CallHooks): Lease | null {
    if (this.#leases >= this.plan.maxConcurrentCalls) return null;
    const { connection } = hold;
    this.#leases += 1;
    const running = this.#hooksOf(connection.scope);
    const id = (this.#lastLease += 1);
    running.add(id, hooks);
    const { heard } = connection;
    let held = true;
    return {
      connection,
      signal: hold.cut.signal,
      timedOut: () => {
        if (connection.heard === heard) hold.onSilence();
      },
      release: () => {
        if (!held) return;
        held = false;
        hold.release();
        running.take(id);
        if (running.size === 0 && hold !== this.hold) this.#hooks.delete(connection.scope);
        this.#leases -= 1;
        this.#waiting.shift()?.();
        if (this.#leases === 0) for (const done of this.#idle.splice(0)) done();
      },
    };
  }

  /** What answers a server's request in a scope; undefined when none or several running calls could have caused it. */
  handlerFor(scope: string): ServerRequestHandler | undefined {
    const able = [...(this.#hooks.get(scope)?.values() ?? [])].flatMap((h) => h.onServerRequest ?? []);
    return able.length === 1 ? able[0] : undefined;
  }

  /** Hands a notification to the calls that run in a scope. */
  notify(scope: string, method: string, params: JsonObject): void {
    for (const hooks of this.#hooks.get(scope)?.values() ?? []) hooks.onNotification?.(method, params);
  }

  /**
   * Lets running calls finish for up to `drainMs`, then aborts them with `reason` and closes every connection. Resolves when nothing is left.
   * Asked again while it waits, the shorter time counts.
   */
  drain(drainMs: number, reason: Error, force = false): Promise<void> {
    if (this.#closing === undefined) this.#closing = this.#drain(drainMs, reason, force);
    else this.#endWaitIn(drainMs);
    return this.#closing;
  }

  /** The shared connection is gone: its calls end at once. Those of sessions have connections of their own, and go on. */
  sharedLost(reason: Error): void {
    this.hold.cut.abort(reason);
  }

  #silent(): void {
    this.suspect = true;
    this.onSilence();
  }

  #endWaitIn(ms: number): void {
    if (ms <= 0) this.#late?.();
    else setTimeout(() => this.#late?.(), Math.min(ms, MAX_TIMER_MS)).unref();
  }

  async #drain(drainMs: number, reason: Error, force: boolean): Promise<void> {
    this.sessions.stopOpening(reason);
    this.#wakeWaiting();
    if (this.#leases > 0 && drainMs > 0) {
      const late = new Promise<void>((resolve) => (this.#late = resolve));
      const timer = setTimeout(() => this.#late?.(), Math.min(drainMs, MAX_TIMER_MS));
      await Promise.race([new Promise<void>((resolve) => this.#idle.push(resolve)), late]);
      clearTimeout(timer);
    }
    this.hold.cut.abort(reason);
    await Promise.allSettled([this.shared.close({ force }), this.sessions.endAll(reason, force)]);
  }

  #hooksOf(scope: string): BriefMap<number, CallHooks> {
    let set = this.#hooks.get(scope);
    if (!set) this.#hooks.set(scope, (set = new BriefMap()));
    return set;
  }

  /** Whoever waits for a place looks again, in order. */
  #wakeWaiting(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const stop = (): void => {
        this.#waiting = this.#waiting.filter((w) => w !== go);
        reject(
          new LinkError("timeout", `the app already runs as many calls as it may (max_concurrent_calls: ${this.#leases}), and none of them ended in time`),
        );
      };
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting.push(go);
    });
  }
}
