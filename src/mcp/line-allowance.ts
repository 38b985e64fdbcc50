import type { Clock } from "../base/clock.ts";

/** Lets lines through at a bounded rate, after a burst, and counts what it held back. */
export class LineAllowance {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #filledAt: number;
  #heldBack = 0;

  constructor(clock: Clock, limits: { readonly burst: number; readonly perSecond: number }) {
    this.#clock = clock;
    this.#burst = limits.burst;
    this.#perSecond = limits.perSecond;
    this.#left = limits.burst;
    this.#filledAt = clock.monotonic();
  }

  /** Whether one more line may pass now. */
  take(): boolean {
    const now = this.#clock.monotonic();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#filledAt) / 1000) * this.#perSecond);
    this.#filledAt = now;
    if (this.#left < 1) {
      this.#heldBack += 1;
      return false;
    }
    this.#left -= 1;
    return true;
  }

  /** How many lines were held back since this was last asked. */
  takeHeldBack(): number {
    const count = this.#heldBack;
    this.#heldBack = 0;
    return count;
  }
}
