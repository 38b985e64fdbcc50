import { LinkError } from "./ports.ts";

/** Lets callers wait for the next change of something. */
export class Changes {
  #waiting: (() => void)[] = [];

  /** Wakes everyone who waits. */
  tell(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves at the next change; rejects with a LinkError kind `timeout` when the signal aborts first. */
  next(signal: AbortSignal, message: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const stop = (): void => {
        this.#waiting = this.#waiting.filter((w) => w !== go);
        reject(new LinkError("timeout", message));
      };
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting.push(go);
    });
  }
}
