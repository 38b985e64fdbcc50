import { readdirSync, type Dirent } from "node:fs";
import path from "node:path";
import { isIgnoredName } from "./path-glob.ts";
import { createPace, createStats } from "./stats.ts";

/** What lies in a folder; nothing where that cannot be read. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Whether a name is one that a file of a workspace may have. */
export function isYamlName(name: string): boolean {
  return /\.ya?ml$/i.test(name) && !name.startsWith(".") && !isIgnoredName(name);
}

/** What tells one state from another of each YAML file that lies in these folders and is none of `files`. */
export async function stampsBeside(files: ReadonlySet<string>, folders: ReadonlySet<string>): Promise<Map<string, string>> {
  const stamps = new Map<string, string>();
  const stats = createStats();
  const pace = createPace();
  for (const folder of folders) {
    for (const { name } of entriesOf(folder)) {
      const file = path.join(folder, name);
      if (!isYamlName(name) || files.has(file)) continue;
      const info = stats(file);
      if (info !== undefined && !(info instanceof Error) && info.isFile()) stamps.set(file, `${info.ino}:${info.size}:${info.mtimeNs}`);
    }
    await pace();
  }
  return stamps;
}
