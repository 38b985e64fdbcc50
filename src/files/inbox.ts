import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { toAppEvent } from "../amp/app-event.ts";
import type { AmpEnvelope, Priority } from "../amp/types.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { makeFolder } from "../base/make-folder.ts";
import type { Inbox, PutResult } from "../runtime/ports.ts";
import { adoptUnrecorded, digestOf } from "./adopt-events.ts";
import { isCode, syncFolder } from "./atomic-write.ts";
import { publishFile, stageFiles } from "./event-files.ts";
import { openIdLedger, type IdLedger, type LedgerEntry } from "./id-ledger.ts";
import { Backlog } from "./inbox-backlog.ts";
import { checkFolder, listEvents, removeDeadTemps } from "./inbox-folder.ts";
import { eventFileName, isSafeId } from "./inbox-names.ts";
import { onceInARow, plainFault } from "./inbox-words.ts";
import { PutQueue, type Waiting } from "./put-queue.ts";
import { thisWriter } from "./writer-instance.ts";

/** How a file inbox works. */
export interface FileInboxOptions {
  /** The folder that readers watch. Made when missing. */
  readonly dir: string;
  readonly format: "amp" | "app_event";
  readonly fsync: boolean;
  readonly maxPending: number;
  readonly clock: Clock;
  /** Where ids are remembered; default `.ledger.jsonl` in `dir`. */
  readonly ledgerFile?: string;
  /** How many ids are remembered; default 100 000. */
  readonly ledgerSize?: number;
  /** Events that may wait in memory; default 10 000. */
  readonly queueSize?: number;
  /** Told in plain words when the inbox degrades, mends, drops, or gets an id with other content. */
  readonly onProblem?: (message: string) => void;
}

/** An inbox that writes one file an event. */
export interface FileInbox extends Inbox {
  /** Timestamp of the latest event that an earlier run wrote, for the sealer; null when none is known. */
  readonly lastTimestamp: string | null;
}

interface Item extends Waiting {
  readonly envelope: AmpEnvelope;
  readonly name: string;
  readonly text: string;
  readonly digest: string;
  readonly resolve: (result: PutResult) => void;
}

/** Most events written together. */
const BATCH = 64;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 10_000;
const CLOSE_WITHIN_MS = 30_000;

/**
 * Opens a file inbox (contracts 7). A folder that cannot be used now does not throw: events wait, it is tried again with growing
 * pauses, and `stats().degraded` says why. Temp files of dead writers are removed.
 */
export async function openFileInbox(options: FileInboxOptions): Promise<FileInbox> {
  const dir = path.resolve(options.dir);
  const problem = onceInARow(options.onProblem ?? (() => {}));
  let degraded: string | null = null;
  try {
    await checkFolder(dir);
    await removeDeadTemps(dir, options.clock.now());
  } catch (error) {
    degraded = plainFault(dir, error);
    problem(`inbox degraded: ${degraded}`);
  }
  const ledgerFile = options.ledgerFile ?? path.join(dir, ".ledger.jsonl");
  const ledger = await openIdLedger(ledgerFile, options.ledgerSize ?? 100_000, problem);
  if (degraded === null) await adoptUnrecorded(ledger, dir).catch((error: unknown) => problem(`the inbox cannot write ${ledgerFile}: ${messageOf(error)}`));
  return new Spool(dir, { ...options, onProblem: problem }, ledger, degraded, (await listEvents(dir)).length);
}

class Spool implements FileInbox {
  readonly lastTimestamp: string | null;
  readonly #dir: string;
  readonly #options: FileInboxOptions;
  readonly #ledger: IdLedger;
  readonly #problem: (message: string) => void;
  readonly #queue: PutQueue<Item>;
  readonly #writer = thisWriter();
  /** Ids on their way, with what will become of them. */
  readonly #underWay = new Map<string, { readonly digest: string; readonly result: Promise<PutResult> }>();
  readonly #backlog: Backlog;
  #degraded: string | null;
  #retryMs = FIRST_RETRY_MS;
  #written = 0;
  #duplicates = 0;
  #dropped = 0;
  #pumping = false;
  /** Files that have their names, but are not yet safe. */
  #unsettled: { readonly item: Item; readonly result: "written" | "duplicate" }[] = [];
  #settling: Promise<void> | null = null;
  #closing = false;
  #wake: (() => void) | null = null;
  #idle: (() => void)[] = [];

  constructor(dir: string, options: FileInboxOptions, ledger: IdLedger, degraded: string | null, pending: number) {
    this.#dir = dir;
    this.#options = options;
    this.#ledger = ledger;
    this.#problem = options.onProblem ?? (() => {});
    this.#queue = new PutQueue(options.queueSize ?? 10_000);
    this.#backlog = new Backlog(dir, { maxPending: options.maxPending, pending, clock: options.clock, problem: this.#problem });
    this.#degraded = degraded;
    this.lastTimestamp = ledger.last;
  }

  put(envelope: AmpEnvelope, priority: Priority): Promise<PutResult> {
    const { header, payload } = envelope;
    if (!isSafeId(header.message_id)) return Promise.reject(new Error(`message_id ${JSON.stringify(header.message_id)} cannot be part of a file name`));
    if (this.#closing) return Promise.reject(new Error("the inbox is closed"));
    const digest = digestOf(envelope);
    const earlier = this.#underWay.get(header.message_id);
    if (earlier) return this.#again(header.message_id, earlier.digest === digest, earlier.result);
    const seen = this.#ledger.check(header.message_id, digest);
    if (seen !== "new") return this.#again(header.message_id, seen === "duplicate", Promise.resolve("written"));
    const body = this.#options.format === "amp" ? envelope : toAppEvent(envelope);
    const result = new Promise<PutResult>((resolve) => {
      const item: Item = {
        app: header.source.app,
        priority,
        envelope,
        name: eventFileName(payload.type, header.message_id),
        text: `${JSON.stringify(body)}\n`,
        digest,
        resolve,
      };
      const { accepted, evicted } = this.#queue.add(item);
      if (evicted) this.#drop(evicted);
      if (!accepted) this.#drop(item);
    });
    this.#underWay.set(header.message_id, { digest, result });
    void result.then(() => this.#underWay.delete(header.message_id));
    void this.#pump();
    return result;
  }

  stats(): ReturnType<Inbox["stats"]> {
    this.#backlog.lookSoon();
    return {
      dir: this.#dir,
      written: this.#written,
      duplicates: this.#duplicates,
      dropped: this.#dropped,
      queued: this.#underWay.size,
      pending: this.#backlog.pending,
      degraded: this.#degraded ?? this.#backlog.trouble,
    };
  }

  configure(settings: { readonly maxPending: number }): void {
    this.#backlog.configure(settings.maxPending);
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#wake?.();
    // A fault ends the writing by itself now; only a disk that hangs takes so long.
    if (this.#pumping) await this.#idleWithin(CLOSE_WITHIN_MS);
    for (const item of this.#queue.take(this.#queue.size)) this.#drop(item);
    await this.#backlog.close();
    await this.#ledger.close();
  }

  /** Resolves when all is written, or after a time. */
  #idleWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #again(id: string, same: boolean, first: Promise<PutResult>): Promise<PutResult> {
    if (!same) this.#problem(`event ${id} came again with other content; the first one stays`);
    const result = await first;
    if (result === "dropped") return "dropped";
    this.#duplicates += 1;
    return "duplicate";
  }

  #drop(item: Item): void {
    this.#dropped += 1;
    if (this.#dropped === 1 || this.#dropped % 1000 === 0)
      this.#problem(`inbox queue is full: ${this.#dropped} events dropped so far, the last one a ${item.envelope.payload.type} of ${item.app}`);
    item.resolve("dropped");
  }

  /** Writes until the queue is empty. While one batch is made safe, the next is already being written. */
  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#queue.size > 0) {
      // Lets everything that comes in the same turn into one batch, and others work between two batches.
      await nextTurn();
      const fault = await this.#write(this.#queue.take(this.#degraded === null ? BATCH : 1));
      if (fault === null) this.#mended();
      else if (this.#closing) break;
      else await this.#backOff(fault);
    }
    await this.#settling;
    this.#pumping = false;
    if (this.#queue.size > 0 && !this.#closing) return this.#pump();
    for (const done of this.#idle.splice(0)) done();
  }

  /** Writes a batch and gives its files their names in order. What could not be written goes back into the queue; gives the first fault. */
  async #write(batch: readonly Item[]): Promise<Error | null> {
    const staged = await stageFiles(this.#dir, batch, this.#writer, this.#options.fsync);
    const again: Item[] = [];
    let fault: Error | null = null;
    for (const [index, item] of batch.entries()) {
      const file = staged[index]!;
      try {
        if (file instanceof Error) throw file;
        const written = publishFile(this.#dir, file);
        if (written) this.#backlog.add();
        this.#unsettled.push({ item, result: written ? "written" : "duplicate" });
      } catch (error) {
        fault ??= error as Error;
        again.push(item);
      }
    }
    this.#queue.putBack(again);
    this.#settling ??= this.#settle().finally(() => (this.#settling = null));
    return fault;
  }

  /** Makes published files safe against a power cut and a restart, all that are there at once, then tells whoever put them. */
  async #settle(): Promise<void> {
    const { fsync } = this.#options;
    while (this.#unsettled.length > 0) {
      const group = this.#unsettled;
      this.#unsettled = [];
      const entries = group.map(({ item: { envelope, digest } }): LedgerEntry => ({ id: envelope.header.message_id, digest, at: envelope.header.timestamp }));
      const steps = await Promise.allSettled([fsync ? syncFolder(this.#dir) : null, this.#ledger.add(entries, fsync)]);
      for (const step of steps) if (step.status === "rejected") this.#problem(`inbox: events are written, but ${messageOf(step.reason)}`);
      for (const { item, result } of group) {
        if (result === "written") this.#written += 1;
        else this.#duplicates += 1;
        item.resolve(result);
      }
    }
  }

  async #backOff(fault: Error): Promise<void> {
    const reason = plainFault(this.#dir, fault);
    if (this.#degraded !== reason) this.#problem(`inbox degraded: ${reason}; events wait in memory and are tried again`);
    this.#degraded = reason;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#retryMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    if (isCode(fault, "ENOENT")) await makeFolder(this.#dir, 0o700).catch(() => {});
  }

  #mended(): void {
    if (this.#degraded === null) return;
    this.#degraded = null;
    this.#retryMs = FIRST_RETRY_MS;
    this.#problem("inbox works again");
  }
}
