/** What of an entry stays when it is gone. */
interface Cell<V> {
  value: V | undefined;
}

/**
 * A map for what comes and goes by the thousand a second and holds on to much, such as running requests. The tables of a `Map` are
 * old memory after a while; each one that it outgrows is garbage that still holds its entries, and the engine keeps those, with all
 * that they hold, until its next great collection. Here such an entry is an empty cell once it was deleted. Iterates in the order of
 * insertion; values may be anything but undefined.
 */
export class BriefMap<K, V> {
  readonly #cells = new Map<K, Cell<V>>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value;
  }

  has(key: K): boolean {
    return this.#cells.has(key);
  }

  /** Puts a value under a key that has none. Throws a RangeError for one that has. */
  add(key: K, value: V): void {
    if (this.#cells.has(key)) throw new RangeError("the key is taken");
    this.#cells.set(key, { value });
  }

  /** Takes an entry out and gives its value; undefined where there was none. */
  take(key: K): V | undefined {
    const cell = this.#cells.get(key);
    if (cell === undefined) return undefined;
    this.#cells.delete(key);
    const { value } = cell;
    cell.value = undefined;
    return value;
  }

  keys(): IterableIterator<K> {
    return this.#cells.keys();
  }

  *values(): Generator<V> {
    for (const { value } of this.#cells.values()) if (value !== undefined) yield value;
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    for (const [key, { value }] of this.#cells) if (value !== undefined) yield [key, value];
  }
}
