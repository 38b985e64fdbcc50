import { MAX_TIMER_MS } from "../base/durations.ts";
import type { CancelSignal } from "../base/cancel-signal.ts";
import type { JsonObject } from "../base/json.ts";
import { LinkError } from "../runtime/ports.ts";
import type { Progress } from "../runtime/ports.ts";

/** A request that has no answer yet. */
export interface Pending {
  readonly method: string;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: LinkError) => void;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly startedAt: number;
  readonly idleMs: number;
  readonly totalMs: number;
  readonly suspectsAtStart: number;
  /** Takes the listener off the caller's signal again. */
  unlisten: (() => void) | undefined;
  heardAt: number;
  /** When to look whether it is over. */
  dueAt: number;
}

/** How long a request may take when nobody says. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** Why a caller gave up, in words for the server. */
export function reasonOf(signal: CancelSignal): string {
  const reason: unknown = signal.reason;
  if (reason instanceof Error) return reason.name === "AbortError" ? "cancelled" : reason.name === "TimeoutError" ? "timed out" : reason.message;
  return typeof reason === "string" && reason !== "" ? reason : "cancelled";
}

/** Any fault of a wire as a LinkError; the server may have got what was sent. */
export function asLinkError(error: unknown): LinkError {
  return error instanceof LinkError ? error : new LinkError("network", error instanceof Error ? error.message : String(error), { sent: true, cause: error });
}

/** A time that a timer can hold: Node turns longer ones, and Infinity, into 1 ms. */
export function clamp(ms: number): number {
  return Number.isNaN(ms) ? DEFAULT_TIMEOUT_MS : Math.min(Math.max(ms, 1), MAX_TIMER_MS);
}
