import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { mapSignal, type MappedEvent, type SignalCounters } from "../amp/map-signal.ts";
import type { SignalRules } from "../amp/mapping.ts";
import type { AmpEnvelope, Signal } from "../amp/types.ts";
import type { Inbox, Logger } from "./ports.ts";

/** What the ingest works with. */
export interface IngestDeps {
  readonly rules: () => SignalRules;
  readonly seal: (event: MappedEvent, source: { readonly app: string; readonly instance: string | null }) => AmpEnvelope;
  /** Where an event goes; null drops it (receipts switched off). */
  readonly inboxFor: (event: MappedEvent) => Inbox | null;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called before an event can be read by anyone; the event is handed on when it is over. Null when there is nothing to do. Never rejects. */
  readonly beforePut: (signal: Signal, event: MappedEvent) => Promise<void> | null;
  readonly onEnvelope: (envelope: AmpEnvelope) => void;
  readonly log: Logger;
}

/** Turns signals into envelopes and hands them to the inbox, in the order in which they came. */
export interface Ingest {
  /** Resolves when every envelope of the signal is in the inbox (or was a duplicate). Never rejects: a fault is logged. */
  emit(signal: Signal): Promise<void>;
  /** Resolves when all that was emitted so far has been handed over. */
  settled(): Promise<void>;
}

/** Makes an ingest. */
export function createIngest(deps: IngestDeps): Ingest {
  const counters: SignalCounters = new Map();
  const open = new Set<Promise<void>>();
  /** Resolves when every event before has got past `beforePut`; null when none is held up. */
  let gate: Promise<unknown> | null = null;
  const put = async (signal: Signal, event: MappedEvent): Promise<void> => {
    const inbox = deps.inboxFor(event);
    if (!inbox) return;
    const first = deps.beforePut(signal, event);
    if (first !== null || gate !== null) {
      // Whoever comes behind one that is held up waits too, so that the order stays.
      const turn = Promise.all([gate, first]);
      gate = turn;
      await turn;
      if (gate === turn) gate = null;
    }
    const envelope = deps.seal(event, { app: signal.app, instance: signal.instance });
    const written = inbox.put(envelope, event.priority);
    deps.onEnvelope(envelope);
    await written;
  };
  return {
    emit(signal) {
      const work = (async () => {
        try {
          const events = mapSignal(deps.rules(), signal, { nowMs: deps.clock.now(), random: deps.random, counters });
          await Promise.all(events.map((event) => put(signal, event)));
        } catch (error) {
          deps.log.error({ app: signal.app, signal: signal.method, error: messageOf(error) }, "event could not be written");
        }
      })();
      open.add(work);
      void work.finally(() => open.delete(work));
      return work;
    },
    async settled() {
      await Promise.allSettled(open);
    },
  };
}
