/** Longest wait between fast attempts, milliseconds. */
export const MAX_BACKOFF_MS = 60_000;
/** Between two probes of a parked app, milliseconds. */
export const PARKED_PROBE_MS = 180_000;
/** A server that has been ready this long is healthy: its attempts count from nothing again. */
export const HEALTHY_UPTIME_MS = 60_000;
/** The first attempt after a death comes almost at once. */
const FIRST_RETRY_MS = 200;

/** Whether a server that came up at `startedAt` is healthy `now`; both monotonic milliseconds. */
export function isHealthy(startedAt: number, now: number): boolean {
  return now - startedAt >= HEALTHY_UPTIME_MS;
}

/** What to do after a failed start or a death, by the attempts already used. */
export type RetryStep = { readonly kind: "retry" | "park"; readonly delayMs: number };

/**
 * One back-off for every reason of a restart: at once, then `backoffMs` doubled each time up to a minute, then parked with a
 * slow re-probe. `random` (0 to 1) gives 20 % jitter, so that servers killed together do not come back together.
 */
export function nextRetry(attempt: number, limits: { readonly maxAttempts: number; readonly backoffMs: number }, random: number): RetryStep {
  const jitter = 0.8 + 0.4 * random;
  if (attempt >= limits.maxAttempts) return { kind: "park", delayMs: Math.round(PARKED_PROBE_MS * jitter) };
  if (attempt === 0) return { kind: "retry", delayMs: FIRST_RETRY_MS };
  return { kind: "retry", delayMs: Math.round(Math.min(MAX_BACKOFF_MS, limits.backoffMs * 2 ** (attempt - 1)) * jitter) };
}
