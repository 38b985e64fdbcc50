import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { compileGlob } from "../base/glob.ts";
import type { JsonObject } from "../base/json.ts";
import { eventFacts, type EventFacts } from "./event-facts.ts";
import { listEvents } from "./inbox-folder.ts";
import { inboxFolders } from "./inbox-names.ts";
import { MAX_EVENT_BYTES, readEvent } from "./read-event.ts";

/** Which events to show; all that are given must fit. */
export interface EventFilter {
  /** Glob over the app that it comes from. */
  readonly app?: string | undefined;
  /** Glob over its type. */
  readonly type?: string | undefined;
  readonly session?: string | undefined;
  /** Only events at or after this moment, milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
}

export interface TailOptions {
  readonly filter?: EventFilter;
  /** Whether to go on as new events come, until the signal; else it ends after what is there. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
  /** Gets each event as its file has it: an AMP envelope or the flat form. */
  readonly onEvent: (event: JsonObject) => void;
  readonly pollMs?: number;
}

const REMEMBERED = 200_000;

/** Makes the test of a filter. */
export function eventFilter(filter: EventFilter = {}): (facts: EventFacts) => boolean {
  const app = filter.app === undefined ? null : compileGlob(filter.app);
  const type = filter.type === undefined ? null : compileGlob(filter.type);
  return (facts) =>
    (app === null || app.matches(facts.app)) &&
    (type === null || type.matches(facts.type)) &&
    (filter.session === undefined || facts.session === filter.session) &&
    (filter.sinceMs === undefined || Date.parse(facts.at) >= filter.sinceMs);
}

/**
 * Shows the events of an inbox folder without taking any: what lies in `done/`, `dead/`, `processing/` and `pending/`, oldest first, each once,
 * and with `follow` what comes after. Files that are no events are passed over.
 */
export async function tailInbox(dir: string, options: TailOptions): Promise<void> {
  const { done, dead, processing, pending } = inboxFolders(dir);
  const wanted = eventFilter(options.filter);
  const shown = new Set<string>();
  const read = async (folders: readonly string[]): Promise<JsonObject[]> => {
    const events: { readonly event: JsonObject; readonly facts: EventFacts }[] = [];
    for (const folder of folders) {
      for (const name of await listEvents(folder)) {
        if (options.signal.aborted) return [];
        if (shown.has(name)) continue;
        const reading = await readEvent(path.join(folder, name), MAX_EVENT_BYTES, 1).catch(() => null);
        if (reading === null) continue; // A reader took it; it turns up in the next folder.
        shown.add(name);
        if (!reading.ok) continue;
        const facts = eventFacts(reading.event);
        if (wanted(facts)) events.push({ event: reading.event, facts });
      }
    }
    return events.sort((a, b) => (a.facts.at < b.facts.at ? -1 : 1)).map(({ event }) => event);
  };
  let folders: readonly string[] = [done, dead, processing, pending];
  while (!options.signal.aborted) {
    for (const event of await read(folders)) options.onEvent(event);
    if (!options.follow) return;
    folders = [pending, processing];
    if (shown.size > REMEMBERED) for (const name of [...shown].slice(0, REMEMBERED / 2)) shown.delete(name);
    await sleep(options.pollMs ?? 200, undefined, { signal: options.signal }).catch(() => {});
  }
}
