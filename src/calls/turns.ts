import { CancelSource, type CancelSignal } from "../base/cancel-signal.ts";

/** How many ended turns are remembered; an older one can no longer have calls running. */
const MAX_ENDED = 10_000;
const OVER = new CancelSource();
OVER.abort(new Error("the turn has ended"));

/** Remembers which turns of which conversations are over, and aborts what still runs for them (contracts 6). */
export interface Turns {
  /** A signal that aborts when the turn ends; undefined when the caller gave no turn. Throws nothing: an ended turn gives an aborted signal. */
  signal(client: string, session: string, turn: string | undefined): CancelSignal | undefined;
  /** Whether the turn is over, so that a result must be thrown away. */
  ended(client: string, session: string, turn: string | undefined): boolean;
  end(client: string, session: string, turn: string): void;
}

/** Makes an empty memory of turns. */
export function createTurns(): Turns {
  const open = new Map<string, CancelSource>();
  const over = new Set<string>();
  const key = (client: string, session: string, turn: string): string => JSON.stringify([client, session, turn]);
  return {
    signal(client, session, turn) {
      if (turn === undefined) return undefined;
      const id = key(client, session, turn);
      if (over.has(id)) return OVER;
      let controller = open.get(id);
      if (!controller) open.set(id, (controller = new CancelSource()));
      return controller.signal;
    },
    ended: (client, session, turn) => turn !== undefined && over.has(key(client, session, turn)),
    end(client, session, turn) {
      const id = key(client, session, turn);
      over.add(id);
      if (over.size > MAX_ENDED) over.delete(over.values().next().value!);
      open.get(id)?.abort(new Error("the turn has ended"));
      open.delete(id);
    },
  };
}
