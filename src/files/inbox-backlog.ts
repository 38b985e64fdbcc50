import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { makeRoom } from "./inbox-folder.ts";

/** What a {@link Backlog} works with. */
export interface BacklogOptions {
  readonly maxPending: number;
  /** Events that were in the folder at the start. */
  readonly pending: number;
  readonly clock: Clock;
  /** Told in plain words when there is too much, and when room was made. */
  readonly problem: (message: string) => void;
}

const LOOK_EVERY_MS = 1000;
/** What was written while the folder was read may be counted or not; then the next look comes sooner. */
const LOOK_AGAIN_MS = 100;

/** How many events readers have left in an inbox folder: counted now and then, with room made when it is too much. */
export class Backlog {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #problem: (message: string) => void;
  #maxPending: number;
  #pending: number;
  #trouble: string | null = null;
  #nextLookAt = -Infinity;
  #looking: Promise<void> | null = null;
  #addedMeanwhile = false;
  #closed = false;

  constructor(dir: string, options: BacklogOptions) {
    this.#dir = dir;
    this.#clock = options.clock;
    this.#problem = options.problem;
    this.#maxPending = options.maxPending;
    this.#pending = options.pending;
  }

  /** As last counted, and what was written since. */
  get pending(): number {
    return this.#pending;
  }

  /** Why the inbox is in trouble although it can be written; null when it is not. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** One event has its name in the folder. */
  add(): void {
    this.#pending += 1;
    this.#addedMeanwhile = true;
    this.lookSoon();
  }

  configure(maxPending: number): void {
    this.#maxPending = maxPending;
    this.#nextLookAt = -Infinity;
    this.lookSoon();
  }

  /** Looks through the folder, unless that was done a moment ago. */
  lookSoon(): void {
    const start = this.#clock.monotonic();
    if (this.#looking || this.#closed || start < this.#nextLookAt) return;
    this.#addedMeanwhile = false;
    this.#looking = this.#look().finally(() => {
      const end = this.#clock.monotonic();
      // Looking through a large folder takes time; it may take a twentieth of it.
      this.#nextLookAt = end + Math.max(this.#addedMeanwhile ? LOOK_AGAIN_MS : LOOK_EVERY_MS, (end - start) * 20);
      this.#looking = null;
    });
  }

  /** Resolves when no look is under way, and begins none any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#looking;
  }

  async #look(): Promise<void> {
    try {
      const { pending, moved } = await makeRoom(this.#dir, this.#maxPending, this.#clock.now());
      this.#pending = pending;
      this.#trouble = pending > this.#maxPending ? `${pending} events are pending, over max_pending ${this.#maxPending}; is the reader running?` : null;
      if (moved > 0)
        this.#problem(`inbox held more than ${this.#maxPending} events: ${moved} expired events or receipts went to dead/; is the reader running?`);
    } catch (error) {
      this.#problem(`inbox: ${this.#dir} cannot be looked through: ${messageOf(error)}`);
    }
  }
}
