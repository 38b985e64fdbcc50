/** Puts bursts together: runs once after a quiet time without a new request, and at the latest some time after the first. */
export interface Debounce {
  request(): void;
  cancel(): void;
}

/** Makes a debounce for one function; `quietMs` may be asked anew at each request, and may be longer than `maxMs` then. The timers do not keep the process alive. */
export function debounce(run: () => void, quietMs: number | (() => number), maxMs: number): Debounce {
  let timer: NodeJS.Timeout | undefined;
  let first = 0;
  const fire = (): void => {
    timer = undefined;
    run();
  };
  return {
    request() {
      const now = performance.now();
      if (timer === undefined) first = now;
      else clearTimeout(timer);
      const quiet = typeof quietMs === "number" ? quietMs : quietMs();
      timer = setTimeout(fire, Math.max(0, Math.min(quiet, first + Math.max(quiet, maxMs) - now)));
      timer.unref();
    },
    cancel() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
