import { setMaxListeners } from "node:events";

/** One signal that aborts when any of several does. `release` takes the listeners off again, so that long-lived signals keep none. */
export interface JoinedSignal {
  readonly signal: AbortSignal;
  release(): void;
}

/** For calls that nobody can cancel. */
const NEVER = new AbortController().signal;

/** Calls `abort` when a signal does; gives what takes the listener off again. */
function listen(signal: AbortSignal, abort: () => void): () => void {
  const count = (listeners.get(signal) ?? 0) + 1;
  listeners.set(signal, count);
  // One listener for each running call is no leak; Node warns from the eleventh on.
  if (count === 10) setMaxListeners(0, signal);
  signal.addEventListener("abort", abort, { once: true });
  return () => {
    listeners.set(signal, listeners.get(signal)! - 1);
    signal.removeEventListener("abort", abort);
  };
}

/** How many of ours each signal has. */
const listeners = new WeakMap<AbortSignal, number>();

/** A signal that aborts as another does, and after a time. */
export function signalWithin(signal: AbortSignal, ms: number): JoinedSignal {
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  const stop = listen(signal, () => controller.abort(signal.reason));
  const timer = setTimeout(() => controller.abort(), ms);
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      stop();
    },
  };
}

/** Joins signals; undefined ones are left out. `AbortSignal.any` would hold on to long-lived signals in Node 20. */
export function joinSignals(signals: readonly (AbortSignal | undefined)[]): JoinedSignal {
  const present = signals.filter((s): s is AbortSignal => s !== undefined && s !== NEVER);
  // Nothing to join: making a signal is dear, and most calls bring none.
  if (present.length < 2) return { signal: present[0] ?? NEVER, release: () => {} };
  const controller = new AbortController();
  const aborted = present.find((s) => s.aborted);
  if (aborted) controller.abort(aborted.reason);
  const stops = present.map((source) => listen(source, () => controller.abort(source.reason)));
  return {
    signal: controller.signal,
    release() {
      for (const stop of stops) stop();
    },
  };
}
