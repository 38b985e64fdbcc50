import { chmod, readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Diagnostic } from "../base/diagnostics.ts";
import type { JsonObject } from "../base/json.ts";
import { printDiagnostics } from "../base/print-diagnostics.ts";
import { CliError, EXIT } from "./cli-error.ts";

/** An edit of topology.yaml that is worked out, but not written. */
export interface TopologyEdit {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  /** The new lines, for print. */
  readonly added: readonly string[];
}

/**
 * Works out what topology.yaml looks like with more entries under `apps`; comments and order stay. Throws a {@link CliError} that names
 * all which are there already, or the faults of the file.
 */
export async function addApps(topologyFile: string, entries: readonly { readonly package: string; readonly entry: JsonObject }[]): Promise<TopologyEdit> {
  const { addApp } = await import("../config/edit-yaml.ts");
  const before = await readFile(topologyFile, "utf8");
  let after = before;
  const faults: Diagnostic[] = [];
  for (const { package: name, entry } of entries) {
    const edited = addApp({ file: topologyFile, display: path.basename(topologyFile), text: after }, name, entry);
    if (edited.ok) after = edited.value;
    else faults.push(...edited.diagnostics);
    // A fault with a place is one of the file, and would be said for each entry.
    if (faults.some((fault) => fault.place !== null)) break;
  }
  if (faults.length > 0) {
    const said = printDiagnostics(faults, { format: "text", texts: () => after, color: false, files: 1, mask: (text) => text });
    throw new CliError(`topology.yaml was not changed\n${said.trimEnd()}`, EXIT.problems);
  }
  return { file: topologyFile, before, after, added: addedLines(before, after) };
}

/** Writes an edit in one step, keeping the file's mode; links are followed. Refuses when the file was changed meanwhile. */
export async function writeEdit({ file, before, after }: TopologyEdit): Promise<void> {
  const target = await realpath(file);
  if ((await readFile(target, "utf8")) !== before) throw new CliError(`${file} was changed meanwhile; run the command again`);
  const temp = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`);
  await writeFile(temp, after, { flag: "wx" });
  await chmod(temp, (await stat(target)).mode & 0o777);
  await rename(temp, target);
}

/** Lines of `after` that are not in `before`: what stands between the common start and the common end. */
function addedLines(before: string, after: string): string[] {
  const [old, now] = [before.split(/\r?\n/), after.split(/\r?\n/)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  return now.slice(start, now.length - end);
}
