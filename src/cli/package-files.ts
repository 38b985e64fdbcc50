import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute folder of the installed package: the same from `src/cli` and `dist/cli`. */
export const PACKAGE_ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");

/**
 * Copies a folder of the package's examples to `target`, with each text passed through `change`. Never replaces a file:
 * rejects with an EEXIST error instead. `# yaml-language-server` lines are pointed at the package's schemas. Gives the files written.
 */
export async function copyExample(name: string, target: string, change: (text: string, file: string) => string): Promise<string[]> {
  const source = path.join(PACKAGE_ROOT, "examples", name);
  const written: string[] = [];
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((e) => e.isFile()).sort((a, b) => (path.join(a.parentPath, a.name) < path.join(b.parentPath, b.name) ? -1 : 1))) {
    const relative = path.relative(source, path.join(entry.parentPath, entry.name));
    const file = path.join(target, relative);
    const text = await readFile(path.join(source, relative), "utf8");
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, change(withSchema(text, file), relative), { flag: "wx" });
    written.push(file);
  }
  return written;
}

function withSchema(text: string, file: string): string {
  const schemas = path.relative(path.dirname(file), path.join(PACKAGE_ROOT, "schemas")).replaceAll(path.sep, "/");
  return text.replace(
    /^(# yaml-language-server: \$schema=)\S*\/([a-z-]+\.schema\.json)/,
    (_all, head: string, schema: string) => `${head}${schemas}/${schema}`,
  );
}
