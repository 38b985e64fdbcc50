import { readdir, stat, unlink } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../base/errors.ts";
import { stringifyExact } from "../base/exact-json.ts";
import { writeFileAtomic } from "../files/atomic-write.ts";
import type { Logger } from "../runtime/ports.ts";

/** Results kept; the oldest go first. */
const MAX_KEPT = 200;

/** Keeps a result that is too long for a model under `<data_dir>/results`, and gives the file's path; null, with a log line, when the disk refuses. */
export async function keepResult(dataDir: string, callId: string, result: unknown, log: Logger): Promise<string | null> {
  const folder = path.join(dataDir, "results");
  const file = path.join(folder, `${callId}.json`);
  try {
    await writeFileAtomic(file, stringifyExact(result), { fsync: false });
    await prune(folder);
    return file;
  } catch (error) {
    log.error({ file, error: messageOf(error) }, "a large result could not be kept");
    return null;
  }
}

/** Call ids rise with time, so the names sort by age. */
async function prune(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  for (const name of names.slice(0, Math.max(0, names.length - MAX_KEPT)))
    if ((await stat(path.join(folder, name))).isFile()) await unlink(path.join(folder, name));
}
