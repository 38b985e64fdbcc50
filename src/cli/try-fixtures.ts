import { escapeInvisible } from "../base/text.ts";
import type { RunnableWorkspace } from "../workspace.ts";
import { readGiven } from "./arguments.ts";
import { EXIT } from "./cli-error.ts";
import type { Context, GlobalOptions } from "./context.ts";
import { openRunnable } from "./open-workspace.ts";
import type { Trial } from "./what-if.ts";

/** Runs a file of fixtures against the workspace and prints how each came out; the exit code says whether all passed. Throws a {@link CliError} for a file that cannot be read. */
export async function tryFixtures(
  context: Context,
  options: GlobalOptions,
  file: string,
  run: (workspace: RunnableWorkspace, text: string) => Promise<Trial[]>,
): Promise<number> {
  const workspace = await openRunnable(context, options);
  const text = await readGiven(context, file, "fixtures");
  const trials = await run(workspace, text);
  const failed = trials.filter((trial) => !trial.ok).length;
  if (options.json) context.json(trials);
  else {
    for (const trial of trials) {
      const place = trial.ok || trial.line === null ? "" : `${file}:${trial.line}: `;
      context.out(`${trial.ok ? context.style("green", "ok  ") : context.style("red", "FAIL")}  ${escapeInvisible(`${place}${trial.name}`)}`);
      for (const problem of trial.problems) context.out(`      ${escapeInvisible(problem)}`);
    }
    context.out(`${trials.length - failed} passed, ${failed} failed`);
  }
  return failed > 0 ? EXIT.problems : EXIT.ok;
}
