import type { AppPlan } from "../plan/types.ts";
import { nextRetry } from "./backoff.ts";
import { connectionKey } from "./bring-up.ts";

/** What follows a failed start or a death. `delayMs` null: nothing by itself. */
export interface NextStep {
  readonly state: "failed" | "backoff" | "parked";
  readonly reason: string;
  readonly delayMs: number | null;
}

/** One app's memory of attempts: one back-off for every reason, and what must not be tried again. */
export class Retries {
  #attempts = 0;
  /** The connection fields of a plan that trying again cannot mend. */
  #hopeless: string | null = null;

  /** The app has been healthy, or a person or a new configuration asks: count from nothing, try everything. */
  reset(): void {
    this.#attempts = 0;
    this.#hopeless = null;
  }

  /** The server was up long enough: only the count starts anew. */
  healthy(): void {
    this.#attempts = 0;
  }

  /** A death of what ran: whatever could not be started beside it may be tried again. */
  died(): void {
    this.#hopeless = null;
  }

  /** Whether this plan must not be tried by itself. */
  isHopeless(plan: AppPlan): boolean {
    return this.#hopeless === connectionKey(plan);
  }

  /** Trying this plan again cannot mend it. */
  giveUp(plan: AppPlan): void {
    this.#hopeless = connectionKey(plan);
  }

  /** Uses up one attempt and says what comes next; `random` is 0 to 1. */
  next(plan: AppPlan, message: string, random: number): NextStep {
    if (!plan.restart.enabled) {
      this.giveUp(plan);
      return { state: "failed", reason: `${message}; restart is switched off`, delayMs: null };
    }
    const step = nextRetry(this.#attempts, plan.restart, random);
    this.#attempts += 1;
    return { state: step.kind === "park" ? "parked" : "backoff", reason: message, delayMs: step.delayMs };
  }
}
