import { messageOf } from "../base/errors.ts";
import type { AppListing } from "../tools/types.ts";
import type { AppRunnerDeps } from "./bring-up.ts";
import { listWithin } from "./list-within.ts";
import { debounce } from "./debounce.ts";
import type { Generation } from "./generation.ts";
import { listingDigest } from "./listing-digest.ts";

/** After the last `list_changed` of a burst, and at the latest after its first, the lists are read again. */
const QUIET_MS = 250;
const WITHIN_MS = 2_000;
/** A server that says so after every reading, with nothing changed, is asked no more often than this. */
const LONGEST_QUIET_MS = 30_000;
const CHANGED: ReadonlySet<string> = new Set([
  "notifications/tools/list_changed",
  "notifications/resources/list_changed",
  "notifications/prompts/list_changed",
]);

/** Decides when an app's lists are read again, and reads them. `wake` tells the loop that they should be. */
export class Relisting {
  readonly #wake: () => void;
  #due = false;
  /** Times in a row that the server said its lists had changed when they had not. */
  #falseAlarms = 0;
  readonly #soon = debounce(
    () => this.request(),
    () => Math.min(QUIET_MS * 2 ** this.#falseAlarms, LONGEST_QUIET_MS),
    WITHIN_MS,
  );

  constructor(wake: () => void) {
    this.#wake = wake;
  }

  /** At the next look of the loop. */
  request(): void {
    this.#due = true;
    this.#wake();
  }

  /** A notification of the server; a `list_changed` is followed once things are quiet. */
  hear(method: string): void {
    if (CHANGED.has(method)) this.#soon.request();
  }

  /** Whether the lists should be read now; asks once. */
  take(): boolean {
    const due = this.#due;
    this.#due = false;
    return due;
  }

  /**
   * Reads a generation's lists again. Gives what it showed before when it shows something else now; null when it does not, or when the
   * reading failed, which is told, or was given up.
   */
  async read(generation: Generation, deps: Pick<AppRunnerDeps, "cleanListing" | "events">, signal: AbortSignal): Promise<AppListing | null> {
    const before = generation.listing;
    try {
      const listing = await listWithin(generation.shared, generation.plan.startTimeoutMs, signal);
      if (signal.aborted) return null;
      generation.listing = deps.cleanListing(listing);
    } catch (error) {
      if (signal.aborted) return null;
      deps.events.onProtocolError(`reading the catalogue again failed: ${messageOf(error)}`);
      return null;
    }
    const changed = listingDigest(before) !== listingDigest(generation.listing);
    this.#falseAlarms = changed ? 0 : Math.min(this.#falseAlarms + 1, 10);
    return changed ? before : null;
  }

  /** The server has been quiet for long. */
  forget(): void {
    this.#falseAlarms = 0;
  }

  cancel(): void {
    this.#soon.cancel();
  }
}
