import { setMaxListeners } from "node:events";

/** What of an AbortSignal whoever can be cancelled needs. A real one fits. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A cancel signal with its switch, for what is made anew with every call: an AbortController with a listener costs more than a decision. */
export class CancelSource implements CancelSignal {
  /** The only listener, for most have one; a set of several. */
  #listeners: (() => void) | Set<() => void> | undefined;
  #aborted = false;
  #reason: unknown;

  get signal(): CancelSignal {
    return this;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** Tells every listener, once. */
  abort(reason: unknown = new DOMException("This operation was aborted", "AbortError")): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (typeof listeners === "function") listeners();
    else if (listeners !== undefined) for (const listener of listeners) listener();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    if (this.#aborted) return;
    if (this.#listeners === undefined) this.#listeners = listener;
    else if (typeof this.#listeners === "function") this.#listeners = new Set([this.#listeners, listener]);
    else this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    if (this.#listeners === listener) this.#listeners = undefined;
    else if (typeof this.#listeners === "object") this.#listeners.delete(listener);
  }
}

/** How many listeners of {@link onAbort} a signal has. */
const listening = new WeakMap<AbortSignal, number>();
/** Node warns of more listeners than this on one AbortSignal. */
const WARNED_LISTENERS = 10;

/** Calls `listener` once when a signal aborts; gives what takes it off again. Many calls may share one signal: that is no leak to be warned of. */
export function onAbort(signal: CancelSignal, listener: () => void): () => void {
  count(signal, 1);
  let live: (() => void) | undefined = listener;
  const tell = (): void => live?.();
  signal.addEventListener("abort", tell, { once: true });
  return () => {
    count(signal, -1);
    signal.removeEventListener("abort", tell);
    // A long-lived signal's list may be old memory, whose garbage holds on to young for a while: then not to all that the listener knows.
    live = undefined;
  };
}

function count(signal: CancelSignal, step: number): void {
  if (!(signal instanceof AbortSignal)) return;
  const now = (listening.get(signal) ?? 0) + step;
  listening.set(signal, now);
  if (now === WARNED_LISTENERS) setMaxListeners(0, signal);
}
