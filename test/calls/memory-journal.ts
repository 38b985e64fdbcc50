import type { Clock } from "../../src/base/clock.ts";
import type { Journal } from "../../src/runtime/ports.ts";

/** A journal in memory that goes through JSON as a file does; a "restart" is a second part opened on the same one. */
export function memoryJournal<T>(): Journal<T> & { readonly lines: string[]; fail: Error | null; durable: boolean[] } {
  const journal = {
    lines: [] as string[],
    durable: [] as boolean[],
    fail: null as Error | null,
    async read(): Promise<T[]> {
      return journal.lines.map((line) => JSON.parse(line) as T);
    },
    async append(record: T, durable: boolean): Promise<void> {
      await Promise.resolve();
      if (journal.fail) throw journal.fail;
      journal.lines.push(JSON.stringify(record));
      journal.durable.push(durable);
    },
    async rewrite(records: readonly T[]): Promise<void> {
      journal.lines.splice(0, journal.lines.length, ...records.map((r) => JSON.stringify(r)));
    },
    async close(): Promise<void> {},
  };
  return journal;
}

/** A clock that a test moves. */
export function fakeClock(start = 1_800_000_000_000): Clock & { advance(ms: number): void; step(ms: number): void } {
  let wall = start;
  let mono = 1000;
  return {
    now: () => wall,
    monotonic: () => mono,
    advance(ms) {
      wall += ms;
      mono += ms;
    },
    /** The wall clock alone, as when somebody sets it. */
    step(ms) {
      wall += ms;
    },
  };
}
