import { existsSync } from "node:fs";
import { readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { makeFolder } from "../base/make-folder.ts";
import { CliError } from "./cli-error.ts";

/** Absolute folder of the installed package: the same from `src/cli` and `dist/cli`. */
export const PACKAGE_ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");

/** A file that is to be made. */
export interface NewFile {
  readonly file: string;
  readonly text: string;
}

/**
 * The files of one of the package's examples as they would stand in `target`, with each text passed through `change`.
 * `# yaml-language-server` lines are pointed at the package's schemas. Writes nothing.
 */
export async function exampleFiles(name: string, target: string, change: (text: string) => string): Promise<NewFile[]> {
  const source = path.join(PACKAGE_ROOT, "examples", name);
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.relative(source, path.join(entry.parentPath, entry.name)));
  return Promise.all(
    files.sort().map(async (relative) => {
      const file = path.join(target, relative);
      return { file, text: change(withSchema(await readFile(path.join(source, relative), "utf8"), file)) };
    }),
  );
}

/** Writes all of the files, or none: throws a {@link CliError} when one of them is there already. Gives their names. */
export async function writeNewFiles(files: readonly NewFile[]): Promise<string[]> {
  const there = files.filter(({ file }) => existsSync(file)).map(({ file }) => file);
  if (there.length > 0) throw new CliError(`${there.join(", ")} ${there.length === 1 ? "is" : "are"} there already; nothing was written`);
  for (const { file, text } of files) {
    await makeFolder(path.dirname(file));
    await writeFile(file, text, { flag: "wx" });
  }
  return files.map(({ file }) => file);
}

function withSchema(text: string, file: string): string {
  const schemas = path.relative(path.dirname(file), path.join(PACKAGE_ROOT, "schemas")).replaceAll(path.sep, "/");
  return text.replace(
    /^(# yaml-language-server: \$schema=)\S*\/([a-z-]+\.schema\.json)/,
    (_all, head: string, schema: string) => `${head}${schemas}/${schema}`,
  );
}
