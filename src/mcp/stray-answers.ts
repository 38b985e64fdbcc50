import { plainLine } from "./plain-line.ts";

/** Whom {@link StrayAnswers} tells: of every late answer, and once a connection of each other kind. */
export interface StrayHandlers {
  readonly note: (message: string) => void;
  readonly protocolError: (message: string) => void;
}

const GIVEN_UP_KEPT = 1000;

/** Sorts and counts answers that match no open request: late ones, repeated ones, and ones to requests that were never sent. */
export class StrayAnswers {
  readonly #handlers: StrayHandlers;
  readonly #givenUp = new Set<number>();
  readonly #counts = { late: 0, duplicate: 0, unknown: 0 };
  #last = "";

  constructor(handlers: StrayHandlers) {
    this.#handlers = handlers;
  }

  /** Answers so far that may have been meant for another request. */
  get suspects(): number {
    return this.#counts.duplicate + this.#counts.unknown;
  }

  /** A request was given up: an answer to it is late, and no fault. */
  giveUp(id: number): void {
    if (this.#givenUp.size >= GIVEN_UP_KEPT) this.#givenUp.delete(this.#givenUp.values().next().value!);
    this.#givenUp.add(id);
  }

  /** Takes a stray answer. `sent`: how many requests have been sent; their ids count up from 0. */
  take(id: unknown, sent: number): void {
    const number = typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : id;
    if (typeof number === "number" && this.#givenUp.delete(number)) {
      this.#counts.late += 1;
      this.#handlers.note(`an answer came after its request (id ${number}) had been given up; it was dropped (${this.#counts.late} so far)`);
      return;
    }
    this.#last = plainLine(String(JSON.stringify(id)).slice(0, 100));
    if (typeof number === "number" && Number.isInteger(number) && number >= 0 && number < sent) {
      this.#counts.duplicate += 1;
      if (this.#counts.duplicate === 1) this.#handlers.note(`response for id ${this.#last}, which was answered already; such answers are dropped`);
      return;
    }
    this.#counts.unknown += 1;
    if (this.#counts.unknown > 1) return;
    this.#handlers.note(`response for unknown id ${this.#last}; such answers are dropped`);
    this.#handlers.protocolError(`the server answered a request that was never sent (id ${this.#last})`);
  }

  /** For the error of a request that got no answer while `before` suspects became more: the likely cause. Empty otherwise. */
  hint(before: number): string {
    return this.suspects === before ? "" : `; meanwhile the server answered with id ${this.#last}, which belongs to no open request and may be this answer`;
  }
}
