import { createHash } from "node:crypto";
import { messageOf } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import type { Journal } from "../runtime/ports.ts";
import { openJournal } from "./journal.ts";

/** What a ledger knows of an id. `conflict`: the id was there with other content. */
export type Seen = "new" | "duplicate" | "conflict";

/** Remembers ids (with a digest of their content) over restarts, the newest `capacity` of them. */
export interface IdLedger {
  /** Latest `last` that was added, null when none was. */
  readonly last: string | null;
  check(id: string, contentDigest: string): Seen;
  /** Resolves when the ids are in the file, with `durable` on the disk. They count at once. */
  add(entries: readonly LedgerEntry[], durable: boolean): Promise<void>;
  close(): Promise<void>;
}

/** An id, a digest of what it stood for, and when it was made. */
export interface LedgerEntry {
  readonly id: string;
  readonly digest: string;
  readonly at: string;
}

/** One line of the file: several entries that were added together, and the latest time among them. */
interface LedgerLine {
  readonly ids: readonly string[];
  readonly last: string;
}

const LINE_IDS = 500;

/** A short digest of a JSON value, to tell another fact under the same id from the same fact again. */
export function contentDigest(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("base64url").slice(0, 16);
}

/** Opens the ledger file; makes it when the first id is added. One that cannot be read counts as empty, and `onProblem` is told. */
export async function openIdLedger(file: string, capacity: number, onProblem: (message: string) => void = () => {}): Promise<IdLedger> {
  const journal: Journal<LedgerLine> = openJournal<LedgerLine>(file);
  const known = new Map<string, string>();
  let last: string | null = null;
  let recorded = 0;
  const remember = (id: string, digest: string): void => {
    known.delete(id);
    known.set(id, digest);
    if (known.size > capacity) known.delete(known.keys().next().value!);
  };
  const lines = await journal.read().catch((error: unknown): LedgerLine[] => {
    onProblem(`${file} cannot be read (${messageOf(error)}): events from before the restart are not recognised when they come again`);
    return [];
  });
  for (const line of lines) {
    if (!Array.isArray(line?.ids)) continue;
    for (const entry of line.ids) {
      const [id, digest] = String(entry).split(" ");
      if (id) remember(id, digest ?? "");
    }
    recorded += line.ids.length;
    if (typeof line.last === "string") last = later(last, line.last);
  }
  const compact = (): Promise<void> => {
    const entries = [...known].map(([id, digest]) => `${id} ${digest}`);
    const lines: LedgerLine[] = [];
    for (let i = 0; i < entries.length; i += LINE_IDS) lines.push({ ids: entries.slice(i, i + LINE_IDS), last: last ?? "" });
    recorded = entries.length;
    return journal.rewrite(lines);
  };
  return {
    get last() {
      return last;
    },
    check(id, digest) {
      const had = known.get(id);
      if (had === undefined) return "new";
      return had === digest || had === "" ? "duplicate" : "conflict";
    },
    async add(entries, durable) {
      if (entries.length === 0) return;
      for (const { id, digest, at } of entries) {
        remember(id, digest);
        last = later(last, at);
      }
      recorded += entries.length;
      await journal.append({ ids: entries.map(({ id, digest }) => `${id} ${digest}`), last: last ?? "" }, durable);
      if (recorded > capacity * 2) await compact();
    },
    close: () => journal.close(),
  };
}

function later(a: string | null, b: string): string {
  return a === null || Date.parse(b) > Date.parse(a) || (Date.parse(b) === Date.parse(a) && b > a) ? b : a;
}
