import { canRun, loadWorkspace, type RunnableWorkspace, type Workspace } from "../workspace.ts";
import { CliError, EXIT } from "./cli-error.ts";
import type { Context, GlobalOptions } from "./context.ts";
import { printFindings } from "./print-findings.ts";

/** The workspace that the options name, or the one around the current folder. */
export function openWorkspace(context: Context, options: GlobalOptions): Promise<Workspace> {
  return loadWorkspace({ cwd: context.cwd, env: context.env, topology: options.topology });
}

/** The workspace, without errors. Otherwise prints its findings on stderr and throws a {@link CliError} with exit code 1. */
export async function openRunnable(context: Context, options: GlobalOptions): Promise<RunnableWorkspace> {
  const workspace = await openWorkspace(context, options);
  requireRunnable(context, workspace);
  return workspace;
}

/** As {@link openRunnable}, for a workspace that is loaded already. */
export function requireRunnable(context: Context, workspace: Workspace): asserts workspace is RunnableWorkspace {
  if (canRun(workspace)) return;
  context.note(printFindings(context, workspace, workspace.diagnostics, "text"));
  throw new CliError(`${workspace.topologyFile} and the files it names have errors; nothing was started`, EXIT.problems);
}
