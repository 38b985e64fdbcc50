import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { expandPattern } from "./path-glob.ts";

/** What a workspace consists of: files that are named, and patterns that name more. All absolute. */
export interface WatchedSet {
  readonly files: readonly string[];
  readonly patterns: readonly string[];
}

/** The content of a set at one moment. */
export interface Fingerprint {
  /** Hash of the content of each file that is there (links followed). */
  readonly hashes: ReadonlyMap<string, string>;
  /** Folders in which a change could change the set or a content. */
  readonly folders: ReadonlySet<string>;
}

/** Takes fingerprints; files whose stamp (device, inode, size, times) is as before are not read again. */
export class Fingerprinter {
  readonly #known = new Map<string, { readonly stamp: string; readonly hash: string }>();

  async take(set: WatchedSet): Promise<Fingerprint> {
    const folders = new Set<string>();
    const files = new Set<string>(set.files);
    for (const pattern of set.patterns) {
      const expansion = await expandPattern(pattern);
      for (const file of expansion.files) files.add(file);
      for (const folder of expansion.folders) folders.add(folder);
    }
    const hashes = new Map<string, string>();
    for (const file of files) {
      for (const folder of await foldersOf(file)) folders.add(folder);
      const hash = await this.#hash(file);
      if (hash !== null) hashes.set(file, hash);
    }
    for (const file of this.#known.keys()) if (!hashes.has(file)) this.#known.delete(file);
    return { hashes, folders };
  }

  async #hash(file: string): Promise<string | null> {
    try {
      const s = await stat(file, { bigint: true });
      if (!s.isFile()) return null;
      const stamp = `${s.dev}:${s.ino}:${s.size}:${s.mtimeNs}:${s.ctimeNs}`;
      const known = this.#known.get(file);
      if (known?.stamp === stamp) return known.hash;
      const hash = hashContent(await readFile(file));
      this.#known.set(file, { stamp, hash });
      return hash;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      // A file that is there but cannot be read is a state of its own: it may become readable.
      return code === "ENOENT" || code === "ENOTDIR" ? null : `unreadable:${code}`;
    }
  }
}

/** Hash of a file's content. */
export function hashContent(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("base64url");
}

/** The folder of a file's name and, where that is a link, the folder of what it points to; for a missing folder its nearest parent. */
async function foldersOf(file: string): Promise<string[]> {
  let folder = path.dirname(file);
  while (!(await stat(folder).catch(() => null))?.isDirectory() && folder !== path.dirname(folder)) folder = path.dirname(folder);
  const target = await realpath(file).catch(() => null);
  return target === null || target === file ? [folder] : [folder, path.dirname(target)];
}
