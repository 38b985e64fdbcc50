/** Runs one reload at a time; requests that come meanwhile are put together into one more run, and all of them get its result. */
export interface ReloadLoop<T> {
  request(): Promise<T>;
  /** Resolves when nothing runs and nothing waits. */
  settled(): Promise<void>;
}

/** Makes a loop around one function. A throw of the function rejects the requests of that run and stops nothing. */
export function createReloadLoop<T>(run: () => Promise<T>): ReloadLoop<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  const start = (): Promise<T> => {
    const work = run().finally(() => {
      if (running === work) running = null;
    });
    running = work;
    return work;
  };
  return {
    request() {
      if (!running) return start();
      next ??= running
        .catch(() => undefined)
        .then(() => {
          next = null;
          return start();
        });
      return next;
    },
    async settled() {
      for (let work = next ?? running; work; work = next ?? running) await work.catch(() => undefined);
    },
  };
}
