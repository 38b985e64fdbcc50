import { statSync, type BigIntStats } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";

/** What a file is, links followed; undefined when it is not there, and what the system says when it cannot be looked at. */
export type Stats = (file: string) => BigIntStats | Error | undefined;

/**
 * Looks at each file once and remembers what it saw: one value for one pass over the disk. A look is made at once, not by the
 * thread pool: for the small looks of a workspace, the way there and back costs several times the look itself.
 */
export function createStats(): Stats {
  const seen = new Map<string, ReturnType<Stats>>();
  return (file) => {
    if (!seen.has(file)) seen.set(file, lookAt(file));
    return seen.get(file);
  };
}

function lookAt(file: string): ReturnType<Stats> {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** To be awaited after each step of a long pass: now and then it lets others have the thread. */
export type Pace = () => Promise<void> | undefined;

/** Steps between two turns of others: well under a millisecond on a local disk. */
const STEPS = 32;

/** Makes a pace for one pass. */
export function createPace(): Pace {
  let steps = 0;
  return () => {
    steps += 1;
    return steps % STEPS === 0 ? turn() : undefined;
  };
}
