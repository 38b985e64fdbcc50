import fc from "fast-check";
import { runs as explored } from "../support/explore.ts";
import { it } from "vitest";

export { fc };

/** A property test: `check` must hold for every value that the arbitrary makes. */
export function test<T>(name: string, arbitrary: fc.Arbitrary<T>, check: (value: T) => void | Promise<void>, runs = 100): void {
  it(name, async () => {
    await fc.assert(
      fc.asyncProperty(arbitrary, async (value) => void (await check(value))),
      explored(runs),
    );
  });
}
