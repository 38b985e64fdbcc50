import { connectToHost, type ControlClient } from "../control/client.ts";
import { findRunningHost } from "../control/run-file.ts";
import { settled } from "../settled.ts";
import type { Workspace } from "../workspace.ts";
import { CliError, EXIT } from "./cli-error.ts";
import type { Context, GlobalOptions } from "./context.ts";
import { localHost, type Host } from "./host.ts";
import { openWorkspace, requireRunnable } from "./open-workspace.ts";

/** The running host of a workspace, or null. Throws a {@link CliError} while it starts or when its door does not open to this user. */
export async function attach(workspace: Workspace): Promise<ControlClient | null> {
  const running = await findRunningHost(workspace.dataDir);
  if (running === null) return null;
  const client = await connectToHost(workspace.dataDir);
  if (client === null) throw new CliError(`the host for ${running.topology} (pid ${running.pid}) has no open door; it may still be starting`, EXIT.noHost);
  return client;
}

/** URL of the host that runs in a workspace, or null. */
export async function runningUrl(workspace: Workspace): Promise<string | null> {
  return (await findRunningHost(workspace.dataDir))?.url ?? null;
}

/**
 * Runs `use` with the running host of the workspace. Where none runs: `attach` ends the command with exit code 3,
 * `start` starts a kit for this command alone and stops it afterwards, whatever happens.
 */
export async function withHost<T>(context: Context, options: GlobalOptions, how: "attach" | "start", use: (host: Host) => Promise<T>): Promise<T> {
  const workspace = await openWorkspace(context, options);
  const running = await attach(workspace);
  if (running !== null) {
    try {
      return await use(running);
    } finally {
      running.close();
    }
  }
  if (how === "attach") throw new CliError(`no host runs for ${workspace.topologyFile}; start one with: aurora-mcp up`, EXIT.noHost);
  requireRunnable(context, workspace);
  return withKit(context, workspace.topologyFile, use);
}

async function withKit<T>(context: Context, topology: string, use: (host: Host) => Promise<T>): Promise<T> {
  // Loaded only now: most commands talk to a running host, and want to be quick.
  const [{ createKit }, { createLogger }] = await Promise.all([import("../kit.ts"), import("../daemon.ts")]);
  const kit = createKit({ topology, env: context.env, log: createLogger({ level: "error", format: "text" }) });
  const forget = context.onForce(() => void kit.close({ force: true }));
  try {
    if (context.interactive) context.note(context.noteStyle("dim", "starting the apps for this command; with `aurora-mcp up` running there is no wait"));
    await kit.start();
    await settled(kit, { signal: context.signal });
    context.signal.throwIfAborted();
    return await use(localHost(kit));
  } finally {
    await kit.close();
    forget();
  }
}
