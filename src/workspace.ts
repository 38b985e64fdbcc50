import { randomBytes } from "node:crypto";
import type { Diagnostic } from "./base/diagnostics.ts";
import { createMasker, type Masker } from "./base/masking.ts";
import type { Config } from "./config/types.ts";
import { createPlanSource } from "./kit/plan-source.ts";
import { locateWorkspace, type WorkspacePlace } from "./locate-workspace.ts";
import type { Plan } from "./plan/types.ts";

/** A workspace as its files say it, read and compiled without starting anything. */
export interface Workspace extends WorkspacePlace {
  /** What the user wrote, checked; null when topology.yaml itself cannot be used. */
  readonly config: Config | null;
  /** Null when topology, policies or signals have errors. */
  readonly plan: Plan | null;
  /** What a host may start with: where only policies, signals or folders that topology.yaml names have errors, the plan with everything denied. Null with errors in topology.yaml. */
  readonly boot: Plan | null;
  readonly diagnostics: readonly Diagnostic[];
  /** Text of every file read, by the name that diagnostics give it. */
  readonly texts: ReadonlyMap<string, string>;
  readonly masker: Masker;
}

/** A workspace that can run: nothing in topology, policies and signals is wrong. A broken app only parks itself. */
export type RunnableWorkspace = Workspace & { readonly plan: Plan; readonly boot: Plan };

/** A workspace that a host can start with, if only to deny every call until policies and signals are mended. */
export type BootableWorkspace = Workspace & { readonly boot: Plan };

export interface WorkspaceOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Topology file as a user wrote it, from `cwd`; looked for when absent. */
  readonly topology?: string | undefined;
  /** What topology.yaml is to say, instead of what it says: to check an edit before it is written. */
  readonly topologyText?: string;
}

/** Reads, checks and compiles a workspace. Faults of the files are findings; throws a NoWorkspaceError only when there is no topology file. */
export async function loadWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const place = await locateWorkspace(options);
  // Digests of secrets are compared within one plan only here, so any key does.
  const reading = await createPlanSource(place.topologyFile, options.env, randomBytes(32).toString("hex")).read(null, options.topologyText);
  return {
    ...place,
    // The place's own guess serves while the files have errors, so that a running host is found.
    dataDir: reading.plan?.dataDir ?? place.dataDir,
    config: reading.config,
    plan: reading.unitOk ? reading.plan : null,
    boot: reading.boot,
    diagnostics: reading.diagnostics,
    texts: reading.texts,
    masker: createMasker(reading.secrets),
  };
}
