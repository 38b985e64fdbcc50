import { formatDuration } from "../base/durations.ts";
import { messageOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { AppPlan } from "../plan/types.ts";
import type { AppListing } from "../tools/types.ts";
import { bringUp, sameConnection, type AppRunnerDeps } from "./bring-up.ts";
import { HEALTHY_UPTIME_MS } from "./backoff.ts";
import { Changes } from "./changes.ts";
import { debounce } from "./debounce.ts";
import type { Generation } from "./generation.ts";
import { listingDigest } from "./listing-digest.ts";
import { whyDown, type AppState } from "./snapshot.ts";
import { Retries } from "./retries.ts";
import { LinkError, StartError, type CloseReason, type Connection } from "./ports.ts";

const REPLACED = "was replaced by a new configuration";
const GONE = "was taken out of the configuration";

/** After the last `list_changed` of a burst, and at the latest after its first, the lists are read again. */
const RELIST_QUIET_MS = 250;
const RELIST_WITHIN_MS = 2_000;
/** A server that says so after every reading, with nothing changed, is asked no more often than this. */
const LONGEST_QUIET_MS = 30_000;

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
  #state: AppState = "starting";
  #reason: string | null = null;
  #current: Generation | null = null;
  /** The plan that last came up: what is started again when a later one does not. */
  #lastGood: AppPlan | null = null;
  #lastListing: AppListing | null = null;
  /** Whether the last listing still counts while nothing runs: in a moment's back-off, but not once the app is parked or failed. */
  #downForAMoment = false;
  readonly #retries = new Retries();
  #restarts = 0;
  /** Start attempts that are over. */
  #finished = 0;
  #starts = 0;
  #nextAttempt: number | null = null;
  #forced = false;
  #relist = false;
  #starting: AbortController | null = null;
  /** Why the running generation died, until the back-off has been told. */
  #crash: string | null = null;
  #wake: (() => void) | null = null;
  #nudged = false;
  /** Generations on their way out. */
  readonly #drains = new Map<Generation, Promise<void>>();
  readonly #changes = new Changes();
  #loop: Promise<void> | null = null;
  #drainMs: number | null = null;
  /** Times in a row that the server said its lists had changed when they had not. */
  #falseAlarms = 0;
  readonly #relistSoon = debounce(() => this.#requestRelist(), () => Math.min(RELIST_QUIET_MS * 2 ** this.#falseAlarms, LONGEST_QUIET_MS), RELIST_WITHIN_MS);

  constructor(plan: AppPlan, deps: AppRunnerDeps) {
    this.package = plan.package;
    this.#plan = plan;
    this.deps = deps;
  }

  get plan(): AppPlan {
    return this.#plan;
  }
  get state(): AppState {
    return this.#state;
  }
  /** Why the app stands where it does, with the time to the next attempt. */
  get reason(): string | null {
    if (this.#reason === null || this.#nextAttempt === null) return this.#reason;
    return `${this.#reason}; next attempt in ${formatDuration(Math.max(0, this.#nextAttempt - this.deps.clock.now()))}`;
  }
  get restarts(): number {
    return this.#restarts;
  }
  /** Wall-clock milliseconds of the next attempt, while one is waited for. */
  get nextAttempt(): number | null {
    return this.#nextAttempt;
  }
  get connection(): Connection | null {
    return this.#current?.shared ?? null;
  }
  get calls(): number {
    return this.#current?.leases ?? 0;
  }
  /** What the server shows; kept while it is being restarted (contracts 4), gone when the app is parked, failed or stopped. */
  get listing(): AppListing | null {
    if (this.#current) return this.#current.listing;
    return this.#downForAMoment && (this.#state === "backoff" || this.#state === "starting") ? this.#lastListing : null;
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
    if (before.digests.relist !== plan.digests.relist) this.#relist = true;
    const same = sameConnection(before, plan);
    // Whatever was changed may be what keeps an app from coming up: a longer start_timeout, restart switched on.
    if (!same || this.#current === null) this.#retries.reset();
    if (!same) this.#starting?.abort(new Error("the configuration changed again"));
    if (this.#current && sameConnection(this.#current.plan, plan)) {
      this.#current.plan = plan;
      // What was said of a change that did not come up is over once it is taken back.
      if (!same && this.#state === "ready") this.#set("ready", null);
    }
    this.#nudge();
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
    this.#nudge();
    const limit = AbortSignal.timeout(this.#plan.startTimeoutMs + this.#plan.drainTimeoutMs);
    while (this.#finished === before && this.#wanted && !limit.aborted) await this.#changes.next(limit, "the restart takes long").catch(() => undefined);
  }

  /** Reads the catalogue again. */
  relist(): void {
    this.#requestRelist();
  }

  /** Takes the app out: no new calls, running ones drain for up to `drainMs` (default: the app's own). Resolves when no process is left. */
  async stop(drainMs?: number): Promise<void> {
    this.#wanted = false;
    this.#drainMs = drainMs ?? this.#plan.drainTimeoutMs;
    this.#starting?.abort(new Error("the app is being stopped"));
    for (const generation of this.#drains.keys()) void this.#letGo(generation, this.#drainMs, GONE);
    this.#nudge();
    await this.#loop;
    await Promise.allSettled(this.#drains.values());
  }

  /**
   * The generation that serves calls. A parked app is woken; a starting one is waited for as long as `signal` allows. Rejects with a
   * {@link LinkError} kind `closed` when the app cannot be had.
   */
  async ready(signal: AbortSignal): Promise<Generation> {
    if (this.#state === "parked") {
      this.#nextAttempt = null;
      this.#set("starting", "woken by a call");
      this.#nudge();
    }
    while (!this.#current) {
      // A server that stops only to make room for its successor is waited for.
      if (this.#state !== "starting" && !(this.#state === "stopping" && this.#wanted)) throw this.#unavailable();
      await this.#changes.next(signal, `app ${this.package} is still starting`);
    }
    return this.#current;
  }

  #unavailable(): LinkError {
    const left = this.#nextAttempt === null ? null : Math.max(0, this.#nextAttempt - this.deps.clock.now());
    return new LinkError("closed", whyDown(this.package, this.#state, this.reason), left === null ? {} : { retryAfterMs: left });
  }

  /** A calling session has gone: its own connection, where it had one, is closed. */
  endSession(scope: string): void {
    void this.#current?.closeSession(scope);
  }

  async #run(): Promise<void> {
    while (this.#wanted) {
      try {
        await this.#step();
      } catch (error) {
        this.deps.log.error({ app: this.package, error: messageOf(error) }, "fault in the app's loop");
        await this.#sleep(1_000);
      }
    }
    this.#relistSoon.cancel();
    await this.#takeDown();
  }

  /** One look at desired and actual state, and one action. */
  async #step(): Promise<void> {
    this.#nudged = false;
    const plan = this.#plan;
    const current = this.#current;
    if (this.#crash !== null && current === null && !this.#forced) {
      const message = this.#crash;
      this.#crash = null;
      return this.#waitBeforeRetry(plan, message);
    }
    const settled = this.#retries.isHopeless(plan);
    if (this.#forced || (!settled && (current === null || !sameConnection(current.plan, plan)))) return this.#startNew(plan);
    if (current !== null && this.#relist) {
      this.#relist = false;
      return this.#listAgain(current);
    }
    const woken = await this.#sleep(current === null ? null : PROBE_EVERY_MS);
    if (!woken && current !== null && this.#current === current) await this.#probe(current);
  }

  async #startNew(plan: AppPlan): Promise<void> {
    if (this.#current && plan.handover === "stop_first") {
      await this.#retire(this.#current, REPLACED);
      // The drain may have taken long; look again at what is wanted now.
      if (this.#plan !== plan) return;
    }
    this.#forced = false;
    if (this.#current === null) this.#set("starting", null);
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
    const abort = new AbortController();
    this.#starting = abort;
    try {
      const generation = await bringUp(plan, this.deps, abort.signal);
      if (!abort.signal.aborted) return generation;
      void this.#letGo(generation, 0, "is no longer wanted like this");
      return null;
    } catch (error) {
      if (abort.signal.aborted) return null;
      throw error;
    } finally {
      this.#starting = null;
    }
  }

  #swapIn(generation: Generation): void {
    const { events } = this.deps;
    const old = this.#current;
    const before = old?.listing ?? this.#lastListing;
    this.#current = generation;
    this.#lastGood = generation.plan;
    this.#crash = null;
    this.#lastListing = generation.listing;
    this.#downForAMoment = true;
    this.#starts += 1;
    this.#restarts = this.#starts - 1;
    this.#nextAttempt = null;
    generation.shared.onNotification((method, params) => this.#onNotification(method, params));
    generation.shared.onClosed((reason) => this.#onClosed(generation, reason));
    this.#set("ready", null);
    events.onStarted(this.#restarts);
    if (before && listingDigest(before) !== listingDigest(generation.listing)) events.onListed(before, generation.listing);
    if (old) void this.#letGo(old, old.plan.drainTimeoutMs, REPLACED);
    if (generation.shared.closed) this.#onClosed(generation, { planned: false, message: "closed right after the start", exitCode: null, signal: null, stderrTail: [] });
  }

  async #startFailed(plan: AppPlan, error: unknown): Promise<void> {
    const message = messageOf(error);
    this.deps.log.error({ app: this.package, reason: message }, "app did not start");
    if (this.#current) {
      // The running generation stays: a broken change never takes down what works.
      this.#retries.giveUp(plan);
      this.#set("ready", `the changed configuration did not start: ${message}; the running server was kept`);
      return;
    }
    if (this.#lastGood && !sameConnection(this.#lastGood, plan)) return this.#rollBack(this.#lastGood, plan, message);
    await this.#giveUpOrRetry(plan, message, !isHopeless(error));
  }

  /** The changed configuration does not come up and nothing runs any more: the one that last came up is started again. */
  async #rollBack(lastGood: AppPlan, plan: AppPlan, message: string): Promise<void> {
    this.#set("starting", `the changed configuration did not start: ${message}; starting the old one again`);
    try {
      const generation = await this.#bringUp(lastGood);
      if (generation === null) return;
      this.#retries.giveUp(plan);
      this.#swapIn(generation);
      this.#set("ready", `the changed configuration did not start: ${message}; the old one was started again`);
    } catch (error) {
      await this.#giveUpOrRetry(plan, `the changed configuration did not start: ${message}; starting the old one again failed too: ${messageOf(error)}`, !isHopeless(error));
    }
  }

  async #giveUpOrRetry(plan: AppPlan, message: string, retry: boolean): Promise<void> {
    if (retry) return this.#waitBeforeRetry(plan, message);
    this.#retries.giveUp(plan);
    this.#downForAMoment = false;
    this.#set("failed", message);
  }

  async #waitBeforeRetry(plan: AppPlan, message: string): Promise<void> {
    const { state, reason, delayMs } = this.#retries.next(plan, message, this.deps.random());
    if (state !== "backoff") this.#downForAMoment = false;
    this.#nextAttempt = delayMs === null ? null : this.deps.clock.now() + delayMs;
    this.#set(state, reason);
    if (delayMs !== null) await this.#sleep(delayMs);
    this.#nextAttempt = null;
  }

  #onNotification(method: string, params: JsonObject): void {
    if (method === "notifications/tools/list_changed" || method === "notifications/resources/list_changed" || method === "notifications/prompts/list_changed") this.#relistSoon.request();
    this.deps.events.onNotification(method, params);
  }

  #onClosed(generation: Generation, reason: CloseReason): void {
    if (this.#current !== generation) return;
    this.#current = null;
    const healthy = this.deps.clock.monotonic() - generation.startedAt >= HEALTHY_UPTIME_MS;
    if (healthy) this.#retries.healthy();
    void this.#letGo(generation, 0, reason.message, true);
    this.deps.events.onCrashed(reason);
    this.#crash = reason.message;
    this.#retries.died();
    this.#set("backoff", reason.message);
    this.#nudge();
  }

  /** Sleeps until nudged (true) or for `ms` (false; null is without end). A nudge since the last look counts at once. */
  async #sleep(ms: number | null): Promise<boolean> {
    if (this.#nudged) return true;
    let timer: NodeJS.Timeout | undefined;
    const woken = await new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(true);
      if (ms !== null) timer = setTimeout(() => resolve(false), ms);
    });
    this.#wake = null;
    clearTimeout(timer);
    return woken;
  }

  async #probe(generation: Generation): Promise<void> {
    this.#falseAlarms = 0;
    if (await generation.shared.alive(generation.plan.healthTimeoutMs)) {
      if (this.deps.clock.monotonic() - generation.startedAt >= HEALTHY_UPTIME_MS) this.#retries.healthy();
      return;
    }
    if (this.#current !== generation) return;
    this.#onClosed(generation, { planned: false, message: `gave no sign of life for ${formatDuration(generation.plan.healthTimeoutMs)}`, exitCode: null, signal: null, stderrTail: [] });
    await generation.shared.close({ force: true });
  }

  #requestRelist(): void {
    this.#relist = true;
    this.#nudge();
  }

  async #listAgain(generation: Generation): Promise<void> {
    try {
      const after = this.deps.cleanListing(await generation.shared.list({ timeoutMs: generation.plan.startTimeoutMs, maxTotalMs: generation.plan.startTimeoutMs }));
      const before = generation.listing;
      generation.listing = after;
      this.#lastListing = after;
      const changed = listingDigest(before) !== listingDigest(after);
      this.#falseAlarms = changed ? 0 : Math.min(this.#falseAlarms + 1, 10);
      if (this.#current === generation && changed) {
        this.deps.events.onListed(before, after);
        this.deps.events.onChange();
      }
    } catch (error) {
      this.deps.events.onProtocolError(`reading the catalogue again failed: ${messageOf(error)}`);
    }
  }

  async #retire(generation: Generation, why: string): Promise<void> {
    this.#current = null;
    this.#set("stopping", why);
    await this.#letGo(generation, generation.plan.drainTimeoutMs, why);
  }

  async #takeDown(): Promise<void> {
    const generation = this.#current;
    this.#current = null;
    this.#lastListing = null;
    this.#set("stopping", null);
    if (generation) {
      this.deps.events.onStopping();
      await this.#letGo(generation, this.#drainMs ?? 0, GONE);
      this.deps.events.onStopped({ planned: true, message: "stopped", exitCode: null, signal: null, stderrTail: [] });
    }
    this.#set("stopped", null);
  }

  /** Lets a generation's calls finish and ends it; asked again with less time, it ends sooner. `why` completes "app x …" for the calls that are cut off. */
  #letGo(generation: Generation, drainMs: number, why: string, sent = false): Promise<void> {
    const drain = generation.drain(drainMs, new LinkError("closed", `app ${this.package} ${why}`, sent ? { sent } : {}));
    this.#drains.set(generation, drain);
    void drain.finally(() => this.#drains.delete(generation));
    return drain;
  }

  #set(state: AppState, why: string | null): void {
    const reason = why === null ? null : this.deps.mask(why);
    const changed = state !== this.#state || reason !== this.#reason;
    this.#state = state;
    this.#reason = reason;
    this.#changes.tell();
    if (changed || state === "ready") this.deps.events.onChange();
  }

  #nudge(): void {
    this.#nudged = true;
    this.#wake?.();
  }
}

/** Whether trying again cannot help. */
function isHopeless(error: unknown): boolean {
  return error instanceof StartError && !error.retry;
}
