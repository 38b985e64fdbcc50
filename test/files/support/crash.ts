import { spawn } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { sortEventNames } from "../../../src/files/inbox-names.ts";
import { parseTimestamp } from "../../../src/amp/timestamp.ts";
import { builtCli } from "../../support/built-cli.ts";
import { schemaIssues } from "../../amp/support.ts";
import { eventFiles, leftovers, readJson, testFolder, testInbox } from "./inbox.ts";

const here = import.meta.dirname;

/** A copy of the built kit, so that a build that another test starts does not change it under the children. */
async function dist(): Promise<string> {
  const built = path.resolve(path.dirname(await builtCli()), "..");
  const copy = await testFolder();
  for (const room of ["amp", "base", "files"]) await cp(path.join(built, room), path.join(copy, room), { recursive: true });
  await writeFile(path.join(copy, "package.json"), '{"type":"module"}');
  return copy;
}

/** What is wrong with an inbox after its writer was killed `rounds` times at random points under load; empty when nothing is. */
export async function crashRounds(
  dir: string,
  rounds: number,
  options: { readonly fsync: boolean; readonly lifeMs: () => number },
): Promise<{ problems: string[]; events: number }> {
  const problems: string[] = [];
  const promised = new Set<string>();
  const built = await dist();
  for (let round = 0; round < rounds; round += 1) {
    const child = spawn(process.execPath, [path.join(here, "inbox-writer.mjs"), built, dir, options.fsync ? "safe" : "fast", "0", "200"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      // The killing is timed from the first event on, so that it falls into the load and not into the start.
      if (out === "") setTimeout(() => child.kill("SIGKILL"), options.lifeMs());
      out += chunk;
    });
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    if (code !== null) problems.push(`round ${round}: the writer ended by itself with ${code}`);
    for (const id of out.split("\n").slice(0, -1)) {
      if (promised.has(id)) problems.push(`round ${round}: ${id} was reported written twice`);
      promised.add(id);
    }
    if (round === rounds - 1) await (await testInbox(dir)).close();
  }
  problems.push(...(await faults(dir, promised)));
  return { problems, events: promised.size };
}

async function faults(dir: string, promised: ReadonlySet<string>): Promise<string[]> {
  const problems: string[] = [];
  const ids = new Set<string>();
  const byWriter: { id: string; at: number }[] = [];
  for (const name of sortEventNames(await eventFiles(dir))) {
    const event = await readJson(path.join(dir, name)).catch(() => null);
    if (event === null) {
      problems.push(`${name} is partial`);
      continue;
    }
    if (schemaIssues("amp", event).length > 0) problems.push(`${name} does not fit the schema`);
    if (ids.has(event.header.message_id)) problems.push(`${event.header.message_id} is there twice`);
    ids.add(event.header.message_id);
    byWriter.push({ id: event.header.message_id, at: parseTimestamp(event.header.timestamp)! });
  }
  for (const id of promised) if (!ids.has(id)) problems.push(`${id} was reported written and is lost`);
  if (new Set(byWriter.map((e) => e.at)).size !== byWriter.length) problems.push("two events have one timestamp");
  const rising = byWriter.filter((e) => e.id[14] === "7");
  for (const [i, e] of rising.entries()) if (i > 0 && e.at <= rising[i - 1]!.at) problems.push(`${e.id} has a later id, but an earlier time`);
  const temps = (await leftovers(dir)).filter((n) => n.endsWith(".part"));
  if (temps.length > 0) problems.push(`${temps.length} temp files of dead writers are left`);
  return problems;
}

/** Writes events in one process while another parses every file the moment it appears; gives what that one saw. */
export async function watchedRun(dir: string, events: number, bytes: number): Promise<{ parsed: number; errors: string[] }> {
  await mkdir(dir, { recursive: true });
  const watcher = spawn(process.execPath, [path.join(here, "inbox-watcher.mjs"), dir], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  watcher.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  const watched = new Promise((resolve) => watcher.on("close", resolve));
  const writer = spawn(process.execPath, [path.join(here, "inbox-writer.mjs"), await dist(), dir, "fast", String(events), String(bytes)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  await new Promise((resolve) => writer.on("close", resolve));
  await writeFile(path.join(dir, "stop.txt"), "");
  await watched;
  return JSON.parse(out) as { parsed: number; errors: string[] };
}
