import { formatDuration } from "../base/durations.ts";
import { messageOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { AppPlan } from "../plan/types.ts";
import type { AppListing } from "../tools/types.ts";
import { bringUp, sameConnection, type AppRunnerDeps } from "./bring-up.ts";
import { isHealthy } from "./backoff.ts";
import { endAll, Interruption } from "./interruption.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { Drains, REPLACED, TAKEN_OUT } from "./drains.ts";
import type { Generation } from "./generation.ts";
import { listingDigest } from "./listing-digest.ts";
import { LostSessions } from "./lost-sessions.ts";
import type { AppState, SessionsView } from "./snapshot.ts";
import { Relisting } from "./relisting.ts";
import { Retries } from "./retries.ts";
import { Standing } from "./standing.ts";
import { canRetry, diedAs, type CloseReason, type Connection } from "./ports.ts";

/** How often an idle server is asked whether it lives. */
const PROBE_EVERY_MS = 30_000;

/**
 * Keeps one app at its desired state: one loop, one back-off for every reason of a restart, one operation at a time.
 * A changed plan starts beside the running generation and takes over when it is listed; the old one drains.
 */
export class AppRunner {
  readonly package: string;
  readonly deps: AppRunnerDeps;
  #plan: AppPlan;
  #wanted = true;
  #current: Generation | null = null;
  /** The plan that last came up: what is started again when a later one does not. */
  #lastGood: AppPlan | null = null;
  #lastListing: AppListing | null = null;
  /** Whether the last listing still counts while nothing runs: in a moment's back-off, but not once the app is parked or failed. */
  #downForAMoment = false;
  readonly #retries = new Retries();
  /** Start attempts that are over. */
  #finished = 0;
  #starts = 0;
  #forced = false;
  readonly #start = new Interruption();
  readonly #lostSessions = new LostSessions();
  /** Why the running generation died, until the back-off has been told. */
  #crash: string | null = null;
  readonly #clock = new AlarmClock();
  /** Waits for the running server: neither a stop nor a change nor a person waits for those. */
  readonly #waits = new Interruption();
  readonly #relisting = new Relisting(() => this.#clock.nudge());
  readonly #drains: Drains;
  readonly #standing: Standing;
  #loop: Promise<void> | null = null;
  /** How it is taken down when it is stopped. */
  #end = { drainMs: 0, why: TAKEN_OUT };

  constructor(plan: AppPlan, deps: AppRunnerDeps) {
    this.package = plan.package;
    this.#plan = plan;
    this.deps = deps;
    this.#drains = new Drains(plan.package, deps.events);
    this.#standing = new Standing(plan.package, deps);
  }

  get plan(): AppPlan {
    return this.#plan;
  }
  get state(): AppState {
    return this.#standing.state;
  }
  /** Why the app stands where it does, with the time to the next attempt. */
  get reason(): string | null {
    return this.#standing.reason;
  }
  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }
  /** Wall-clock milliseconds of the next attempt, while one is waited for. */
  get nextAttempt(): number | null {
    return this.#standing.nextAttempt;
  }
  /** The life that serves calls; null while there is none. */
  get generation(): Generation | null {
    return this.#current;
  }
  get connection(): Connection | null {
    return this.#current?.shared ?? null;
  }
  get calls(): number {
    return this.#current?.leases ?? 0;
  }
  /** Connections that serve one calling session each, and what became of others; null where the app is shared by all. */
  get sessions(): SessionsView | null {
    return this.#plan.isolation === "session" ? this.#lostSessions.view(this.#current) : null;
  }
  /** What the server shows; kept while it is being restarted (contracts 4), gone when the app is parked, failed or stopped. */
  get listing(): AppListing | null {
    if (this.#current) return this.#current.listing;
    return this.#downForAMoment && (this.state === "backoff" || this.state === "starting") ? this.#lastListing : null;
  }
  /** What the server showed last, whatever became of it; null before it was ever up. */
  get lastListing(): AppListing | null {
    return this.#lastListing;
  }

  /** Starts the loop; after `stop` it does nothing. */
  start(): void {
    if (this.#wanted) this.#loop ??= this.#run();
  }

  /** Gives the app a new plan. Nothing is touched unless a field of the plan's reconnect, restart or relist class changed. */
  update(plan: AppPlan): void {
    const before = this.#plan;
    this.#plan = plan;
    if (before.digests.relist !== plan.digests.relist) this.#relisting.request();
    const same = sameConnection(before, plan);
    // Whatever was changed may be what keeps an app from coming up: a longer start_timeout, restart switched on.
    if (!same || this.#current === null) this.#retries.reset();
    if (!same) endAll(this.#start, this.#waits);
    if (this.#current && sameConnection(this.#current.plan, plan)) {
      this.#current.plan = plan;
      // What was said of a change that did not come up is over once it is taken back.
      if (!same && this.state === "ready") this.#standing.set("ready", null);
    }
    this.#clock.nudge();
  }

  /** Takes over a plan that means the same as the one before; only what people are shown of it, such as its file, may differ. */
  adopt(plan: AppPlan): void {
    this.#plan = plan;
    if (this.#current && sameConnection(this.#current.plan, plan)) this.#current.plan = plan;
  }

  /** A person's restart: always tried, whatever the state. Resolves when the attempt is over, however it went. */
  async restart(): Promise<void> {
    const before = this.#finished;
    this.#forced = true;
    this.#retries.reset();
    this.#waits.end();
    this.#clock.nudge();
    const limit = AbortSignal.timeout(this.#plan.startTimeoutMs + this.#plan.drainTimeoutMs);
    while (this.#finished === before && this.#wanted && !limit.aborted) await this.#standing.change(limit, "the restart takes long").catch(() => undefined);
  }

  /**
   * Takes the app out: no new calls, running ones drain for up to `drainMs` (default: the app's own), and those that are cut off then are
   * told `why`. Resolves when no process is left.
   */
  async stop(drainMs?: number, why = TAKEN_OUT): Promise<void> {
    this.#wanted = false;
    this.#end = { drainMs: drainMs ?? this.#plan.drainTimeoutMs, why };
    endAll(this.#start, this.#waits);
    this.#drains.hurry(this.#end.drainMs, why);
    this.#clock.nudge();
    await this.#loop;
    await this.#drains.settled();
  }

  /**
   * The generation that serves calls. A parked app is woken; a starting one is waited for as long as `signal` allows. Rejects with a
   * {@link LinkError} kind `closed` when the app cannot be had.
   */
  async ready(signal: () => AbortSignal): Promise<Generation> {
    if (this.state === "parked") {
      this.#standing.nextAttempt = null;
      this.#standing.set("starting", "woken by a call");
      this.#clock.nudge();
    }
    while (!this.#current) {
      // A server that stops only to make room for its successor is waited for.
      if (this.state !== "starting" && !(this.state === "stopping" && this.#wanted)) throw this.#standing.unavailable();
      await this.#standing.change(signal(), `app ${this.package} is still starting`);
    }
    return this.#current;
  }

  async #run(): Promise<void> {
    while (this.#wanted) {
      try {
        await this.#step();
      } catch (error) {
        this.deps.log.error({ app: this.package, error: messageOf(error) }, "fault in the app's loop");
        await this.#clock.sleep(1_000);
      }
    }
    this.#relisting.cancel();
    await this.#takeDown();
  }

  /** One look at desired and actual state, and one action. */
  async #step(): Promise<void> {
    this.#clock.look();
    const plan = this.#plan;
    const current = this.#current;
    if (this.#crash !== null && current === null && !this.#forced) {
      const message = this.#crash;
      this.#crash = null;
      return this.#waitBeforeRetry(plan, message);
    }
    const settled = this.#retries.isHopeless(plan);
    if (this.#forced || (!settled && (current === null || !sameConnection(current.plan, plan)))) return this.#startNew(plan);
    if (current?.suspect === true) return this.#probe(current);
    if (current !== null && this.#relisting.take()) return this.#listAgain(current);
    const woken = await this.#clock.sleep(current === null ? null : PROBE_EVERY_MS);
    // A server that works on a call may be too busy to answer; if it hangs, the call's time-out tells.
    if (!woken && current !== null && this.#current === current && current.leases === 0) await this.#probe(current);
  }

  async #startNew(plan: AppPlan): Promise<void> {
    const old = this.#current;
    if (old && plan.handover === "stop_first") {
      this.#current = null;
      this.#standing.set("stopping", REPLACED);
      await this.#drains.makeRoom(old, "before");
      // The drain may have taken long; look again at what is wanted now.
      if (this.#plan !== plan) return;
    }
    this.#forced = false;
    if (this.#current === null) this.#standing.set("starting", null);
    try {
      const generation = await this.#bringUp(plan);
      if (generation === null) return;
      this.#finished += 1;
      this.#swapIn(generation);
    } catch (error) {
      this.#finished += 1;
      await this.#startFailed(plan, error);
    }
  }

  /** Brings a plan up; null when that became obsolete meanwhile, and then nothing of it is left. */
  async #bringUp(plan: AppPlan): Promise<Generation | null> {
    if (!this.#wanted) return null;
    const signal = this.#start.begin();
    try {
      const generation = await bringUp(plan, this.deps, signal);
      if (!signal.aborted) return generation;
      void this.#drains.letGo(generation, 0, "is no longer wanted like this");
      return null;
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }

  #swapIn(generation: Generation): void {
    const old = this.#current;
    const before = old?.listing ?? this.#lastListing;
    this.#current = generation;
    this.#lastGood = generation.plan;
    this.#crash = null;
    this.#lastListing = generation.listing;
    this.#downForAMoment = true;
    generation.restarts = this.#starts;
    this.#starts += 1;
    this.#standing.nextAttempt = null;
    generation.shared.onNotification((method, params) => this.#onNotification(method, params));
    generation.shared.onClosed((reason) => this.#onClosed(generation, reason));
    generation.onSessionLost = (message) => this.#lostSessions.hear(message, this.deps);
    generation.onSilence = () => this.#clock.nudge();
    this.#standing.set("ready", null);
    // The start is told last: whoever only follows the newest event of an app never takes one that runs for one that is down.
    if (old) void this.#drains.makeRoom(old, "beside");
    this.deps.events.onStarted(generation.life);
    if (before && listingDigest(before) !== listingDigest(generation.listing)) this.deps.events.onListed(before, generation.listing);
    if (generation.shared.closed) this.#onClosed(generation, diedAs("closed right after the start"));
  }

  async #startFailed(plan: AppPlan, error: unknown): Promise<void> {
    const message = messageOf(error);
    this.deps.log.error({ app: this.package, reason: message }, "app did not start");
    if (this.#current) {
      // The running generation stays: a broken change never takes down what works.
      this.#retries.giveUp(plan);
      this.#standing.set("ready", `the changed configuration did not start: ${message}; the running server was kept`);
      return;
    }
    if (this.#lastGood && !sameConnection(this.#lastGood, plan)) return this.#rollBack(this.#lastGood, plan, message);
    await this.#giveUpOrRetry(plan, message, canRetry(error));
  }

  /** The changed configuration does not come up and nothing runs any more: the one that last came up is started again. */
  async #rollBack(lastGood: AppPlan, plan: AppPlan, message: string): Promise<void> {
    this.#standing.set("starting", `the changed configuration did not start: ${message}; starting the old one again`);
    try {
      const generation = await this.#bringUp(lastGood);
      if (generation === null) return;
      this.#retries.giveUp(plan);
      this.#swapIn(generation);
      this.#standing.set("ready", `the changed configuration did not start: ${message}; the old one was started again`);
    } catch (error) {
      await this.#giveUpOrRetry(
        plan,
        `the changed configuration did not start: ${message}; starting the old one again failed too: ${messageOf(error)}`,
        canRetry(error),
      );
    }
  }

  async #giveUpOrRetry(plan: AppPlan, message: string, retry: boolean): Promise<void> {
    if (retry) return this.#waitBeforeRetry(plan, message);
    this.#retries.giveUp(plan);
    this.#downForAMoment = false;
    this.#standing.set("failed", message);
  }

  async #waitBeforeRetry(plan: AppPlan, message: string): Promise<void> {
    const { state, reason, delayMs } = this.#retries.next(plan, message, this.deps.random());
    if (state !== "backoff") this.#downForAMoment = false;
    this.#standing.nextAttempt = delayMs === null ? null : this.deps.clock.now() + delayMs;
    this.#standing.set(state, reason);
    if (delayMs !== null) await this.#clock.sleep(delayMs);
    this.#standing.nextAttempt = null;
  }

  #onNotification(method: string, params: JsonObject): void {
    this.#relisting.hear(method);
    this.deps.events.onNotification(method, params);
  }

  #onClosed(generation: Generation, reason: CloseReason): void {
    if (this.#current !== generation) return;
    this.#current = null;
    if (isHealthy(generation.startedAt, this.deps.clock.monotonic())) this.#retries.healthy();
    this.#drains.crashed(generation, reason.message);
    this.deps.events.onCrashed(generation.life, reason);
    this.#crash = reason.message;
    this.#retries.died();
    this.#standing.set("backoff", reason.message);
    this.#clock.nudge();
  }

  async #probe(generation: Generation): Promise<void> {
    this.#relisting.forget();
    generation.suspect = false;
    const alive = await this.#waits.during(() => generation.shared.alive(generation.plan.healthTimeoutMs));
    if (alive && isHealthy(generation.startedAt, this.deps.clock.monotonic())) this.#retries.healthy();
    if (alive !== false || this.#current !== generation) return;
    this.#onClosed(generation, diedAs(`gave no sign of life for ${formatDuration(generation.plan.healthTimeoutMs)}`));
    await generation.shared.close({ force: true });
  }

  async #listAgain(generation: Generation): Promise<void> {
    const before = await this.#waits.during((signal) => this.#relisting.read(generation, this.deps, signal));
    this.#lastListing = generation.listing;
    if (before === null || this.#current !== generation) return;
    this.deps.events.onListed(before, generation.listing);
    this.deps.events.onChange();
  }

  async #takeDown(): Promise<void> {
    const generation = this.#current;
    this.#current = null;
    this.#lastListing = null;
    this.#standing.set("stopping", null);
    if (generation) {
      this.deps.events.onStopping(generation.life, false);
      await this.#drains.letGo(generation, this.#end.drainMs, this.#end.why);
      this.deps.events.onStopped(generation.life, false);
    }
    this.#standing.set("stopped", null);
  }
}
