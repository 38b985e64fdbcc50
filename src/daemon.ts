import { pino } from "pino";
import { messageOf } from "./base/errors.ts";
import { formatLogLine } from "./base/log-line.ts";
import type { Masker } from "./base/masking.ts";
import { holdWorkspace } from "./control/hold-workspace.ts";
import { LOCAL_DOOR, probeDoor } from "./control/http-server.ts";
import { claimRunFile, type RunFile } from "./control/run-file.ts";
import { openDoor, type Door } from "./door.ts";
import type { Kit, Logger } from "./kit-api.ts";
import { createKit } from "./kit.ts";
import { namingCollisions } from "./mcp/gateway-names.ts";
import { exportsWritten, settled } from "./settled.ts";
import { loadWorkspace, type BootableWorkspace } from "./workspace.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface LoggerOptions {
  readonly level: LogLevel;
  /** `text` for people, `json` (one object a line) for programs. */
  readonly format: "text" | "json";
  /** Takes secrets out of every line. */
  readonly masker?: Masker;
}

/** A logger whose level can be changed while it runs. */
export interface HostLogger extends Logger {
  level: string;
}

/** Makes the log of a host: levels as in the guide's 11.5, on stderr, every line masked as a whole. */
export function createLogger({ level, format, masker }: LoggerOptions): HostLogger {
  const destination = {
    write(line: string): void {
      const masked = masker === undefined ? line : masker.text(line);
      process.stderr.write(format === "json" ? masked : formatLogLine(masked));
    },
  };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } }, destination);
}

/** What a host in this process needs. */
export interface StartOptions {
  readonly workspace: BootableWorkspace;
  readonly env: NodeJS.ProcessEnv;
  readonly log: HostLogger;
  /** Version of the kit, for the API document. */
  readonly version: string;
  /** Whether the log level stands on the command line, where a reload does not change it. */
  readonly fixedLevel?: boolean;
  /** Told which apps are still on their way down. */
  readonly onStopping?: (apps: readonly string[]) => void;
  /** Called when another live host has the workspace: two hosts would run every app twice, and write the same files. */
  readonly onTaken: () => void;
  /** Given the kit before anything starts, for whoever must be able to kill it. */
  readonly onKit?: (kit: Kit) => void;
}

/** A host that runs in this process, with its door open. */
export interface StartedHost {
  readonly kit: Kit;
  /** Stops apps and door, and gives the workspace free. */
  stop(): Promise<void>;
}

/** What {@link runHost} needs beside. */
export interface HostOptions extends Omit<StartOptions, "onTaken"> {
  /** Start, tell, stop. */
  readonly once: boolean;
  /** Whether a terminal holds this process: then SIGHUP is the terminal closing, and stops it; without one it reloads. */
  readonly terminal: boolean;
  /** Told once, as soon as every app is up or has failed, or after a few seconds with those that are. */
  readonly onReady: (kit: Kit) => void;
}

/** How long `up` waits for slow starters before it says that it is ready, in milliseconds. */
const READY_WAIT = 4000;
/** All stops together, in milliseconds; what lives then is killed. */
const STOP_DEADLINE = 9000;
const STOP_NOTES_EVERY = 1000;
/** How long running calls may take when the host stops. */
const STOP_GRACE = 3000;
/** After the kill signals of a second Ctrl-C, in milliseconds; nothing that comes later matters any more. */
const FORCED_WAIT = 200;

/**
 * Claims the workspace, starts its apps and opens its door. Throws a HostRunningError when another process has the workspace, and an Error
 * that names the setting when the door does not open; nothing is left running then, and where the address is taken nothing was started.
 */
export async function startHost(options: StartOptions): Promise<StartedHost> {
  const { workspace, log } = options;
  const claim = await claimRunFile(workspace.boot.dataDir, workspace.topologyFile, new Date().toISOString());
  const kit = createKit({ topology: workspace.topologyFile, env: options.env, log });
  options.onKit?.(kit);
  let door: Door | null = null;
  let letGo = async (): Promise<void> => {};
  const stop = async (): Promise<void> => {
    await letGo();
    await stopAll(kit, door, options);
    await claim.release();
  };
  try {
    // Apps that were started for nothing may have done something already.
    await probeDoor(workspace.boot.gateway ?? LOCAL_DOOR);
    await kit.start();
    door = await openDoor({ kit, plan: workspace.boot, log, version: options.version });
    kit.setGatewayUrl(workspace.boot.gateway === null ? null : `${door.url}/mcp`);
    await claim.publish(door);
    letGo = holdWorkspace({ dataDir: workspace.boot.dataDir, claim, renewTokens: door.renewTokens, log, onTaken: options.onTaken });
    followSettings(kit, door, claim, options);
    return { kit, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Runs a host in this process until a signal ends it, and gives the exit code. The first SIGINT or SIGTERM stops in order, a second
 * one at once (130, 143). Throws as {@link startHost} does.
 */
export async function runHost(options: HostOptions): Promise<number> {
  let life: Life | null = null;
  const onTaken = (): void => life!.end(1);
  const host = await startHost({ ...options, onTaken, onKit: (kit) => void (life = watchProcess(kit, options)) });
  const { stopped, ended } = life!;
  try {
    await settled(host.kit, { signal: stopped, ...(options.once ? {} : { limitMs: READY_WAIT }) });
    refuseCollisions(host.kit, options);
    await exportsWritten(host.kit);
    if (!stopped.aborted) options.onReady(host.kit);
    return options.once ? 0 : await ended;
  } finally {
    await host.stop();
  }
}

/** Thrown when the apps are up, and what they show together cannot be served as the topology asks. The message says how to mend it. */
export class CollisionError extends Error {
  override readonly name = "CollisionError";
}

/** Under `gateway.naming: none` two tools of one name are a start-up error; later ones are left out and logged. */
function refuseCollisions(kit: Kit, { workspace, log }: Pick<StartOptions, "workspace" | "log">): void {
  const naming = workspace.boot.gateway?.naming ?? "short";
  const clashes = namingCollisions(kit.catalog(), naming);
  if (clashes.length > 0) throw new CollisionError(clashes.join("\n"));
  let told: ReadonlySet<string> = new Set();
  kit.on("catalog", (catalog) => {
    const now = new Set(namingCollisions(catalog, naming));
    for (const clash of now) if (!told.has(clash)) log.error({}, `${clash}; neither is served`);
    told = now;
  });
}

interface Life {
  /** Aborted by the first signal to stop. */
  readonly stopped: AbortSignal;
  /** Resolves then, with the exit code. */
  readonly ended: Promise<number>;
  /** Ends it in order, as the first signal does, with this exit code. */
  end(code: number): void;
}

/** Turns the signals and last errors of the process into what the host does. */
function watchProcess(kit: Kit, { log, terminal }: HostOptions): Life {
  const abort = new AbortController();
  let exitCode = 0;
  const force = (code: number): void => {
    // The kill signals go out before the first await of close; the rest is only waiting for their effect.
    const closed = kit.close({ force: true }).catch(() => {});
    const leave = (): never => process.exit(code);
    void closed.then(leave);
    setTimeout(leave, FORCED_WAIT);
  };
  const stop = (signal: "SIGINT" | "SIGTERM"): void => {
    if (abort.signal.aborted) force(signal === "SIGINT" ? 130 : 143);
    else abort.abort();
  };
  const hangUp = (): void => {
    if (terminal) return void abort.abort();
    kit.reload().catch((error: unknown) => log.error({ error: messageOf(error) }, "reload failed"));
  };
  const crash = (error: unknown): void => {
    log.error({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, "unexpected error; the host ends");
    force(1);
  };
  const handlers: Readonly<Record<string, (error: unknown) => void>> = {
    SIGINT: () => stop("SIGINT"),
    SIGTERM: () => stop("SIGTERM"),
    SIGHUP: hangUp,
    uncaughtException: crash,
    unhandledRejection: crash,
  };
  for (const [event, handler] of Object.entries(handlers)) process.on(event, handler);
  const ended = new Promise<number>((resolve) => abort.signal.addEventListener("abort", () => resolve(exitCode), { once: true }));
  const end = (code: number): void => {
    exitCode = code;
    abort.abort();
  };
  return { stopped: abort.signal, ended, end };
}

/** Stops apps and door at the same time, under one deadline for all. */
async function stopAll(kit: Kit, door: Door | null, { onStopping, log }: StartOptions): Promise<void> {
  const tell = (): void => {
    if (door === null) return;
    const waiting = kit
      .status()
      .apps.filter((app) => app.state === "stopping")
      .map((app) => app.package);
    if (waiting.length > 0) onStopping?.(waiting);
  };
  const notes = setInterval(tell, STOP_NOTES_EVERY);
  const deadline = setTimeout(() => void kit.close({ force: true }).catch(() => {}), STOP_DEADLINE);
  const results = await Promise.allSettled([kit.close({ graceMs: STOP_GRACE }), door?.close()]);
  clearInterval(notes);
  clearTimeout(deadline);
  for (const result of results) if (result.status === "rejected") log.error({ error: messageOf(result.reason) }, "stop failed");
}

/** Log level, secrets and tokens follow the configuration while the host runs; and commands find the host, whatever data_dir is edited to. */
function followSettings(kit: Kit, door: Door, claim: RunFile, { workspace, env, log, fixedLevel }: StartOptions): void {
  const look = async (taken: boolean): Promise<void> => {
    const now = await loadWorkspace({ cwd: workspace.root, env, topology: workspace.topologyFile });
    // A guess that still holds a variable is the name of no folder.
    if (now.plan !== null || !now.dataDir.includes("${")) await claim.showIn(now.dataDir);
    if (now.plan === null || !taken) return;
    for (const secret of now.plan.secrets) workspace.masker.add(secret);
    if (!fixedLevel) log.level = now.plan.log.level;
    await door.follow(now.plan);
  };
  const failed = (error: unknown): void => log.error({ error: messageOf(error) }, "a setting could not be taken over");
  kit.on("reload", ({ result }) => {
    if (result !== "unchanged") look(result !== "pending" && result !== "rejected").catch(failed);
  });
  kit.on("edited", () => void look(false).catch(failed));
}
