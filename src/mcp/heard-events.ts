/** Ids of one stream that are remembered of the connections before. */
const IDS_KEPT = 1000;

/**
 * Which events of one stream were heard before: a stream that is carried on may tell again what was told already. Ids count within their
 * stream only, and only while they tell events apart: many servers begin at 1 on every stream, or give all events one id.
 */
export class HeardEvents {
  readonly #before = new Set<string>();
  #now = new Set<string>();
  #distinct = true;

  /** Another connection carries the stream on. */
  carriedOn(): void {
    for (const id of this.#now) {
      if (this.#before.size >= IDS_KEPT) this.#before.delete(this.#before.values().next().value!);
      this.#before.add(id);
    }
    this.#now = new Set();
  }

  /** Notes an event; true when an earlier connection brought it already. */
  again(id: string): boolean {
    if (this.#now.has(id)) this.#distinct = false;
    else if (this.#now.size < IDS_KEPT) this.#now.add(id);
    return this.#distinct && this.#before.has(id);
  }
}
