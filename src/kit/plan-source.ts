import { readFileSync } from "node:fs";
import { sortDiagnostics, type Diagnostic } from "../base/diagnostics.ts";
import { createLoader, discoverPatterns, type DiscoveredPatterns } from "../config/load.ts";
import { readFileSet, type FilePattern } from "../files/read-set.ts";
import { compilePlan } from "../plan/compile.ts";
import type { Plan } from "../plan/types.ts";
import type { Config, FileSet } from "../config/types.ts";

/** One look at the workspace's files. */
export interface PlanReading {
  /** What the user wrote, checked; null when topology.yaml itself cannot be used. */
  readonly config: Config | null;
  /** Null when topology.yaml itself cannot be used. */
  readonly plan: Plan | null;
  /** Whether topology, policies and signals are free of errors. */
  readonly unitOk: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** Text of every file read, by the name that findings give it. */
  readonly texts: ReadonlyMap<string, string>;
  /** What was read, by absolute path; files behind `${file:…}` are not among them. */
  readonly contents: ReadonlyMap<string, string>;
  /** What the plan was made of: files by name (also those behind `${file:…}`), and patterns that may name more. Absolute. */
  readonly made: { readonly files: readonly string[]; readonly patterns: readonly string[] };
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
      const secretFiles = new Set<string>();
      const readSecretFile = (file: string): string => {
        secretFiles.add(file);
        return readFileSync(file, "utf8");
      };
      const context = { env, readSecretFile };
      let patterns: FilePattern[] = [];
      const set = await readFileSet(topologyFile, (topology) => (patterns = filePatterns(discoverPatterns(topology, context))));
      if ("error" in set) return unreadable(topologyFile, set.error);
      const loaded = loader.load(set, context);
      const sources = sourcesOf(set);
      const base = {
        texts: new Map(sources.map((s) => [s.display, s.text])),
        contents: new Map(sources.map((s) => [s.file, s.text])),
        made: { files: [topologyFile, ...secretFiles], patterns: patterns.map((p) => p.pattern) },
      };
      if (!loaded.config) return { ...base, config: null, plan: null, unitOk: false, diagnostics: loaded.diagnostics, secrets: [] };
      const compiled = compilePlan(loaded.config, { secretKey, lastGood });
      return {
        ...base,
        config: loaded.config,
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
  const finding: Diagnostic = { code: "file-unreadable", severity: "error", message: reason, place: null, help: [`looked for ${file}`] };
  return { config: null, plan: null, unitOk: false, diagnostics: [finding], texts: new Map(), contents: new Map(), made: { files: [file], patterns: [] }, secrets: [] };
}

function filePatterns(found: DiscoveredPatterns): FilePattern[] {
  return [
    ...found.manifests.map((m) => ({ ...m, role: "manifest" as const })),
    ...found.policies.map((p) => ({ ...p, role: "policy" as const, trusted: false })),
    ...found.signals.map((s) => ({ ...s, role: "signals" as const, trusted: false })),
  ];
}
