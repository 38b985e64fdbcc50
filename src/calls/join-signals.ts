import { setMaxListeners } from "node:events";

/** One signal that aborts when any of several does. `release` takes the listeners off again, so that long-lived signals keep none. */
export interface JoinedSignal {
  readonly signal: AbortSignal;
  release(): void;
}

/** Joins signals; undefined ones are left out. `AbortSignal.any` would hold on to long-lived signals in Node 20. */
export function joinSignals(signals: readonly (AbortSignal | undefined)[]): JoinedSignal {
  const controller = new AbortController();
  const present = signals.filter((s) => s !== undefined);
  const aborted = present.find((s) => s.aborted);
  if (aborted) controller.abort(aborted.reason);
  const listeners = present.map((source) => {
    const abort = (): void => controller.abort(source.reason);
    // One listener for each running call is no leak.
    setMaxListeners(0, source);
    source.addEventListener("abort", abort, { once: true });
    return () => source.removeEventListener("abort", abort);
  });
  return {
    signal: controller.signal,
    release() {
      for (const stop of listeners) stop();
    },
  };
}
