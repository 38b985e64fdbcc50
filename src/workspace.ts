import { randomBytes } from "node:crypto";
import path from "node:path";
import type { Diagnostic } from "./base/diagnostics.ts";
import { createMasker, type Masker } from "./base/masking.ts";
import type { Config } from "./config/types.ts";
import { findTopology, workspaceRoot } from "./files/read-set.ts";
import { createPlanSource } from "./kit/plan-source.ts";
import type { Plan } from "./plan/types.ts";

/** A workspace as its files say it, read and compiled without starting anything. */
export interface Workspace {
  /** Absolute. */
  readonly topologyFile: string;
  readonly root: string;
  /** Folder of run-time state. Known even when the files have errors, so that a running host is found. */
  readonly dataDir: string;
  /** What the user wrote, checked; null when topology.yaml itself cannot be used. */
  readonly config: Config | null;
  /** Null when topology, policies or signals have errors. */
  readonly plan: Plan | null;
  readonly diagnostics: readonly Diagnostic[];
  /** Text of every file read, by the name that diagnostics give it. */
  readonly texts: ReadonlyMap<string, string>;
  readonly masker: Masker;
}

/** A workspace that can run: nothing in topology, policies and signals is wrong. A broken app only parks itself. */
export type RunnableWorkspace = Workspace & { readonly plan: Plan };

/** Thrown when there is no workspace, or its topology.yaml cannot be read. The message says what to do. */
export class NoWorkspaceError extends Error {
  override readonly name = "NoWorkspaceError";
}

export interface WorkspaceOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Topology file as a user wrote it, from `cwd`; looked for when absent. */
  readonly topology?: string | undefined;
}

/** Reads, checks and compiles a workspace. Faults of the files are findings; throws a {@link NoWorkspaceError} only when there is nothing to read. */
export async function loadWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const found = await findTopology(options.cwd, options.topology);
  if (!found.ok) throw new NoWorkspaceError(found.reason);
  // Digests of secrets are compared within one plan only here, so any key does.
  const reading = await createPlanSource(found.file, options.env, randomBytes(32).toString("hex")).read(null);
  if (reading.contents.size === 0) throw new NoWorkspaceError(reading.diagnostics[0]?.message ?? `${found.file} cannot be read`);
  return {
    topologyFile: found.file,
    root: workspaceRoot(found.file),
    dataDir: reading.plan?.dataDir ?? guessDataDir(found.file, [...reading.texts.values()][0] ?? ""),
    config: reading.config,
    plan: reading.unitOk ? reading.plan : null,
    diagnostics: reading.diagnostics,
    texts: reading.texts,
    masker: createMasker(reading.secrets),
  };
}

/** data_dir of a topology.yaml that does not parse: its plain line where there is one, else the default. */
function guessDataDir(topologyFile: string, text: string): string {
  const written = /^data_dir:[ \t]*["']?([^"'#\r\n]+?)["']?[ \t]*(?:#.*)?$/m.exec(text)?.[1];
  return path.resolve(path.dirname(topologyFile), written ?? "../data");
}

/** Whether a workspace can run. */
export function canRun(workspace: Workspace): workspace is RunnableWorkspace {
  return workspace.plan !== null;
}
