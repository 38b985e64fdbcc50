import { formatDuration } from "../base/durations.ts";
import type { AppRunnerDeps } from "./bring-up.ts";
import { Changes } from "./changes.ts";
import { LinkError } from "./ports.ts";
import { whyDown, type AppState } from "./snapshot.ts";

/** Where one app stands and why, and who waits for a change of it. */
export class Standing {
  readonly #app: string;
  readonly #deps: Pick<AppRunnerDeps, "clock" | "mask" | "events">;
  readonly #changes = new Changes();
  #state: AppState = "starting";
  #reason: string | null = null;
  /** Wall-clock milliseconds of the next attempt, while one is waited for. */
  nextAttempt: number | null = null;

  constructor(app: string, deps: Pick<AppRunnerDeps, "clock" | "mask" | "events">) {
    this.#app = app;
    this.#deps = deps;
  }

  get state(): AppState {
    return this.#state;
  }
  /** Why the app stands where it does, with the time to the next attempt. */
  get reason(): string | null {
    const left = this.#left();
    return this.#reason === null || left === null ? this.#reason : `${this.#reason}; next attempt in ${formatDuration(left)}`;
  }

  set(state: AppState, why: string | null): void {
    const reason = why === null ? null : this.#deps.mask(why);
    const changed = state !== this.#state || reason !== this.#reason;
    this.#state = state;
    this.#reason = reason;
    this.#changes.tell();
    if (changed || state === "ready") this.#deps.events.onChange();
  }

  /** Resolves at the next change; rejects as {@link Changes.next} does. */
  change(signal: AbortSignal, message: string): Promise<void> {
    return this.#changes.next(signal, message);
  }

  /** Why no call can be made now. */
  unavailable(): LinkError {
    const left = this.#left();
    return new LinkError("closed", whyDown(this.#app, this.#state, this.reason), left === null ? {} : { retryAfterMs: left });
  }

  #left(): number | null {
    return this.nextAttempt === null ? null : Math.max(0, this.nextAttempt - this.#deps.clock.now());
  }
}
