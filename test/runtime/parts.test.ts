import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AppPlan } from "../../src/plan/types.ts";
import { MAX_BACKOFF_MS, nextRetry, PARKED_PROBE_MS } from "../../src/runtime/backoff.ts";
import { Changes } from "../../src/runtime/changes.ts";
import { debounce } from "../../src/runtime/debounce.ts";
import { createReloadLoop } from "../../src/runtime/reload-loop.ts";
import { Retries } from "../../src/runtime/retries.ts";
import { createStartGate } from "../../src/runtime/start-gate.ts";

describe("back-off", () => {
  const limits = { maxAttempts: 3, backoffMs: 2_000 };
  it("tries at once, then doubles, then parks with a slow probe", () => {
    const steps = [0, 1, 2, 3, 4].map((attempt) => nextRetry(attempt, limits, 0.5));
    expect(steps).toEqual([
      { kind: "retry", delayMs: 200 },
      { kind: "retry", delayMs: 2_000 },
      { kind: "retry", delayMs: 4_000 },
      { kind: "park", delayMs: PARKED_PROBE_MS },
      { kind: "park", delayMs: PARKED_PROBE_MS },
    ]);
  });
  it("has a cap, and 20 % jitter either way", () => {
    expect(nextRetry(50, { maxAttempts: 100, backoffMs: 2_000 }, 0.5).delayMs).toBe(MAX_BACKOFF_MS);
    expect(nextRetry(1, limits, 0).delayMs).toBe(1_600);
    expect(nextRetry(1, limits, 1).delayMs).toBe(2_400);
  });
  it("remembers hopeless plans until something changes, and never retries where restart is off", () => {
    const plan = { restart: { enabled: true, ...limits }, digests: { restart: "r", reconnect: "c" } } as unknown as AppPlan;
    const retries = new Retries();
    expect(retries.next(plan, "died", 0.5)).toEqual({ state: "backoff", reason: "died", delayMs: 200 });
    retries.next(plan, "died", 0.5);
    retries.healthy();
    expect(retries.next(plan, "died", 0.5).delayMs).toBe(200);
    retries.giveUp(plan);
    expect(retries.isHopeless(plan)).toBe(true);
    retries.reset();
    expect(retries.isHopeless(plan)).toBe(false);
    const off = { ...plan, restart: { ...plan.restart, enabled: false } };
    expect(retries.next(off, "died", 0.5)).toEqual({ state: "failed", reason: "died; restart is switched off", delayMs: null });
    expect(retries.isHopeless(off)).toBe(true);
  });
});

describe("start gate", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const open = new AbortController().signal;

  it("lets only so many in, in order, and one more when one leaves", async () => {
    const gate = createStartGate(2);
    const order: number[] = [];
    const leave = await gate.enter(open);
    await gate.enter(open);
    void gate.enter(open).then(() => order.push(3));
    void gate.enter(open).then(() => order.push(4));
    await Promise.resolve();
    expect(order).toEqual([]);
    leave();
    leave();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual([3]);
  });

  it("frees the place of a mute server after a few seconds, so that it never blocks the others", async () => {
    const gate = createStartGate(1);
    await gate.enter(open);
    let second = false;
    void gate.enter(open).then(() => (second = true));
    await vi.advanceTimersByTimeAsync(4_900);
    expect(second).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(second).toBe(true);
  });

  it("takes a start that was given up out of the queue", async () => {
    const gate = createStartGate(1);
    const leave = await gate.enter(open);
    const abort = new AbortController();
    const given = gate.enter(abort.signal);
    abort.abort(new Error("obsolete"));
    await expect(given).rejects.toThrow("obsolete");
    let third = false;
    void gate.enter(open).then(() => (third = true));
    leave();
    await vi.advanceTimersByTimeAsync(0);
    expect(third).toBe(true);
  });

  it("admits those who wait when the limit is raised", async () => {
    const gate = createStartGate(1);
    await gate.enter(open);
    let second = false;
    void gate.enter(open).then(() => (second = true));
    gate.setLimit(2);
    await vi.advanceTimersByTimeAsync(0);
    expect(second).toBe(true);
  });
});

describe("debounce", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("runs once for a burst, and at the latest after the longest wait", () => {
    const run = vi.fn();
    const d = debounce(run, 100, 500);
    for (let i = 0; i < 20; i += 1) {
      d.request();
      vi.advanceTimersByTime(50);
    }
    expect(run.mock.calls.length).toBeGreaterThanOrEqual(1);
    expect(run.mock.calls.length).toBeLessThanOrEqual(2);
    vi.advanceTimersByTime(1_000);
    d.request();
    d.cancel();
    vi.advanceTimersByTime(1_000);
    expect(run.mock.calls.length).toBeLessThanOrEqual(3);
  });
});

describe("reload loop", () => {
  it("runs one at a time and puts waiting requests together", async () => {
    const ends: (() => void)[] = [];
    let runs = 0;
    const loop = createReloadLoop(async () => {
      const run = (runs += 1);
      await new Promise<void>((resolve) => ends.push(resolve));
      return run;
    });
    const first = loop.request();
    const waiting = [loop.request(), loop.request(), loop.request()];
    expect(runs).toBe(1);
    ends[0]!();
    expect(await first).toBe(1);
    await vi.waitFor(() => expect(runs).toBe(2));
    ends[1]!();
    expect(await Promise.all(waiting)).toEqual([2, 2, 2]);
  });

  it("goes on after a run that threw", async () => {
    let fail = true;
    const loop = createReloadLoop(async () => {
      if (fail) throw new Error("broken");
      return "fine";
    });
    await expect(loop.request()).rejects.toThrow("broken");
    fail = false;
    expect(await loop.request()).toBe("fine");
  });
});

describe("changes", () => {
  it("wakes everyone at the next change, and gives up with the signal", async () => {
    const changes = new Changes();
    const woken = changes.next(new AbortController().signal, "late");
    const abort = new AbortController();
    const late = changes.next(abort.signal, "too late");
    abort.abort();
    await expect(late).rejects.toThrow("too late");
    changes.tell();
    await expect(woken).resolves.toBeUndefined();
  });
});
