import { lstatSync, readdirSync, realpathSync, type Dirent } from "node:fs";
import path from "node:path";
import { compileGlob, type Glob } from "../base/glob.ts";
import { isCode } from "./atomic-write.ts";
import { plainReason, type PlainReason } from "./plain-reason.ts";
import { createPace, createStats, type Stats } from "./stats.ts";

/** What a path pattern stands for at one moment. */
export interface Expansion {
  /** Absolute paths of the regular files that match, sorted bytewise. */
  readonly files: readonly string[];
  /** Folders in which a change could change `files`; for a folder that is missing, its nearest existing parent. */
  readonly folders: readonly string[];
  /** Why `files` may be incomplete; empty when every folder was looked through. */
  readonly faults: readonly WalkFault[];
}

/** A folder that could not be looked through. One that is not there is none. */
export interface WalkFault extends PlainReason {
  readonly code: "folder-unreadable" | "pattern-too-wide";
  readonly folder: string;
}

const MAX_DEPTH = 24;
const MAX_FOLDERS = 10_000;

/** Whether a name is an editor's backup, swap or temp file: such files are never loaded and never trigger a reload. */
export function isIgnoredName(name: string): boolean {
  return (
    name === "4913" || name.endsWith("~") || /^\..*\.sw[a-z]$/.test(name) || /^#.*#$/.test(name) || name.startsWith(".#") || /\.(bak|orig|tmp)$/.test(name)
  );
}

/**
 * Expands an absolute path pattern: `*` and `?` match within a name, `**` stands for any number of folders. A leading dot is only
 * matched by a pattern that has it; backup names and `node_modules` are left out; links to folders are followed, circles end.
 * What a last part matches and is no file is among the files, for whoever reads it to tell; folders only where that part has an ending
 * such as `.yaml`, for under `policies/*` they are natural. Files are looked at through `stats`, so that whoever shares it need not look again.
 */
export async function expandPattern(pattern: string, stats: Stats = createStats()): Promise<Expansion> {
  const { root, segments } = segmentsOf(pattern);
  const walk = new Walk(segments, stats);
  await walk.run(root);
  return {
    files: sortBytewise(walk.files),
    folders: sortBytewise(walk.folders),
    faults: [...walk.faults.values()].filter(({ folder }) => !walk.files.has(folder)),
  };
}

/** Whether a path pattern names one file outright, without a wildcard. */
export function namesOneFile(pattern: string): boolean {
  return !/[*?]/.test(pattern);
}

/** Whether an absolute path pattern would take a file of this absolute path, were it there. */
export function patternTakes(pattern: string, file: string): boolean {
  const { root, segments } = segmentsOf(pattern);
  const names = file.slice(root.length).split(/[\\/]/);
  if (!file.startsWith(root) || isIgnoredName(names.at(-1)!)) return false;
  const fits = (at: number, from: number): boolean => {
    const segment = segments[at];
    if (segment === undefined) return from === names.length;
    if (segment === "**") return fits(at + 1, from) || (from < names.length && fits(at, from + 1));
    return from < names.length && segment.matches(names[from]!) && fits(at + 1, from + 1);
  };
  return fits(0, 0);
}

function segmentsOf(pattern: string): { readonly root: string; readonly segments: readonly Segment[] } {
  const { root } = path.parse(pattern);
  const segments = pattern
    .slice(root.length)
    .split(/[\\/]/)
    .filter((s) => s !== "")
    .map((s): Segment => (s === "**" ? "**" : compileGlob(s)));
  return { root, segments };
}

const SURROGATE = /[\ud800-\udfff]/;

/** Sorted by the bytes of their UTF-8 form, so that the order is the same on every system and in every language. */
export function sortBytewise(paths: Iterable<string>): string[] {
  const list = [...paths];
  // Only where a pair of surrogates stands do bytes and code units disagree.
  return list.some((name) => SURROGATE.test(name)) ? list.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) : list.sort();
}

type Segment = Glob | "**";

/** Breadth first, so that a folder is found by its own name before it is found through a link further down. */
class Walk {
  readonly files = new Set<string>();
  readonly folders = new Set<string>();
  /** By folder, so that each is told once. */
  readonly faults = new Map<string, WalkFault>();
  readonly #segments: readonly Segment[];
  readonly #stats: Stats;
  readonly #seen = new Set<string>();
  readonly #next: { readonly folder: string; readonly index: number; readonly depth: number }[] = [];

  constructor(segments: readonly Segment[], stats: Stats) {
    this.#segments = segments;
    this.#stats = stats;
  }

  async run(root: string): Promise<void> {
    const pace = createPace();
    this.#next.push({ folder: root, index: 0, depth: 0 });
    for (const { folder, index, depth } of this.#next) {
      this.#enter(folder, index, depth);
      await pace();
    }
  }

  /** Looks in a folder that exists for what matches from segment `index` on. */
  #enter(folder: string, index: number, depth: number): void {
    const segment = this.#segments[index];
    if (segment === undefined) return;
    if (segment !== "**" && segment.literal) {
      const target = inFolder(folder, segment.source);
      this.#step(target, this.#kindOf(target), folder, index, depth);
      return;
    }
    if (depth > MAX_DEPTH || this.#seen.size > MAX_FOLDERS) {
      // One is told: the others stay unseen for the same reason.
      if (![...this.faults.values()].some(({ code }) => code === "pattern-too-wide"))
        this.faults.set(folder, { code: "pattern-too-wide", folder, ...TOO_WIDE });
      return;
    }
    const key = `${index}\0${realPathOf(folder)}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.folders.add(folder);
    const entries = this.#entriesOf(folder);
    if (segment === "**") {
      this.#next.push({ folder, index: index + 1, depth: depth + 1 });
      const last = index === this.#segments.length - 1;
      const visible = entries.filter(({ name }) => !name.startsWith(".") && name !== "node_modules" && !isIgnoredName(name));
      for (const entry of visible) {
        const target = inFolder(folder, entry.name);
        const kind = this.#kindOfEntry(entry, target);
        if (kind === "folder") this.#next.push({ folder: target, index, depth: depth + 1 });
        else if (last && kind !== "none") this.files.add(target);
        else if (kind === "lost") this.#lose(target);
      }
      return;
    }
    const matching = entries.filter(
      ({ name }) => segment.matches(name) && !isIgnoredName(name) && name !== "node_modules" && (!name.startsWith(".") || segment.source.startsWith(".")),
    );
    for (const entry of matching) {
      const target = inFolder(folder, entry.name);
      this.#step(target, this.#kindOfEntry(entry, target), folder, index, depth + 1);
    }
  }

  /** Takes or enters what the segment `index` matched in `parent`. */
  #step(target: string, kind: Kind, parent: string, index: number, depth: number): void {
    const segment = this.#segments[index] as Glob;
    if (index < this.#segments.length - 1 && kind === "folder") {
      this.#next.push({ folder: target, index: index + 1, depth });
      return;
    }
    this.folders.add(parent); // It may be made, or made another, later.
    if (kind === "none") return;
    if (index === this.#segments.length - 1) {
      if (kind !== "folder" || HAS_ENDING.test(segment.source)) this.files.add(target);
    } else if (kind === "lost") this.#lose(target);
    else if (segment.literal) this.#fault(target, NO_FOLDER);
  }

  #lose(target: string): void {
    const found = this.#stats(target);
    this.#fault(target, found instanceof Error ? plainReason(found) : LEADS_NOWHERE);
  }

  #fault(folder: string, why: PlainReason): void {
    this.faults.set(folder, { code: "folder-unreadable", folder, ...why });
  }

  /** What is in a folder; nothing when it has just gone. */
  #entriesOf(folder: string): Dirent[] {
    try {
      return readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      if (!isCode(error, "ENOENT") || isLink(folder)) this.#fault(folder, plainReason(error));
      return [];
    }
  }

  /** What a folder says of its entries spares a look at each; links, and what some file systems do not say, are looked up. */
  #kindOfEntry(entry: Dirent, target: string): Kind {
    return entry.isFile() ? "file" : entry.isDirectory() ? "folder" : this.#kindOf(target);
  }

  #kindOf(target: string): Kind {
    const found = this.#stats(target);
    if (found instanceof Error) return "lost";
    if (!found) return isLink(target) ? "lost" : "none";
    return found.isFile() ? "file" : found.isDirectory() ? "folder" : "other";
  }
}

/** `other`: a pipe, a socket, a device. `lost`: something of which nobody can say what it is, such as a link that leads nowhere. */
type Kind = "file" | "folder" | "other" | "lost" | "none";

/** A last part that reads like the name of a file. */
const HAS_ENDING = /\.\w+$/;

const TOO_WIDE: PlainReason = {
  reason: `is not looked through: a pattern reaches at most ${MAX_DEPTH} folders deep and ${MAX_FOLDERS} in all`,
  help: "name the folders that hold the files more closely, or move what else is under them away",
};
const NO_FOLDER: PlainReason = { reason: "is not a folder", help: "put a folder in its place, or correct the pattern" };
const LEADS_NOWHERE: PlainReason = { reason: "is a symbolic link that leads nowhere", help: "mend the link, or take it away" };

/** As `path.join` for one name, without its look at every character of a path that is normal already. */
function inFolder(folder: string, name: string): string {
  return folder.endsWith(path.sep) ? folder + name : folder + path.sep + name;
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  } catch {
    return true; // Something is there.
  }
}

function realPathOf(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}
