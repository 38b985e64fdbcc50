import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import * as chokidar from "chokidar";
import { messageOf } from "../base/errors.ts";
import { isObject, own } from "../base/json.ts";
import { isCode } from "./atomic-write.ts";
import { Fingerprinter, hashContent, type WatchedSet } from "./fingerprint.ts";
import { isIgnoredName } from "./path-glob.ts";

export type { WatchedSet } from "./fingerprint.ts";

/** How a workspace is watched. Times are milliseconds. */
export interface WatchOptions {
  readonly set: WatchedSet;
  /** What was last loaded, by file; the watching counts from there. Files that are not in it count as they are now. */
  readonly loaded?: ReadonlyMap<string, string>;
  /** Whether something could not be read then: a change is told at the next check, whatever that sees. */
  readonly again?: boolean;
  /** auto: file events, a check now and then, and polling where events cannot be had. events: never polls. poll: only polls. */
  readonly mode: "auto" | "events" | "poll";
  /** The content of the set differs from what was last told: look again. */
  readonly onChange: () => void;
  /** A YAML file that is none of the set came, changed or went in a folder that is watched, or lay there at the first look. Not told with a change of the set. */
  readonly onBeside?: () => void;
  readonly onProblem: (message: string) => void;
  /** How long the set must be quiet before a change is told (default 300), and the longest time that goes on (default 2000). */
  readonly debounceMs?: number;
  readonly maxWaitMs?: number;
  /** How often the content is checked without an event; default 30 s, or 2 s when polling. */
  readonly intervalMs?: number;
  /** Watches one folder; chokidar where left out. Tests put faults here. */
  readonly watchFolder?: (folder: string, onEvent: (name: string | null) => void) => FolderWatcher;
}

/** What watches one folder. */
export interface FolderWatcher {
  on(event: "error", handler: (error: unknown) => void): unknown;
  close(): unknown;
}

/** A running watch. */
export interface WorkspaceWatch {
  /** Resolves when the first folders are watched. */
  readonly ready: Promise<void>;
  /** Call after each load: what to watch from now on, and what was loaded. A file that has changed since is told. `again`: see {@link WatchOptions}. */
  update(set: WatchedSet, loaded?: ReadonlyMap<string, string>, again?: boolean): Promise<void>;
  /** Says that the kit itself writes this content to a file: no change is told for it. Call before writing. */
  ignoreOwnWrite(file: string, content: string): void;
  /** `polling` once events could not be had. */
  readonly state: "events" | "polling";
  close(): void;
}

const POLL_MS = 2000;
const CHECK_MS = 30_000;

/**
 * Watches a workspace (contracts 8): its folders, not its files, so that editors that write by rename, swapped links and folders made later
 * are all seen. A change is told when the content is another, once things have been quiet; names of backups and swap files and writes without change
 * tell nothing. Never throws: faults of the watching are told, once each.
 */
export function watchWorkspace(options: WatchOptions): WorkspaceWatch {
  return new Watch(options);
}

class Watch implements WorkspaceWatch {
  readonly ready: Promise<void>;
  readonly #options: WatchOptions;
  readonly #fingerprinter = new Fingerprinter();
  readonly #watchers = new Map<string, { readonly id: string; readonly close: () => void }>();
  readonly #ownWrites = new Map<string, Set<string>>();
  #set: WatchedSet;
  #known: ReadonlyMap<string, string> = new Map();
  /** Files beside the set. At first none is known, for one may have come since the set was loaded. */
  #beside: ReadonlyMap<string, string> = new Map();
  #polling: boolean;
  #timer: NodeJS.Timeout | null = null;
  #firstEventAt: number | null = null;
  #interval: NodeJS.Timeout | null = null;
  #turn: Promise<void> = Promise.resolve();
  #again = false;
  #closed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#set = options.set;
    this.#polling = options.mode === "poll";
    this.ready = this.update(options.set, options.loaded, options.again);
    this.#startInterval();
  }

  get state(): "events" | "polling" {
    return this.#polling ? "polling" : "events";
  }

  update(set: WatchedSet, loaded: ReadonlyMap<string, string> = new Map(), again = false): Promise<void> {
    return this.#inTurn(async () => {
      this.#again = again;
      this.#set = set;
      const now = await this.#fingerprinter.take(set);
      const known = new Map(now.hashes);
      for (const [file, text] of loaded) known.set(file, hashContent(text));
      this.#known = known;
      this.#watchFolders(now.folders);
      await this.#look();
    });
  }

  ignoreOwnWrite(file: string, content: string): void {
    const hashes = this.#ownWrites.get(file) ?? new Set();
    hashes.add(hashContent(content));
    this.#ownWrites.set(file, hashes);
  }

  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#interval) clearInterval(this.#interval);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      if (this.#closed) return;
      try {
        await step();
      } catch (error) {
        this.#options.onProblem(`the workspace could not be looked through: ${messageOf(error)}`);
      }
    });
    return this.#turn;
  }

  #onEvent(name: string | null): void {
    if (this.#closed || (name !== null && isIgnoredName(name))) return;
    const now = performance.now();
    this.#firstEventAt ??= now;
    const left = this.#firstEventAt + (this.#options.maxWaitMs ?? 2000) - now;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#firstEventAt = null;
        void this.#inTurn(() => this.#look());
      },
      Math.max(0, Math.min(this.#options.debounceMs ?? 300, left)),
    );
  }

  async #check(): Promise<void> {
    if (!this.#again) return this.#look();
    this.#again = false;
    this.#options.onChange();
  }

  /** Compares the content with what was last told. New folders may have got files before they were watched, so it looks again after each. */
  async #look(): Promise<void> {
    for (;;) {
      const now = await this.#fingerprinter.take(this.#set);
      if (this.#closed) return;
      const changed = differing(this.#known, now.hashes);
      this.#known = now.hashes;
      const besides = differing(this.#beside, now.beside);
      this.#beside = now.beside;
      if (changed.some((file) => !this.#isOwnWrite(file, now.hashes.get(file)))) this.#options.onChange();
      else if (besides.length > 0) this.#options.onBeside?.();
      if (!this.#watchFolders(now.folders)) return;
    }
  }

  #isOwnWrite(file: string, hash: string | undefined): boolean {
    return hash !== undefined && this.#ownWrites.get(file)?.delete(hash) === true;
  }

  /** Watches exactly these folders. Gives whether any is newly watched. */
  #watchFolders(folders: ReadonlySet<string>): boolean {
    if (this.#polling || this.#closed) return false;
    let added = false;
    for (const [folder, watcher] of this.#watchers) {
      // A folder that was deleted and made again has another identity, and the old watch is deaf.
      if (folders.has(folder) && identity(folder) === watcher.id) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) {
      if (this.#watchers.has(folder)) continue;
      const id = identity(folder);
      if (id === null) continue;
      try {
        const watcher = (this.#options.watchFolder ?? watchOne)(folder, (name) => this.#onEvent(name));
        watcher.on("error", (error: unknown) => this.#onFault(folder, error));
        this.#watchers.set(folder, { id, close: () => watcher.close() });
        added = true;
      } catch (error) {
        this.#onFault(folder, error);
        if (this.#polling) return false;
      }
    }
    return added;
  }

  #onFault(folder: string, error: unknown): void {
    if (this.#closed) return;
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
    if (isCode(error, "ENOENT", "ENOTDIR", "EPERM") && identity(folder) === null) {
      this.#onEvent(null); // The folder went away; looking again finds the nearest one that is there.
      return;
    }
    const cause = isCode(error, "ENOSPC")
      ? "the system's limit of watches is used up (raise it with `sysctl fs.inotify.max_user_watches=524288`)"
      : isCode(error, "EMFILE", "ENFILE")
        ? "too many watchers or open files (raise `sysctl fs.inotify.max_user_instances=1024`, or `ulimit -n`)"
        : messageOf(error);
    if (this.#options.mode === "events") {
      this.#options.onProblem(`${folder} cannot be watched: ${cause}; it is only checked every ${this.#everyMs() / 1000} s`);
      return;
    }
    this.#polling = true;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#startInterval();
    this.#options.onProblem(`${folder} cannot be watched: ${cause}; the files are now looked at every ${this.#everyMs() / 1000} s instead`);
  }

  #everyMs(): number {
    return this.#options.intervalMs ?? (this.#polling ? POLL_MS : CHECK_MS);
  }

  #startInterval(): void {
    if (this.#interval) clearInterval(this.#interval);
    this.#interval = setInterval(() => void this.#inTurn(() => this.#check()), this.#everyMs());
    this.#interval.unref();
  }
}

/** Watches the direct members of a folder. What an event says is not relied on: it only means "look again". */
function watchOne(folder: string, onEvent: (name: string | null) => void): FolderWatcher {
  // Links are members like others: followed, the swap of one for another would be silent. What they point to has a watch of its own.
  const real = realpathSync(folder);
  const watcher = chokidar.watch(real, {
    depth: 0,
    ignoreInitial: true,
    persistent: false,
    atomic: false,
    followSymlinks: false,
    ignored: (file) => file !== real && isIgnoredName(path.basename(file)),
  });
  watcher.on("all", (_event, file) => onEvent(path.basename(file)));
  // A link that now points to nothing gives only a raw event.
  watcher.on("raw", (_event, name: string | null, of) => {
    if (isObject(of) && own(of, "watchedPath") === real) onEvent(name);
  });
  // What happened before it was ready went unheard.
  watcher.on("ready", () => onEvent(null));
  return watcher;
}

function identity(folder: string): string | null {
  try {
    const s = statSync(folder, { bigint: true });
    return s.isDirectory() ? `${s.dev}:${s.ino}` : null;
  } catch {
    return null;
  }
}

function differing(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((file) => before.get(file) !== after.get(file));
}
