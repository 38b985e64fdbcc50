/** How long a start may hold a place; a mute server then stops blocking the others (contracts 2). */
const HOLD_MS = 5_000;

/** Lets only so many servers start at the same time; the others wait in order. */
export interface StartGate {
  /** Waits for a place and gives a function that frees it; it frees itself after a few seconds. Rejects when the signal aborts first. */
  enter(signal: AbortSignal): Promise<() => void>;
  setLimit(limit: number): void;
}

/** Makes a gate for `limit` starts at once. */
export function createStartGate(limit: number): StartGate {
  let max = limit;
  let inside = 0;
  const queue: (() => void)[] = [];
  const admit = (): void => {
    const free = Math.max(0, max - inside);
    for (const turn of queue.splice(0, free)) turn();
  };
  const take = (): (() => void) => {
    inside += 1;
    let held = true;
    const leave = (): void => {
      if (!held) return;
      held = false;
      clearTimeout(timer);
      inside -= 1;
      admit();
    };
    const timer = setTimeout(leave, HOLD_MS);
    timer.unref();
    return leave;
  };
  return {
    enter(signal) {
      if (signal.aborted) return Promise.reject(abortReason(signal));
      if (inside < max) return Promise.resolve(take());
      return new Promise((resolve, reject) => {
        const turn = (): void => {
          signal.removeEventListener("abort", giveUp);
          resolve(take());
        };
        const giveUp = (): void => {
          queue.splice(queue.indexOf(turn), 1);
          reject(abortReason(signal));
        };
        signal.addEventListener("abort", giveUp, { once: true });
        queue.push(turn);
      });
    },
    setLimit(next) {
      max = next;
      admit();
    },
  };
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error("given up");
}
