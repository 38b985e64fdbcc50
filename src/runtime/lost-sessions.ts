import type { AppRunnerDeps } from "./bring-up.ts";
import type { Generation } from "./generation.ts";
import type { SessionsView } from "./snapshot.ts";

/** Tells and counts the connections of calling sessions that ended without this side wanting it, over all lives of an app. */
export class LostSessions {
  #lost = 0;
  #reason: string | null = null;

  /** One ended, and why. */
  hear(message: string, { mask, events }: Pick<AppRunnerDeps, "mask" | "events">): void {
    this.#lost += 1;
    this.#reason = mask(message);
    events.onProtocolError(`the connection of one session ended: ${this.#reason}; its next call opens another`);
    events.onChange();
  }

  /** Beside the connections that are up. */
  view(generation: Generation | null): SessionsView {
    return { open: generation?.sessions.views() ?? [], lost: this.#lost, reason: this.#reason };
  }
}
