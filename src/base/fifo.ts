/** First in, first out, in constant time whatever its length: `Array.shift` moves all the rest of a long array. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  /** Where the first item stands; what is before it has gone. */
  #from = 0;

  get size(): number {
    return this.#items.length - this.#from;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Puts an item before all others. */
  unshift(item: T): void {
    if (this.#from === 0) this.#items.unshift(item);
    else this.#items[(this.#from -= 1)] = item;
  }

  /** Takes the first item out; undefined when there is none. */
  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#from];
    this.#items[this.#from] = undefined;
    this.#from += 1;
    // Each item is moved at most once for each that has gone before it.
    if (this.#from * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#from);
      this.#from = 0;
    }
    return item;
  }

  /** Takes the last item out; undefined when there is none. */
  pop(): T | undefined {
    return this.size === 0 ? undefined : this.#items.pop();
  }
}
