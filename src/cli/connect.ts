import { setTimeout as sleep } from "node:timers/promises";
import { connectToHost, type ControlClient } from "../control/client.ts";
import { claimRunFile, findRunningHost, HostRunningError, type RunFile, type RunningHost } from "../control/run-file.ts";
import { settled } from "../settled.ts";
import { locateWorkspace, type WorkspacePlace } from "../locate-workspace.ts";
import { CliError, EXIT } from "./cli-error.ts";
import type { Context, GlobalOptions } from "./context.ts";
import { localHost, type Host } from "./host.ts";
import { openWorkspace, requireRunnable } from "./open-workspace.ts";

/** Longest wait for another process that has the workspace but no open door: a host that starts, or a command with a kit of its own. */
const DOOR_WAIT = 60_000;
const DOOR_POLL = 100;

/**
 * The running host of a workspace, or null. Says so when its data folder is no longer the one that topology.yaml names. Waits while
 * another process has the workspace without a door; throws a {@link CliError} when that takes too long.
 */
export async function attach(context: Context, workspace: WorkspacePlace): Promise<ControlClient | null> {
  const running = await runningHost(workspace);
  if (running === null) return null;
  if (running.data_dir !== workspace.dataDir)
    context.note(`the host runs with data_dir ${running.data_dir}; the data_dir that ${workspace.topologyFile} names now counts when the host is restarted`);
  return connectToHost(running);
}

/** As {@link attach}, without connecting. An edit of data_dir does not hide a host: it shows itself in the new folder too, and the default one is looked at. */
export async function runningHost(workspace: WorkspacePlace): Promise<RunningHost | null> {
  for (const end = performance.now() + DOOR_WAIT; ; await sleep(DOOR_POLL)) {
    const running = (await findRunningHost(workspace.dataDir)) ?? (await earlierHost(workspace));
    if (running === null || running.url !== null) return running;
    if (performance.now() > end)
      throw new CliError(`process ${running.pid} has held ${running.topology} for a minute without opening its door; wait for it, or end it`, EXIT.noHost);
  }
}

async function earlierHost({ defaultDataDir, topologyFile }: WorkspacePlace): Promise<RunningHost | null> {
  const host = defaultDataDir === null ? null : await findRunningHost(defaultDataDir);
  return host?.topology === topologyFile ? host : null;
}

/**
 * Runs `use` with the running host of the workspace. Where none runs: `attach` ends the command with exit code 3,
 * `start` starts a kit for this command alone and stops it afterwards, whatever happens.
 */
export async function withHost<T>(context: Context, options: GlobalOptions, how: "attach" | "start", use: (host: Host) => Promise<T>): Promise<T> {
  // A running host is found without reading the files: reading takes time, and it may well be them that are broken.
  const place = await locateWorkspace({ cwd: context.cwd, topology: options.topology });
  const near = await attach(context, place);
  if (near !== null) return withClient(near, use);
  const workspace = await openWorkspace(context, options);
  const running = workspace.dataDir === place.dataDir ? null : await attach(context, workspace);
  if (running !== null) return withClient(running, use);
  if (how === "attach") throw new CliError(`no host runs for ${workspace.topologyFile}; start one with: aurora-mcp up`, EXIT.noHost);
  requireRunnable(context, options, workspace);
  let claim: RunFile;
  try {
    // One kit at a time has a workspace: its audit log, its inbox, its approvals.
    claim = await claimRunFile(workspace.dataDir, workspace.topologyFile, new Date().toISOString());
  } catch (error) {
    if (error instanceof HostRunningError) return withHost(context, options, how, use);
    throw error;
  }
  try {
    return await withKit(context, workspace.topologyFile, use);
  } finally {
    await claim.release();
  }
}

async function withClient<T>(client: ControlClient, use: (host: Host) => Promise<T>): Promise<T> {
  try {
    return await use(client);
  } finally {
    client.close();
  }
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
