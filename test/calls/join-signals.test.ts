import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { joinSignals, signalWithin } from "../../src/calls/join-signals.ts";

describe("joined signals", () => {
  it("abort with the first of them, with its reason, and leave no listener behind", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const joined = joinSignals([a.signal, undefined, b.signal]);
    b.abort(new Error("b"));
    a.abort(new Error("a"));
    expect(joined.signal.reason).toMatchObject({ message: "b" });
    const other = new AbortController();
    const more = joinSignals([other.signal, new AbortController().signal]);
    more.release();
    expect(getEventListeners(other.signal, "abort")).toEqual([]);
    other.abort();
    expect(more.signal.aborted).toBe(false);
  });

  it("do not make Node warn of a signal that many calls share", async () => {
    const warnings: string[] = [];
    const hear = (warning: Error): void => void warnings.push(warning.message);
    process.on("warning", hear);
    const shared = new AbortController();
    const joined = Array.from({ length: 40 }, () => joinSignals([shared.signal, new AbortController().signal]));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", hear);
    expect(warnings).toEqual([]);
    for (const one of joined) one.release();
    expect(getEventListeners(shared.signal, "abort")).toEqual([]);
  });

  it("one alone is itself; none never aborts, also when joined again", () => {
    const only = new AbortController();
    expect(joinSignals([undefined, only.signal]).signal).toBe(only.signal);
    const none = joinSignals([undefined]);
    expect(none.signal.aborted).toBe(false);
    const joined = joinSignals([none.signal, only.signal]);
    expect(joined.signal).toBe(only.signal);
    for (const one of [none, joined, joinSignals([none.signal])]) one.release();
    only.abort("over");
    expect(joined.signal.reason).toBe("over");
    expect(none.signal.aborted).toBe(false);
  });

  it("one within a time aborts as the other does, or when the time is over, and leaves no listener behind", async () => {
    const caller = new AbortController();
    const [first, second] = [signalWithin(caller.signal, 60_000), signalWithin(caller.signal, 60_000)];
    second.release();
    caller.abort("gone");
    expect([first.signal.reason, second.signal.aborted]).toEqual(["gone", false]);
    first.release();
    expect(signalWithin(caller.signal, 60_000).signal.reason).toBe("gone");
    const patient = new AbortController();
    const late = signalWithin(patient.signal, 5);
    await new Promise((resolve) => late.signal.addEventListener("abort", resolve));
    late.release();
    expect(patient.signal.aborted).toBe(false);
    expect(getEventListeners(patient.signal, "abort")).toEqual([]);
  });

  it("one that is over already aborts at once", () => {
    expect(joinSignals([new AbortController().signal, AbortSignal.abort("over")]).signal.reason).toBe("over");
  });
});
