import { own } from "../base/json.ts";

/** Ids that one session remembers; the oldest go first. */
const MAX_IDS = 1000;

/** The addresses that a client was asked to have opened: whom `notifications/elicitation/complete` of an app is for. */
export class Elicitations {
  readonly #ids = new Set<string>();

  /** Remembers what is asked: params of questions, which say in `_meta` whose they are. Anything without an id is passed over. */
  note(asked: readonly unknown[]): void {
    for (const one of asked) {
      const [app, id] = [own(own(one, "_meta"), "aurora/app"), own(one, "elicitationId")];
      if (typeof app === "string" && typeof id === "string") this.#ids.add(keyOf(app, id));
    }
    for (const oldest of this.#ids) {
      if (this.#ids.size <= MAX_IDS) return;
      this.#ids.delete(oldest);
    }
  }

  /** Whether this client was asked that by this app; true once. */
  complete(app: string, id: unknown): boolean {
    return typeof id === "string" && this.#ids.delete(keyOf(app, id));
  }
}

function keyOf(app: string, id: string): string {
  return JSON.stringify([app, id]);
}
