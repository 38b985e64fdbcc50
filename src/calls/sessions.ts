import type { Clock } from "../base/clock.ts";
import type { Journal } from "../runtime/ports.ts";

/** A data-flow mark: this session of this client has heard this source. Times are wall clock milliseconds. */
export interface Mark {
  /** {@link ANY_CLIENT}: the session of every client that uses this name. */
  readonly client: string;
  /** `*`: every session of the client. */
  readonly session: string;
  readonly source: string;
  readonly since: number;
  readonly expires_at: number;
}

/** One line of the journal of marks. */
export type MarkRecord = ({ readonly kind: "mark" } & Mark) | { readonly kind: "clear"; readonly client: string; readonly session: string };

/** The marks of all sessions (contracts 5). A session is client + conversation, so a new connection of the same changes nothing. */
export interface Sessions {
  /**
   * Marks a session. It counts as marked at once; the promise resolves when the mark is on the disk, which is when a result of
   * the source may leave. Hearing the same source again makes the mark last longer.
   */
  mark(client: string, session: string, source: string, expiresMs: number): Promise<void>;
  isMarked(client: string, session: string): boolean;
  /** Marks in force for one session, oldest first. */
  marks(client: string, session: string): Mark[];
  /** All marks in force, sorted by client, session and time. */
  list(): Mark[];
  /** Takes all marks of a session away; only an operator may. Gives whether there were any. */
  clear(client: string, session: string): Promise<boolean>;
}

/** Most sessions that are told apart; beyond, a whole client is marked, for session names come from callers. */
const MAX_SESSIONS = 20_000;
const ALL = "*";
/** Stands for every client: nobody knows who will take up the conversation that an event opens. No client can be called so. */
export const ANY_CLIENT = "*";
const COMPACT_AFTER = 20_000;
const CLEAN_EVERY_MS = 60_000;

/** Opens the marks that the journal holds and that have not expired. `onMark` hears of every source that a session hears for the first time. */
export async function openSessions(journal: Journal<MarkRecord>, clock: Clock, onMark: (mark: Mark) => void = () => {}): Promise<Sessions> {
  /** Client and session to source to mark. */
  const marked = new Map<string, Map<string, Mark>>();
  /** Marks that are known to be on the disk: only those may be relied on without a new write. */
  const stored = new WeakSet<Mark>();
  const key = (client: string, session: string): string => JSON.stringify([client, session]);
  const put = (mark: Mark): void => {
    const id = key(mark.client, mark.session);
    const sources = marked.get(id);
    if (sources) sources.set(mark.source, mark);
    else marked.set(id, new Map([[mark.source, mark]]));
  };
  const inForce = (id: string): Mark[] => {
    const sources = marked.get(id);
    if (!sources) return [];
    const now = clock.now();
    for (const [source, mark] of sources) if (mark.expires_at <= now) sources.delete(source);
    if (sources.size === 0) marked.delete(id);
    return [...sources.values()];
  };
  /** Every key under which a mark counts for this session. */
  const scopes = (client: string, session: string): string[] =>
    marked.size === 0 ? [] : [...new Set([client, ANY_CLIENT].flatMap((c) => [key(c, session), key(c, ALL)]))];
  const all = (): Mark[] => [...marked.keys()].flatMap((id) => inForce(id));

  const records = await journal.read();
  for (const record of records) {
    if (record.kind === "clear") marked.delete(key(record.client, record.session));
    else put({ client: record.client, session: record.session, source: record.source, since: record.since, expires_at: record.expires_at });
  }
  const compact = (): Promise<void> => journal.rewrite(all().map((mark) => ({ kind: "mark", ...mark })));
  if (records.length > 0) await compact();
  for (const mark of all()) stored.add(mark);
  let written = 0;
  let nextCleaning = 0;
  const append = async (record: MarkRecord): Promise<void> => {
    written += 1;
    if (written > COMPACT_AFTER) {
      written = 0;
      // Memory already holds this record's effect, so the new file does too.
      await compact();
    } else {
      await journal.append(record, true);
    }
  };

  return {
    async mark(client, session, source, expiresMs) {
      const now = clock.now();
      if (marked.size >= MAX_SESSIONS && now >= nextCleaning) {
        nextCleaning = now + CLEAN_EVERY_MS;
        all();
      }
      const where = marked.has(key(client, session)) || marked.size < MAX_SESSIONS ? session : ALL;
      const before = marked.get(key(client, where))?.get(source);
      const live = before !== undefined && before.expires_at > now;
      if (live && stored.has(before) && before.expires_at >= now + expiresMs) return;
      // A tenth longer than asked, so that a talkative source does not cost a disk write for every result.
      const mark: Mark = { client, session: where, source, since: live ? before.since : now, expires_at: now + Math.ceil(expiresMs * 1.1) };
      put(mark);
      if (!live) onMark(mark);
      await append({ kind: "mark", ...mark });
      stored.add(mark);
    },
    isMarked: (client, session) => scopes(client, session).some((id) => inForce(id).length > 0),
    marks: (client, session) =>
      scopes(client, session)
        .flatMap(inForce)
        .sort((a, b) => a.since - b.since),
    list: () => all().sort((a, b) => compare(a.client, b.client) || compare(a.session, b.session) || a.since - b.since),
    async clear(client, session) {
      const id = key(client, session);
      if (inForce(id).length === 0) return false;
      // First the file: a mark that comes back after a restart is a nuisance, one that vanishes too early is a hole.
      await journal.append({ kind: "clear", client, session }, true);
      marked.delete(id);
      return true;
    },
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
