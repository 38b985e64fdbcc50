import { describe, expect, it } from "vitest";
import { CancelSource, onAbort } from "../../src/base/cancel-signal.ts";

describe("a cancel source", () => {
  it("tells every listener once, with its first reason, and those that come later nothing", () => {
    const source = new CancelSource();
    const told: string[] = [];
    source.addEventListener("abort", () => told.push("one"));
    const gone = (): void => void told.push("gone");
    source.addEventListener("abort", gone);
    source.removeEventListener("abort", gone);
    expect(source.aborted).toBe(false);
    source.abort("first");
    source.abort("second");
    source.addEventListener("abort", () => told.push("late"));
    expect([source.aborted, source.reason, told]).toEqual([true, "first", ["one"]]);
  });

  it("has a listener once, however often it is added, and knows which one to take off", () => {
    for (const others of [0, 1, 2]) {
      const source = new CancelSource();
      const told: string[] = [];
      const one = (): void => void told.push("one");
      const never = (): void => void told.push("never");
      source.addEventListener("abort", one);
      source.addEventListener("abort", one);
      for (let i = 0; i < others; i += 1) source.addEventListener("abort", () => told.push(`other ${i}`));
      source.removeEventListener("abort", never);
      source.addEventListener("abort", never);
      source.removeEventListener("abort", never);
      source.abort();
      expect(told).toEqual(["one", "other 0", "other 1"].slice(0, 1 + others));
    }
  });

  it("keeps its only listener when another is taken off", () => {
    const source = new CancelSource();
    const told: string[] = [];
    source.addEventListener("abort", () => told.push("one"));
    const other = (): void => void told.push("other");
    source.removeEventListener("abort", other);
    source.abort();
    expect(told).toEqual(["one"]);
  });

  it("whose listeners all went takes new ones", () => {
    const source = new CancelSource();
    const told: string[] = [];
    const gone = [(): void => void told.push("a"), (): void => void told.push("b")];
    for (const listener of gone) source.addEventListener("abort", listener);
    for (const listener of gone) source.removeEventListener("abort", listener);
    source.addEventListener("abort", () => told.push("new"));
    source.abort();
    expect(told).toEqual(["new"]);
  });

  it("names itself an abort when nobody gives a reason, as an AbortController does", () => {
    const source = new CancelSource();
    source.abort();
    expect(source.reason).toMatchObject({ name: "AbortError" });
  });
});

describe("onAbort", () => {
  it("listens to a real signal and to a light one, and lets go of both", () => {
    for (const source of [new AbortController(), new CancelSource()]) {
      const told: string[] = [];
      const unlisten = onAbort(source.signal, () => told.push("gone"));
      onAbort(source.signal, () => told.push("stays"));
      unlisten();
      source.abort();
      expect(told).toEqual(["stays"]);
    }
  });

  it("tells nobody who was taken off or came while others were told", () => {
    for (const source of [new AbortController(), new CancelSource()]) {
      const told: string[] = [];
      let unlisten = (): void => undefined;
      onAbort(source.signal, () => {
        told.push("first");
        unlisten();
        onAbort(source.signal, () => told.push("late"));
      });
      unlisten = onAbort(source.signal, () => told.push("taken off"));
      source.abort();
      source.abort();
      expect(told).toEqual(["first"]);
    }
  });

  it("is no leak that Node warns of, however many calls share one signal", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    const controller = new AbortController();
    const stops = Array.from({ length: 50 }, () => onAbort(controller.signal, () => undefined));
    await new Promise((resolve) => setImmediate(resolve));
    for (const stop of stops) stop();
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });
});
