import { CancelSource, onAbort, type CancelSignal } from "../base/cancel-signal.ts";

/** One signal that aborts when any of several does. `release` takes the listeners off again, so that long-lived signals keep none. */
export interface JoinedSignal<S extends CancelSignal = CancelSignal> {
  readonly signal: S;
  release(): void;
}

/** For calls that nobody can cancel. */
const NEVER: CancelSignal = new CancelSource();
const UNJOINED: JoinedSignal = { signal: NEVER, release() {} };

/** A real AbortSignal that aborts as another does, where there is one, and after a time. */
export function signalWithin(signal: CancelSignal | undefined, ms: number): JoinedSignal<AbortSignal> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  const stop = signal && onAbort(signal, abort);
  const timer = setTimeout(() => controller.abort(), ms);
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      stop?.();
    },
  };
}

/** Joins signals; undefined ones are left out. `AbortSignal.any` would hold on to long-lived signals in Node 20. */
export function joinSignals(signals: readonly (CancelSignal | undefined)[]): JoinedSignal {
  const present = signals.filter((s): s is CancelSignal => s !== undefined && s !== NEVER);
  // Most calls bring none that needs joining.
  if (present.length === 0) return UNJOINED;
  if (present.length === 1) return { signal: present[0]!, release: () => {} };
  const joined = new CancelSource();
  const aborted = present.find((s) => s.aborted);
  if (aborted) joined.abort(aborted.reason);
  const stops = present.map((source) => onAbort(source, () => joined.abort(source.reason)));
  return {
    signal: joined,
    release() {
      for (const stop of stops) stop();
    },
  };
}
