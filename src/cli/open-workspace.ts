import type { BootableWorkspace, RunnableWorkspace, Workspace } from "../workspace.ts";
import { CliError, EXIT } from "./cli-error.ts";
import type { Context, GlobalOptions } from "./context.ts";
import { printFindings } from "./print-findings.ts";

/** The workspace that the options name, or the one around the current folder; with `topologyText`, as it would be were that in topology.yaml. */
export async function openWorkspace(context: Context, options: GlobalOptions, topologyText?: string): Promise<Workspace> {
  // Schemas, YAML and all that: loaded only by the commands that read the files.
  const { loadWorkspace } = await import("../workspace.ts");
  const workspace = await loadWorkspace({
    cwd: context.cwd,
    env: context.env,
    topology: options.topology,
    ...(topologyText === undefined ? {} : { topologyText }),
  });
  context.conceal(workspace.masker);
  return workspace;
}

/** The workspace, without errors. Otherwise prints its findings (on stderr; with `--json` as JSON on stdout) and throws a {@link CliError} with exit code 1. */
export async function openRunnable(context: Context, options: GlobalOptions): Promise<RunnableWorkspace> {
  const workspace = await openWorkspace(context, options);
  requireRunnable(context, options, workspace);
  return workspace;
}

/** The workspace, for a host that stays: with errors in policies or signals alone it starts, denies every call, and waits for them to be mended. */
export async function openBootable(context: Context, options: GlobalOptions): Promise<BootableWorkspace> {
  const workspace = await openWorkspace(context, options);
  if (!isBootable(workspace)) requireRunnable(context, options, workspace);
  return workspace;
}

function isBootable(workspace: Workspace): workspace is BootableWorkspace {
  return workspace.boot !== null;
}

/** As {@link openRunnable}, for a workspace that is loaded already. */
export function requireRunnable(context: Context, options: GlobalOptions, workspace: Workspace): asserts workspace is RunnableWorkspace {
  if (workspace.plan !== null) return;
  if (options.json) context.out(printFindings(context, workspace, workspace.diagnostics, "json"));
  else context.note(printFindings(context, workspace, workspace.diagnostics, "text"));
  throw new CliError(`${workspace.topologyFile} and the files it names have errors; nothing was started`, EXIT.problems);
}
