/** Time as the parts that wait or stamp see it; tests hand in a fake. */
export interface Clock {
  /** Wall clock, milliseconds since 1970; may step. */
  now(): number;
  /** Monotonic clock, milliseconds; never steps back. All time-outs and back-offs count on it. */
  monotonic(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
