/** Puts bursts together: runs once after `quietMs` without a new request, and at the latest `maxMs` after the first. */
export interface Debounce {
  request(): void;
  cancel(): void;
}

/** Makes a debounce for one function. The timers do not keep the process alive. */
export function debounce(run: () => void, quietMs: number, maxMs: number): Debounce {
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
      timer = setTimeout(fire, Math.max(0, Math.min(quietMs, first + maxMs - now)));
      timer.unref();
    },
    cancel() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
