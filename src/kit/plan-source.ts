import { readFileSync } from "node:fs";
import { sortDiagnostics, type Diagnostic } from "../base/diagnostics.ts";
import { createLoader, discoverPatterns } from "../config/load.ts";
import { readFileSet } from "../files/read-set.ts";
import { compilePlan } from "../plan/compile.ts";
import type { Plan } from "../plan/types.ts";
import type { FileSet } from "../config/types.ts";

/** One look at the workspace's files. */
export interface PlanReading {
  /** Null when topology.yaml itself cannot be used. */
  readonly plan: Plan | null;
  /** Whether topology, policies and signals are free of errors. */
  readonly unitOk: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** Text of every file read, by the name that findings give it. */
  readonly texts: ReadonlyMap<string, string>;
  /** Absolute paths of the files read. */
  readonly files: readonly string[];
  readonly secrets: readonly string[];
}

/** Reads, checks and compiles the workspace again and again; files that did not change are not parsed again. */
export interface PlanSource {
  /** `lastGood`: the running plan, whose apps stay as they are where their manifest is broken now. */
  read(lastGood: Plan | null): Promise<PlanReading>;
}

/** Makes a plan source for one topology file. `secretKey` keys the digests that plans are compared by. */
export function createPlanSource(topologyFile: string, env: NodeJS.ProcessEnv, secretKey: string): PlanSource {
  const loader = createLoader();
  return {
    async read(lastGood) {
      const set = await readFileSet(topologyFile, discoverPatterns);
      if ("error" in set) return unreadable(topologyFile, set.error);
      const loaded = loader.load(set, { env, readSecretFile: (file) => readFileSync(file, "utf8") });
      const sources = sourcesOf(set);
      const base = { texts: new Map(sources.map((s) => [s.display, s.text])), files: sources.map((s) => s.file) };
      if (!loaded.config) return { ...base, plan: null, unitOk: false, diagnostics: loaded.diagnostics, secrets: [] };
      const compiled = compilePlan(loaded.config, { secretKey, lastGood });
      return {
        ...base,
        plan: compiled.plan,
        unitOk: loaded.unitOk && compiled.unitOk,
        diagnostics: sortDiagnostics([...loaded.diagnostics, ...compiled.diagnostics]),
        secrets: loaded.config.secrets,
      };
    },
  };
}

function sourcesOf(set: FileSet): FileSet["topology"][] {
  return [set.topology, ...set.manifests, ...set.policies, ...set.signals];
}

function unreadable(file: string, reason: string): PlanReading {
  const finding: Diagnostic = { code: "unreadable-file", severity: "error", message: reason, place: null, help: [`looked for ${file}`] };
  return { plan: null, unitOk: false, diagnostics: [finding], texts: new Map(), files: [], secrets: [] };
}
