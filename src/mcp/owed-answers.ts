interface Debt {
  /** Requests of this side that were open when the server asked, and still are. */
  readonly open: Set<number>;
  readonly onOver: () => void;
}

/** The answers that this side owes a server. A person may take long to give one, and meanwhile the server has nothing to say. */
export class OwedAnswers {
  readonly #debts = new Set<Debt>();

  /** Whether the server waits for this side. */
  get any(): boolean {
    return this.#debts.size > 0;
  }

  /** Notes a debt; `onOver` is called once all the requests that may have caused it have ended, never where there were none. Gives what settles it. */
  add(open: Iterable<number>, onOver: () => void): () => void {
    const debt: Debt = { open: new Set(open), onOver };
    this.#debts.add(debt);
    return () => void this.#debts.delete(debt);
  }

  /** A request of this side has ended. */
  ended(id: number): void {
    for (const debt of this.#debts) if (debt.open.delete(id) && debt.open.size === 0) debt.onOver();
  }
}
