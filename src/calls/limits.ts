import type { Clock } from "../base/clock.ts";
import type { LimitRef } from "../policy/types.ts";
import type { Journal } from "../runtime/ports.ts";

/** One counted call, as the journal keeps it. Times are wall clock, for they must mean something after a restart. */
export interface CountedCall {
  readonly rule: string;
  readonly at: number;
  /** The window that was in force, in milliseconds; older records are of no use. */
  readonly per_ms: number;
}

/** Either leave to call (give it back with `release` when the call has ended), or which limit is used up. */
export type LimitResult =
  | { readonly ok: true; release(): void }
  | {
      readonly ok: false;
      readonly limit: LimitRef;
      readonly reason: string;
      /** When to try again, in milliseconds; null when that depends on running calls. */
      readonly retryAfterMs: number | null;
    };

/** Counts calls by rule: all that match a rule are counted together, whatever their tool, alias or caller (contracts 5). */
export interface Limits {
  /** Checks all limits and counts the call in one step; when one is used up, nothing is counted. */
  acquire(limits: readonly LimitRef[]): LimitResult;
}

/** Longest time a count is kept in the journal, in records, before it is written anew. */
const COMPACT_AFTER = 10_000;

/** Leave to call for what no rule limits. */
const UNCOUNTED: LimitResult = { ok: true, release: () => {} };

interface Count {
  /** Monotonic times of counted calls, oldest first, from `head` on. */
  times: number[];
  head: number;
  running: number;
}

/**
 * Opens the counters, with what the journal still knows of earlier runs. A rate of 10/min means: never more than 10 calls in any
 * minute. Counters belong to rule ids, so a reload keeps them. A journal that cannot be written loses only the memory across a restart.
 */
export async function openLimits(clock: Clock, journal: Journal<CountedCall> | null = null): Promise<Limits> {
  const counts = new Map<string, Count>();
  const countOf = (rule: string): Count => {
    let count = counts.get(rule);
    if (!count) {
      count = { times: [], head: 0, running: 0 };
      counts.set(rule, count);
    }
    return count;
  };
  let written = 0;
  if (journal) {
    const live = (await journal.read()).filter((r) => clock.now() - r.at < r.per_ms);
    for (const record of live) countOf(record.rule).times.push(clock.monotonic() - Math.max(0, clock.now() - record.at));
    for (const count of counts.values()) count.times.sort((a, b) => a - b);
    await journal.rewrite(live);
    written = live.length;
  }

  const keep = (limit: LimitRef): void => {
    if (!journal || !limit.rate) return;
    const perMs = limit.rate.perMs;
    written += 1;
    const record = { rule: limit.rule, at: clock.now(), per_ms: perMs };
    const step = written > COMPACT_AFTER ? journal.read().then((all) => journal.rewrite(all.filter((r) => clock.now() - r.at < r.per_ms))) : Promise.resolve();
    if (written > COMPACT_AFTER) written = 0;
    step.then(() => journal.append(record, false)).catch(() => {});
  };

  return {
    acquire(limits) {
      if (limits.length === 0) return UNCOUNTED;
      const now = clock.monotonic();
      for (const limit of limits) {
        const used = usedUp(countOf(limit.rule), limit, now);
        if (used) return { ok: false, limit, ...used };
      }
      const taken = new Set<Count>();
      for (const limit of limits) {
        const count = countOf(limit.rule);
        if (taken.has(count)) continue;
        taken.add(count);
        count.running += 1;
        if (limit.rate) count.times.push(now);
        keep(limit);
      }
      return {
        ok: true,
        release() {
          for (const count of taken) count.running -= 1;
          taken.clear();
        },
      };
    },
  };
}

function usedUp(count: Count, limit: LimitRef, now: number): { reason: string; retryAfterMs: number | null } | null {
  if (limit.concurrent !== null && count.running >= limit.concurrent) {
    return { reason: `rule ${limit.rule} allows ${limit.concurrent} ${limit.concurrent === 1 ? "call" : "calls"} at the same time`, retryAfterMs: null };
  }
  if (!limit.rate) return null;
  const { count: most, perMs } = limit.rate;
  while (count.head < count.times.length && now - count.times[count.head]! >= perMs) count.head += 1;
  if (count.head > 1000 && count.head * 2 > count.times.length) {
    count.times = count.times.slice(count.head);
    count.head = 0;
  }
  if (count.times.length - count.head < most) return null;
  const free = count.times[count.times.length - most]! + perMs - now;
  return { reason: `rule ${limit.rule} allows ${most} ${most === 1 ? "call" : "calls"} in ${perMs / 1000} s`, retryAfterMs: Math.max(1, Math.ceil(free)) };
}
