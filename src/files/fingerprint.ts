import { createHash } from "node:crypto";
import { readFile, readlink, stat } from "node:fs/promises";
import path from "node:path";
import { expandPattern } from "./path-glob.ts";
import { stampsBeside } from "./yaml-entries.ts";

/** What a workspace consists of: files that are named, and patterns that name more. All absolute. */
export interface WatchedSet {
  readonly files: readonly string[];
  readonly patterns: readonly string[];
}

/** The content of a set at one moment. */
export interface Fingerprint {
  /** Hash of the content of each file that is there (links followed). */
  readonly hashes: ReadonlyMap<string, string>;
  /** Stamps of the YAML files that lie in the same folders and are none of the set. */
  readonly beside: ReadonlyMap<string, string>;
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
      folders.add(await nearestFolder(file));
      const hash = await this.#hash(file);
      if (hash !== null) hashes.set(file, hash);
    }
    for (const file of this.#known.keys()) if (!hashes.has(file)) this.#known.delete(file);
    const beside = await stampsBeside(files, folders);
    const links = new LinkWalk();
    for (const folder of folders) await links.follow(folder);
    for (const file of files) {
      const target = await links.follow(file);
      if (target !== null) folders.add(await nearestFolder(target));
    }
    for (const folder of links.folders) folders.add(folder);
    return { hashes, beside, folders };
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

/** The folder of a file's name; for a missing folder its nearest parent. */
async function nearestFolder(file: string): Promise<string> {
  let folder = path.dirname(file);
  while (!(await stat(folder).catch(() => null))?.isDirectory() && folder !== path.dirname(folder)) folder = path.dirname(folder);
  return folder;
}

const MAX_LINKS = 40;

/** Follows names one part at a time, for a link anywhere in a name may be swapped, also one that another link leads to. */
class LinkWalk {
  /** Folders that hold a link which was met. */
  readonly folders = new Set<string>();
  /** Where each name that was met leads to, one step further; null for no link. */
  readonly #targets = new Map<string, string | null>();

  /** Where a name leads to in the end, whether or not that is there; null when no link is in it, or a circle. */
  async follow(name: string): Promise<string | null> {
    const { root } = path.parse(name);
    const left = partsOf(name, root);
    let at = root;
    let links = 0;
    for (let part = left.shift(); part !== undefined; part = left.shift()) {
      const here = path.join(at, part);
      const target = await this.#targetOf(here);
      if (target === null) {
        at = here;
        continue;
      }
      if ((links += 1) > MAX_LINKS) return null;
      // Links in the root are the system's own (/tmp, /bin); a watch there would hear of everything.
      if (at !== root) this.folders.add(at);
      const next = path.resolve(at, target);
      at = path.parse(next).root;
      left.unshift(...partsOf(next, at));
    }
    return links === 0 ? null : at;
  }

  async #targetOf(name: string): Promise<string | null> {
    const known = this.#targets.get(name);
    if (known !== undefined) return known;
    const target = await readlink(name).catch(() => null);
    this.#targets.set(name, target);
    return target;
  }
}

function partsOf(name: string, root: string): string[] {
  return name
    .slice(root.length)
    .split(path.sep)
    .filter((part) => part !== "");
}
