import { own } from "../base/json.ts";
import type { Speaker } from "./gateway-speaker.ts";

/** Ids that one session remembers; the oldest go first. */
const MAX_IDS = 1000;

/** The addresses that a client was asked to have opened: whom `notifications/elicitation/complete` of an app is for. */
export class Elicitations {
  readonly #asked = new Map<string, Speaker>();

  /** Remembers what is asked by whom: params of questions. Anything without an id is passed over. */
  note(asked: readonly unknown[], speaker: Speaker | null): void {
    for (const one of asked) {
      const id = own(one, "elicitationId");
      if (typeof id === "string" && speaker !== null) this.#asked.set(JSON.stringify([speaker.source.app, speaker.conversation, id]), speaker);
    }
    for (const oldest of this.#asked.keys()) {
      if (this.#asked.size <= MAX_IDS) return;
      this.#asked.delete(oldest);
    }
  }

  /** Who asked that, of this app and, where it is known, for this conversation; null when nobody did. Gives it once. */
  complete(app: string, id: unknown, conversation?: string): Speaker | null {
    for (const [key, speaker] of this.#asked) {
      const [asking, where, asked] = JSON.parse(key) as [string, string, string];
      if (asking !== app || asked !== id || (conversation !== undefined && conversation !== where)) continue;
      this.#asked.delete(key);
      return speaker;
    }
    return null;
  }
}
