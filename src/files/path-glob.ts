import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { compileGlob, type Glob } from "../base/glob.ts";

/** What a path pattern stands for at one moment. */
export interface Expansion {
  /** Absolute paths of the regular files that match, sorted bytewise. */
  readonly files: readonly string[];
  /** Folders in which a change could change `files`; for a folder that is missing, its nearest existing parent. */
  readonly folders: readonly string[];
  /** Whether the walk stopped at its bounds, so that `files` may be incomplete. */
  readonly truncated: boolean;
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
 */
export async function expandPattern(pattern: string): Promise<Expansion> {
  const { root } = path.parse(pattern);
  const segments = pattern
    .slice(root.length)
    .split(/[\\/]/)
    .filter((s) => s !== "")
    .map((s): Segment => (s === "**" ? "**" : compileGlob(s)));
  const walk = new Walk(segments);
  await walk.enter(root, 0, 0);
  return {
    files: sortBytewise(walk.files),
    folders: sortBytewise(walk.folders),
    truncated: walk.truncated,
  };
}

/** Sorted by the bytes of their UTF-8 form, so that the order is the same on every system and in every language. */
export function sortBytewise(paths: Iterable<string>): string[] {
  return [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

type Segment = Glob | "**";

class Walk {
  readonly files = new Set<string>();
  readonly folders = new Set<string>();
  truncated = false;
  readonly #segments: readonly Segment[];
  readonly #seen = new Set<string>();

  constructor(segments: readonly Segment[]) {
    this.#segments = segments;
  }

  /** Looks in a folder that exists for what matches from segment `index` on. */
  async enter(folder: string, index: number, depth: number): Promise<void> {
    const segment = this.#segments[index];
    if (segment === undefined) return;
    if (segment !== "**" && segment.literal) {
      const target = path.join(folder, segment.source);
      await this.#step(target, await kindOf(target), folder, index + 1, depth);
      return;
    }
    if (depth > MAX_DEPTH || this.#seen.size > MAX_FOLDERS) {
      this.truncated = true;
      return;
    }
    const key = `${index}\0${await realpath(folder).catch(() => folder)}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.folders.add(folder);
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    if (segment === "**") {
      await this.enter(folder, index + 1, depth + 1);
      const last = index === this.#segments.length - 1;
      const visible = entries.filter(({ name }) => !name.startsWith(".") && name !== "node_modules" && !isIgnoredName(name));
      const visit = async (entry: Dirent): Promise<void> => {
        const target = path.join(folder, entry.name);
        const kind = await kindOfEntry(entry, target);
        if (kind === "folder") await this.enter(target, index, depth + 1);
        else if (kind === "file" && last) this.files.add(target);
      };
      await Promise.all(visible.map(visit));
      return;
    }
    const matching = entries.filter(
      ({ name }) => segment.matches(name) && !isIgnoredName(name) && name !== "node_modules" && (!name.startsWith(".") || segment.source.startsWith(".")),
    );
    const visit = async (entry: Dirent): Promise<void> => {
      const target = path.join(folder, entry.name);
      await this.#step(target, await kindOfEntry(entry, target), folder, index + 1, depth + 1);
    };
    await Promise.all(matching.map(visit));
  }

  async #step(target: string, kind: Kind, parent: string, next: number, depth: number): Promise<void> {
    if (next === this.#segments.length) {
      this.folders.add(parent);
      if (kind === "file") this.files.add(target);
    } else if (kind === "folder") {
      await this.enter(target, next, depth);
    } else {
      this.folders.add(parent); // It may be made later.
    }
  }
}

type Kind = "file" | "folder" | "none";

/** What a folder says of its entries spares a look at each; links, and what some file systems do not say, are looked up. */
async function kindOfEntry(entry: Dirent, target: string): Promise<Kind> {
  return entry.isFile() ? "file" : entry.isDirectory() ? "folder" : kindOf(target);
}

async function kindOf(target: string): Promise<Kind> {
  try {
    const found = await stat(target);
    return found.isFile() ? "file" : found.isDirectory() ? "folder" : "none";
  } catch {
    return "none";
  }
}
