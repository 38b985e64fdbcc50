import type { Priority } from "../amp/types.ts";
import { Fifo } from "../base/fifo.ts";

/** One event that waits to be written. */
export interface Waiting {
  readonly app: string;
  readonly priority: Priority;
}

/** Turns of the priorities: of seven events written, four may be high, two normal, one low, so that nothing starves. */
const TURNS: readonly Priority[] = ["high", "normal", "high", "low", "high", "normal", "high"];
/** How far over the limit each priority may still come in. */
const ROOM: Readonly<Record<Priority, number>> = { high: 3, normal: 2, low: 1 };

/**
 * A bounded queue with priorities and fairness. Within a priority the apps take turns, within an app the order stays. A full queue first
 * loses low events of the app that has most, then refuses low ones, then normal ones (at twice the limit), then high ones (at three times).
 */
export class PutQueue<T extends Waiting> {
  readonly #limit: number;
  readonly #byPriority: Readonly<Record<Priority, Map<string, Fifo<T>>>> = { high: new Map(), normal: new Map(), low: new Map() };
  #size = 0;
  #turn = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /** Takes an item in, unless there is no room; `evicted` is what went overboard for it. */
  add(item: T): { readonly accepted: boolean; readonly evicted: T | null } {
    if (this.#size >= this.#limit * ROOM[item.priority]) return { accepted: false, evicted: null };
    const evicted = this.#size >= this.#limit && item.priority !== "low" ? this.#evictLow() : null;
    this.#listOf(item).push(item);
    this.#size += 1;
    return { accepted: true, evicted };
  }

  /** The next items to write, at most `count`, best first. */
  take(count: number): T[] {
    const out: T[] = [];
    while (out.length < count && this.#size > 0) {
      const priority = TURNS[this.#turn]!;
      this.#turn = (this.#turn + 1) % TURNS.length;
      const item = this.#shift(priority);
      if (item) out.push(item);
    }
    return out;
  }

  /** Puts items that could not be written back to where they were; they are not refused. */
  putBack(items: readonly T[]): void {
    for (const item of items.toReversed()) {
      this.#listOf(item).unshift(item);
      this.#size += 1;
    }
  }

  #listOf({ app, priority }: T): Fifo<T> {
    const apps = this.#byPriority[priority];
    let list = apps.get(app);
    if (!list) apps.set(app, (list = new Fifo()));
    return list;
  }

  #shift(priority: Priority): T | undefined {
    const apps = this.#byPriority[priority];
    const next = apps.entries().next();
    if (next.done) return undefined;
    const [app, list] = next.value;
    const item = list.shift();
    // To the end of the line, for the next app's turn.
    apps.delete(app);
    if (list.size > 0) apps.set(app, list);
    this.#size -= 1;
    return item;
  }

  #evictLow(): T | null {
    const lists = [...this.#byPriority.low.entries()];
    const longest = lists.reduce<(typeof lists)[number] | null>((best, entry) => (best === null || entry[1].size > best[1].size ? entry : best), null);
    if (longest === null) return null;
    const [app, list] = longest;
    const item = list.pop()!;
    if (list.size === 0) this.#byPriority.low.delete(app);
    this.#size -= 1;
    return item;
  }
}
