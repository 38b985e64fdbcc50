/** A request of the server that this side has not answered yet. */
export interface Debt {
  readonly method: string;
  /** The task of the server that it belongs to. */
  readonly task: string | null;
  /** The approval whose decision will be the answer. */
  approvalId: string | null;
}

/** What a request that ended unanswered had to do with an answer owed: words for its error, and the approval. */
export interface Owed {
  readonly words: string;
  readonly approvalId: string | null;
}

/** The answers that this side owes a server. A person may take long to give one, and meanwhile the server has nothing to say. */
export class OwedAnswers {
  /** With the requests of this side that were open when the server asked, and still are. */
  readonly #debts = new Map<Debt, { readonly open: Set<number>; readonly onOver: () => void }>();

  /** Whether the server waits for this side. */
  get any(): boolean {
    return this.#debts.size > 0;
  }

  /** Notes a debt, until it is settled; `onOver` is called once all the requests that may have caused it have ended, never where there were none. */
  add(debt: Debt, open: Iterable<number>, onOver: () => void): void {
    this.#debts.set(debt, { open: new Set(open), onOver });
  }

  settle(debt: Debt): void {
    this.#debts.delete(debt);
  }

  /** A request of this side has ended. */
  ended(id: number): void {
    for (const { open, onOver } of this.#debts.values()) if (open.delete(id) && open.size === 0) onOver();
  }

  /** What is owed for a request of this side (its id), or for a task (its id at the server); of several the one that a person is to decide. */
  of(cause: number | string): Owed | null {
    const debts = [...this.#debts].filter(([debt, { open }]) => (typeof cause === "string" ? debt.task === cause : open.has(cause))).map(([debt]) => debt);
    const debt = debts.find(({ approvalId }) => approvalId !== null) ?? debts[0];
    if (debt === undefined) return null;
    const { method, approvalId } = debt;
    return { words: `; meanwhile its ${method} waited for ${approvalId === null ? "an answer" : `a person to decide approval ${approvalId}`}`, approvalId };
  }
}
