import { lstatSync, realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Where an absolute path really lies, links followed. Names that are not there yet are kept as they are under the nearest folder
 * that is. Null when a link on the way leads nowhere or in a circle, so that nobody can say where it will lead.
 */
export function realPath(file: string): string | null {
  try {
    return realpathSync.native(file);
  } catch {
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) return null;
    const folder = path.dirname(file);
    const real = folder === file ? file : realPath(folder);
    return real === null ? null : path.join(real, path.basename(file));
  }
}

/** The folder that an entry of `grants.roots` names: an absolute path, or a file: URL. */
export function rootFolder(root: string): string {
  return root.startsWith("file:") && URL.canParse(root) ? fileURLToPath(root) : root;
}
