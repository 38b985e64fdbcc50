import { readFile } from "node:fs/promises";
import { messageOf } from "../base/errors.ts";
import type { ExportedTools } from "../kit-api.ts";
import { writeFileAtomic } from "../files/atomic-write.ts";
import type { ExportPlan } from "../plan/types.ts";
import type { Logger } from "../runtime/ports.ts";

/** One export file as it stands on the disk. */
export interface ExportState {
  readonly format: string;
  readonly file: string;
  readonly tools: number;
  /** Whether newer content waits to be written. */
  readonly pending: boolean;
}

/** Keeps the export files equal to the catalogue. */
export interface ExportFiles {
  /** Writes what changed. `make` is given the file's text of before where the entry appends, else nothing. One write at a time, the newest content wins. Never rejects: a fault is logged and tried again at the next change. */
  update(exports: readonly ExportPlan[], make: (entry: ExportPlan, earlier: string) => ExportedTools): Promise<void>;
  state(): readonly ExportState[];
  /** Resolves when no write is under way. */
  settled(): Promise<void>;
}

/** A file's text; empty when there is none yet. */
async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Makes the writer. `onWrite` hears of every file before it is written, so that a watcher can tell its own writes. */
export function createExportFiles(log: Logger, onWrite: (file: string, text: string) => void = () => undefined): ExportFiles {
  const written = new Map<string, string>();
  let states: readonly Omit<ExportState, "pending">[] = [];
  let waiting = 0;
  let chain = Promise.resolve();
  const write = async (entry: ExportPlan, made: ExportedTools): Promise<void> => {
    for (const warning of made.warnings) log.warn({ export: entry.file }, warning);
    if (written.get(entry.file) === made.text) return;
    onWrite(entry.file, made.text);
    await writeFileAtomic(entry.file, made.text, { mode: 0o644 });
    written.set(entry.file, made.text);
    log.debug({ export: entry.file, tools: made.tools.length }, "tool schemas written");
  };
  return {
    update(exports, make) {
      waiting += 1;
      states = exports.map(({ format, file }) => states.find((state) => state.file === file) ?? { format, file, tools: 0 });
      chain = chain.then(async () => {
        const next: Omit<ExportState, "pending">[] = [];
        for (const entry of exports) {
          try {
            const made = make(entry, entry.order === "append" ? await textOf(entry.file) : "");
            await write(entry, made);
            next.push({ format: entry.format, file: entry.file, tools: made.tools.length });
          } catch (error) {
            written.delete(entry.file);
            log.error({ export: entry.file, error: messageOf(error) }, "tool schemas could not be written");
          }
        }
        states = next;
        waiting -= 1;
      });
      return chain;
    },
    state: () => states.map((state) => ({ ...state, pending: waiting > 0 })),
    settled: () => chain,
  };
}
