import type { AppRunnerEvents } from "./bring-up.ts";
import type { Generation } from "./generation.ts";
import { LinkError } from "./ports.ts";

/** Why a call is cut off when its app is no longer configured. */
export const TAKEN_OUT = "was taken out of the configuration";
/** Why a call is cut off when the host stops. */
export const HOST_STOPS = "ended, for the host stopped";
/** Why a call is cut off when its server makes room for a new one. */
export const REPLACED = "was replaced by a new configuration";

/** The generations of one app that are on their way out. */
export class Drains {
  readonly #app: string;
  readonly #running = new Map<Generation, Promise<void>>();

  readonly #events: Pick<AppRunnerEvents, "onStopping" | "onStopped" | "onReplaced">;

  constructor(app: string, events: Pick<AppRunnerEvents, "onStopping" | "onStopped" | "onReplaced">) {
    this.#app = app;
    this.#events = events;
  }

  /**
   * Lets a generation go for its successor, and tells its end: as a stop of the app when it goes `before` the successor starts, else as
   * the end of an old process `beside` the new one.
   */
  async makeRoom(old: Generation, when: "before" | "beside"): Promise<void> {
    this.#events.onStopping(old.life, true);
    await this.letGo(old, old.plan.drainTimeoutMs, REPLACED);
    if (when === "before") this.#events.onStopped(old.life, true);
    else this.#events.onReplaced(old.life);
  }

  /**
   * Lets a generation's calls finish and ends it; asked again with less time, it ends sooner. `why` completes "app x …" for the calls
   * that are cut off; `sent` says that the server may have acted on them.
   */
  letGo(generation: Generation, drainMs: number, why: string, sent = false): Promise<void> {
    const drain = generation.drain(drainMs, new LinkError("closed", `app ${this.#app} ${why}`, sent || why === HOST_STOPS ? { sent: true } : {}));
    this.#running.set(generation, drain);
    void drain.finally(() => this.#running.delete(generation));
    return drain;
  }

  /** The shared connection of a generation is gone: its calls are cut off at once, those of sessions may finish. */
  crashed(generation: Generation, why: string): void {
    generation.sharedLost(new LinkError("closed", `app ${this.#app} ${why}`, { sent: true }));
    void this.letGo(generation, generation.plan.drainTimeoutMs, why, true);
  }

  /** None of them takes longer than this from now on. */
  hurry(drainMs: number, why: string): void {
    for (const generation of this.#running.keys()) void this.letGo(generation, drainMs, why);
  }

  /** Resolves when all have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }
}
