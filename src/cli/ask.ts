import { createInterface } from "node:readline/promises";
import type { Context } from "./context.ts";

/**
 * Asks a yes-or-no question on the terminal (stderr, so that stdout stays clean). Anything but `y` or `yes` is No,
 * and so are end of input and Ctrl-C. Call only where {@link Context.interactive}.
 */
export async function askYesNo(context: Context, question: string): Promise<boolean> {
  const answer = await askLine(context, `${question} [y/N] `);
  return /^y(es)?$/i.test(answer?.trim() ?? "");
}

/** Asks for one line on the terminal; null at end of input or Ctrl-C. */
export async function askLine(context: Context, question: string): Promise<string | null> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise<string | null>((resolve, reject) => {
      // readline takes Ctrl-C for itself while it waits; hand it on as the signal it is.
      lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
      lines.on("close", () => resolve(null));
      lines.question(question, { signal: context.signal }).then(resolve, (error: unknown) => (context.signal.aborted ? resolve(null) : reject(error)));
    });
  } finally {
    lines.close();
  }
}
