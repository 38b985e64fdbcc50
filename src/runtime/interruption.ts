/** Lets a loop do what may take very long, and others end it. */
export class Interruption {
  #current = new AbortController();

  /** Something begins that lasts until it is over or this is ended: the signal says. */
  begin(): AbortSignal {
    this.#current = new AbortController();
    return this.#current.signal;
  }

  /** What `wait` gives; null when it was ended first, and then its signal is aborted and whatever becomes of it is dropped. */
  async during<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const signal = this.begin();
    const ended = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null)));
    const waiting = wait(signal);
    waiting.catch(() => undefined);
    return await Promise.race([waiting, ended]);
  }

  /** Ends what goes on; nothing when it is over. */
  end(): void {
    this.#current.abort(new Error("something else is wanted now"));
  }
}

/** Ends all of them. */
export function endAll(...interruptions: readonly Interruption[]): void {
  for (const interruption of interruptions) interruption.end();
}
