import { readFile, stat } from "node:fs/promises";
import { messageOf } from "../base/errors.ts";
import { within } from "../base/within.ts";
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
  /** Why the last write failed; null when the file is as it should be. */
  readonly error: string | null;
}

/** Longest wait for a write while the host stops, in milliseconds: a dead network drive must not hold it up. */
const STOP_WAIT = 3000;

/** Keeps the export files equal to the catalogue. */
export interface ExportFiles {
  /** Writes what changed. `make` is given the file's text of before where the entry appends, else nothing. One write at a time, the newest content wins. Never rejects: a fault is tried again at the next change. Faults and warnings are logged when they are not what was said last. */
  update(exports: readonly ExportPlan[], make: (entry: ExportPlan, earlier: string) => ExportedTools): Promise<void>;
  state(): readonly ExportState[];
  /** Resolves when no write is under way, and after three seconds at the latest. */
  settled(): Promise<void>;
}

/** A file's text; empty when there is none yet. Throws for what is no file: a pipe would keep its reader waiting. */
async function textOf(file: string): Promise<string> {
  try {
    if (!(await stat(file)).isFile()) throw new Error("it is not a file");
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Makes the writer. `onWrite` hears of every file before it is written, so that a watcher can tell its own writes. `replace` writes one. */
export function createExportFiles(
  log: Logger,
  onWrite: (file: string, text: string) => void = () => undefined,
  replace: typeof writeFileAtomic = writeFileAtomic,
): ExportFiles {
  const written = new Map<string, string>();
  /** What was logged last of each file. */
  const said = new Map<string, string>();
  const sayOnce = (file: string, what: readonly string[], say: () => void): void => {
    const text = what.join("\n");
    if ((said.get(file) ?? "") !== text) say();
    said.set(file, text);
  };
  let states: readonly Omit<ExportState, "pending">[] = [];
  let waiting = 0;
  let chain = Promise.resolve();
  const write = async (entry: ExportPlan, made: ExportedTools): Promise<void> => {
    if (written.get(entry.file) === made.text) return;
    onWrite(entry.file, made.text);
    await replace(entry.file, made.text, { mode: 0o644 });
    written.set(entry.file, made.text);
    log.debug({ export: entry.file, tools: made.tools.length }, "tool schemas written");
  };
  return {
    update(exports, make) {
      waiting += 1;
      states = exports.map(({ format, file }) => states.find((state) => state.file === file) ?? { format, file, tools: 0, error: null });
      chain = chain.then(async () => {
        const next: Omit<ExportState, "pending">[] = [];
        for (const entry of exports) {
          try {
            const made = make(entry, entry.order === "append" ? await textOf(entry.file) : "");
            await write(entry, made);
            next.push({ format: entry.format, file: entry.file, tools: made.tools.length, error: null });
            sayOnce(entry.file, made.warnings, () => made.warnings.forEach((warning) => log.warn({ export: entry.file }, warning)));
          } catch (error) {
            written.delete(entry.file);
            const message = messageOf(error);
            next.push({ format: entry.format, file: entry.file, tools: 0, error: message });
            sayOnce(entry.file, [`error: ${message}`], () => log.error({ export: entry.file, error: message }, "tool schemas could not be written"));
          }
        }
        states = next;
        waiting -= 1;
      });
      return chain;
    },
    state: () => states.map((state) => ({ ...state, pending: waiting > 0 })),
    async settled() {
      if (await within(chain, STOP_WAIT)) return;
      log.error({ exports: states.map((state) => state.file) }, `an export file is not written after ${STOP_WAIT / 1000} s; the host stops without it`);
    },
  };
}
