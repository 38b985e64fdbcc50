import { describe, expect, it } from "vitest";
import { openLimits, type CountedCall } from "../../src/calls/limits.ts";
import type { LimitRef } from "../../src/policy/types.ts";
import { fakeClock, memoryJournal } from "./memory-journal.ts";

const limit = (rule: string, count: number | null, perMs = 60_000, concurrent: number | null = null): LimitRef => ({
  rule,
  rate: count === null ? null : { count, perMs },
  concurrent,
});

describe("limits", () => {
  it("50 calls at the same moment: 5 pass, the others are told when to come back", async () => {
    const clock = fakeClock();
    const limits = await openLimits(clock);
    const results = Array.from({ length: 50 }, () => limits.acquire([limit("r", 5)]));
    expect(results.filter((r) => r.ok)).toHaveLength(5);
    expect(results[49]).toMatchObject({ ok: false, retryAfterMs: 60_000, reason: "rule r allows 5 calls in 60 s" });
    clock.advance(59_999);
    expect(limits.acquire([limit("r", 5)])).toMatchObject({ ok: false, retryAfterMs: 1 });
    clock.advance(1);
    expect(limits.acquire([limit("r", 5)]).ok).toBe(true);
  });

  it("never more than the count in any window, not twice as many across a border", async () => {
    const clock = fakeClock();
    const limits = await openLimits(clock);
    const times: number[] = [];
    for (let i = 0; i < 3000; i += 1) {
      if (limits.acquire([limit("r", 10, 1000)]).ok) times.push(clock.monotonic());
      clock.advance(7);
    }
    expect(times.length).toBeGreaterThan(200);
    for (const [i, t] of times.entries()) if (i >= 10) expect(t - times[i - 10]!).toBeGreaterThanOrEqual(1000);
  });

  it("counts nothing when one of several limits is used up", async () => {
    const limits = await openLimits(fakeClock());
    limits.acquire([limit("small", 1)]);
    for (let i = 0; i < 10; i += 1) expect(limits.acquire([limit("large", 3), limit("small", 1)]).ok).toBe(false);
    for (let i = 0; i < 3; i += 1) expect(limits.acquire([limit("large", 3)]).ok).toBe(true);
  });

  it("concurrency is given back once, whatever the caller does", async () => {
    const limits = await openLimits(fakeClock());
    const only = [limit("c", null, 0, 1)];
    const first = limits.acquire(only);
    expect(limits.acquire(only)).toMatchObject({ ok: false, retryAfterMs: null });
    if (first.ok) {
      first.release();
      first.release();
    }
    expect(limits.acquire(only).ok).toBe(true);
    expect(limits.acquire(only).ok).toBe(false);
  });

  it("a wall clock that is set does not matter", async () => {
    const clock = fakeClock();
    const limits = await openLimits(clock);
    limits.acquire([limit("r", 1)]);
    clock.step(3_600_000);
    expect(limits.acquire([limit("r", 1)]).ok).toBe(false);
  });

  it("the count stays over a restart and over an edit of the limit", async () => {
    const clock = fakeClock();
    const journal = memoryJournal<CountedCall>();
    const before = await openLimits(clock, journal);
    for (let i = 0; i < 5; i += 1) before.acquire([limit("r", 5)]);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10_000);
    const after = await openLimits(clock, journal);
    expect(after.acquire([limit("r", 5)])).toMatchObject({ ok: false, retryAfterMs: 50_000 });
    expect(after.acquire([limit("r", 6)]).ok).toBe(true);
    clock.advance(60_000);
    const later = memoryJournal<CountedCall>();
    later.lines.push(...journal.lines);
    await openLimits(clock, later);
    expect(later.lines).toEqual([]);
  });

  it("a journal that cannot be written does not stop calls", async () => {
    const journal = memoryJournal<CountedCall>();
    const limits = await openLimits(fakeClock(), journal);
    journal.fail = new Error("disk full");
    expect(limits.acquire([limit("r", 5)]).ok).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
  });
});
