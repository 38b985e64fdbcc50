import fc from "fast-check";
import { expect, test } from "vitest";
import { Fifo } from "../../src/base/fifo.ts";
import { runs } from "../support/explore.ts";

test("does what a list does, whatever is put in and taken out", () => {
  const step = fc.constantFrom("push", "push", "unshift", "shift", "shift", "pop");
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const fifo = new Fifo<number>();
      const list: number[] = [];
      for (const [i, what] of steps.entries()) {
        if (what === "shift" || what === "pop") {
          expect(fifo[what]()).toBe(list[what]());
        } else {
          fifo[what](i);
          list[what](i);
        }
        expect(fifo.size).toBe(list.length);
      }
    }),
    runs(300),
  );
});
