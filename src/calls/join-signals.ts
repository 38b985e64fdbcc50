import { setMaxListeners } from "node:events";

/** One signal that aborts when any of several does. `release` takes the listeners off again, so that long-lived signals keep none. */
export interface JoinedSignal {
  readonly signal: AbortSignal;
  release(): void;
}

/** For calls that nobody can cancel. */
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

/** Joins signals; undefined ones are left out. `AbortSignal.any` would hold on to long-lived signals in Node 20. */
export function joinSignals(signals: readonly (AbortSignal | undefined)[]): JoinedSignal {
  const present = signals.filter((s): s is AbortSignal => s !== undefined && s !== NEVER);
  // Nothing to join: making a signal is dear, and most calls bring none.
  if (present.length < 2) return { signal: present[0] ?? NEVER, release: () => {} };
  const controller = new AbortController();
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
