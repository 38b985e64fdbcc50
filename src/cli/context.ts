import { stringifyExact } from "../base/exact-json.ts";
import type { Masker } from "../base/masking.ts";
import { styleFor, wantsColor, type Style } from "./style.ts";

/** Options that every command has. */
export interface GlobalOptions {
  /** `--topology FILE` as given; the workspace is looked for when absent. */
  readonly topology?: string;
  readonly json?: boolean;
}

/** What a command has to do with the outside: its streams, its environment, and Ctrl-C. */
export interface Context {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** From now on these secrets are masked in everything that is printed; for the rest of the command. */
  conceal(masker: Masker): void;
  /** Writes a result and a newline to stdout. */
  out(text: string): void;
  /** Writes a result as JSON: indented on a terminal, else on one line. */
  json(value: unknown): void;
  /** Writes a note and a newline to stderr. */
  note(text: string): void;
  readonly style: Style;
  readonly noteStyle: Style;
  /** Whether findings are coloured. */
  readonly color: boolean;
  /** Whether a person can be asked: stdin and stderr are a terminal. */
  readonly interactive: boolean;
  /** Aborted by the first Ctrl-C or TERM. */
  readonly signal: AbortSignal;
  /** Runs on a second Ctrl-C, just before the process ends at once. Gives a function that takes it back. */
  onForce(run: () => void): () => void;
}

/** The context of this process. Also takes over SIGINT, SIGTERM and SIGHUP until {@link ProcessContext.release}. */
export interface ProcessContext extends Context {
  /** The signal that aborted the command, if one did. */
  readonly received: NodeJS.Signals | null;
  /** Gives the signals up, for commands that handle them by themselves. */
  release(): void;
}

const CODES: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** Exit code of a process that a signal ended, as shells have it. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return CODES[signal] ?? 1;
}

/** Makes the context of this process. */
export function createContext(): ProcessContext {
  const abort = new AbortController();
  const forced = new Set<() => void>();
  let masker: Masker | null = null;
  const safe = <T>(value: T): T => masker?.known(value) ?? value;
  let received: NodeJS.Signals | null = null;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (received !== null) {
      for (const run of forced) run();
      process.exit(signalExitCode(signal));
    }
    received = signal;
    abort.abort(new Error("interrupted"));
  };
  const signals = Object.keys(CODES) as NodeJS.Signals[];
  for (const signal of signals) process.on(signal, onSignal);
  // A reader that went away (`| head`) is no fault; the command just has nobody to tell any more, and ends. A host goes on.
  let released = false;
  process.stdout.on("error", () => released || abort.abort(new Error("nobody reads the output")));
  process.stderr.on("error", () => {});
  return {
    env: process.env,
    cwd: process.cwd(),
    conceal: (secrets) => void (masker = secrets),
    out: (text) => void process.stdout.write(`${safe(text)}\n`),
    json: (value) => void process.stdout.write(`${stringifyExact(safe(value), process.stdout.isTTY ? 2 : 0)}\n`),
    note: (text) => void process.stderr.write(`${safe(text)}\n`),
    style: styleFor(process.stdout, process.env),
    color: wantsColor(process.stdout, process.env),
    noteStyle: styleFor(process.stderr, process.env),
    interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    signal: abort.signal,
    onForce: (run) => {
      forced.add(run);
      return () => forced.delete(run);
    },
    get received() {
      return received;
    },
    release: () => {
      released = true;
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
