import { readFileSync } from "node:fs";
import type { DiagnosticCode } from "../base/diagnostic-codes.ts";
import { sortDiagnostics, type Diagnostic } from "../base/diagnostics.ts";
import { unreadableFinding } from "../config/file-reader.ts";
import { createLoader, type DiscoveredPatterns } from "../config/load.ts";
import { diskFindings } from "../files/disk-findings.ts";
import { createUnusedFiles } from "../files/unused-files.ts";
import { readFileSet, type FilePattern, type TextMemory, type Unreadable } from "../files/read-set.ts";
import { compilePlan, type CompileResult } from "../plan/compile.ts";
import type { Plan } from "../plan/types.ts";
import type { Config, FileSet, LoadContext, SourceText } from "../config/types.ts";
import { DENY_ALL } from "../policy/rules.ts";

/** One look at the workspace's files. */
export interface PlanReading {
  /** What the user wrote, checked; null when topology.yaml itself cannot be used. */
  readonly config: Config | null;
  /** What the files say, as far as they can be used; null when topology.yaml itself cannot be. */
  readonly plan: Plan | null;
  /** Whether topology, policies and signals are free of errors. */
  readonly unitOk: boolean;
  /** What a host may start with: where only policies, signals or folders that topology.yaml names have errors, the plan with everything denied; null with errors in topology.yaml. */
  readonly boot: Plan | null;
  /** What a running host may take over: where the unit has errors, its last good state with the manifests as they are now; null where there is none. */
  readonly next: Plan | null;
  /** Topology, policies and signals as they were read; null when topology.yaml cannot be read. */
  readonly unit: Unit | null;
  readonly diagnostics: readonly Diagnostic[];
  /** Text of every file read, by the name that findings give it. */
  readonly texts: ReadonlyMap<string, string>;
  /** What was read, by absolute path; files behind `${file:…}` are not among them. */
  readonly contents: ReadonlyMap<string, string>;
  /** What the plan was made of: files by name (also those behind `${file:…}`), and patterns that may name more. Absolute. */
  readonly made: { readonly files: readonly string[]; readonly patterns: readonly string[] };
  readonly secrets: readonly string[];
}

/**
 * Whether something that was asked for could not be read. It may become readable without any change of the files that are watched, such as when the
 * process has descriptors again; so it is to be looked at again by and by.
 */
export function missesFiles({ diagnostics }: PlanReading): boolean {
  return diagnostics.some(({ code }) => UNREAD.has(code));
}

const UNREAD: ReadonlySet<string> = new Set<DiagnosticCode>(["file-unreadable", "folder-unreadable", "pattern-too-wide", "secret-file"]);

/** The files that are taken over all together or not at all (contracts 8), and the patterns that topology.yaml names. */
export interface Unit {
  readonly files: Pick<FileSet, "topology" | "policies" | "signals">;
  readonly patterns: readonly FilePattern[];
}

/** What a host runs, and the unit that it was made of; null when that had errors from the start. */
export interface Running {
  readonly plan: Plan;
  readonly unit: Unit | null;
}

/** Reads, checks and compiles the workspace again and again; files that did not change are not parsed again. */
export interface PlanSource {
  /** `running`: what stays where something is broken now, an app or the unit. `topologyText`: what topology.yaml is to say, instead of what it says. */
  read(running: Running | null, topologyText?: string): Promise<PlanReading>;
}

/** Makes a plan source for one topology file. `secretKey` keys the digests that plans are compared by. */
export function createPlanSource(topologyFile: string, env: NodeJS.ProcessEnv, secretKey: string): PlanSource {
  const loader = createLoader();
  const texts: TextMemory = new Map();
  const unused = createUnusedFiles();
  const compile = (config: Config, running: Running | null): CompileResult => compilePlan(config, { secretKey, lastGood: running?.plan ?? null });
  /** The last good unit with the manifests as they are now: a broken policy holds no app back. */
  const readHeld = async (running: Running, unit: Unit, context: LoadContext): Promise<Plan | null> => {
    const set = await readFileSet(topologyFile, () => unit.patterns, texts);
    if ("fault" in set) return null;
    const unreadable = set.unreadable.filter((file) => file.role === "manifest");
    const unmatched = set.unmatched.filter(({ path }) => path[0] === "discover");
    const { config, unitOk } = loader.load({ ...set, ...unit.files, unreadable, unmatched }, context);
    // What it refers to may be gone, such as a variable's file; then nothing changes at all.
    return config === null || !unitOk ? null : compile(config, running).plan;
  };
  return {
    async read(running, topologyText) {
      const secretFiles = new Set<string>();
      const readSecretFile = (file: string): string => {
        secretFiles.add(file);
        return readFileSync(file, "utf8");
      };
      const context = { env, readSecretFile };
      let patterns: FilePattern[] = [];
      const meant = (topology: SourceText): SourceText => (topologyText === undefined ? topology : { ...topology, text: topologyText });
      const found = await readFileSet(topologyFile, (topology) => (patterns = filePatterns(loader.discover(meant(topology), context))), texts);
      if ("fault" in found) return unreadable(found);
      const set: FileSet = { ...found, topology: meant(found.topology) };
      const loaded = loader.load(set, context);
      const sources = sourcesOf(set);
      const base = {
        texts: new Map(sources.map((s) => [s.display, s.text])),
        contents: new Map(sources.map((s) => [s.file, s.text])),
        made: { files: [topologyFile, ...secretFiles], patterns: patterns.map((p) => p.pattern) },
      };
      const unit: Unit = { files: { topology: set.topology, policies: set.policies, signals: set.signals }, patterns };
      const held = async (): Promise<Plan | null> => (running?.unit ? readHeld(running, running.unit, context) : null);
      if (!loaded.config)
        return { ...base, config: null, plan: null, unitOk: false, boot: null, next: await held(), unit, diagnostics: loaded.diagnostics, secrets: [] };
      const compiled = compile(loaded.config, running);
      const onDisk = [
        ...(await diskFindings(loaded.config)),
        ...(await unused.look(loaded.config, patterns, (topology) => filePatterns(createLoader().discover(topology, context)))),
      ];
      const unitOk = loaded.unitOk && compiled.unitOk;
      return {
        ...base,
        config: loaded.config,
        plan: compiled.plan,
        unitOk,
        boot: unitOk ? compiled.plan : loaded.topologyOk ? denied(compiled.plan) : null,
        next: unitOk ? compiled.plan : await held(),
        unit,
        diagnostics: sortDiagnostics([...loaded.diagnostics, ...compiled.diagnostics, ...onDisk]),
        secrets: loaded.config.secrets,
      };
    },
  };
}

/** A plan under which nothing may be called: nothing risky may run by accident while policies cannot be read (contracts 5). */
function denied(plan: Plan): Plan {
  return plan.policy.refusal !== null
    ? plan
    : { ...plan, policy: DENY_ALL("policies, signals or folders that topology.yaml names have errors; see `aurora-mcp validate`") };
}

function sourcesOf(set: FileSet): FileSet["topology"][] {
  return [set.topology, ...set.manifests, ...set.policies, ...set.signals];
}

function unreadable(topology: Unreadable): PlanReading {
  return {
    config: null,
    plan: null,
    unitOk: false,
    boot: null,
    next: null,
    unit: null,
    diagnostics: [unreadableFinding(topology)],
    texts: new Map(),
    contents: new Map(),
    made: { files: [topology.file], patterns: [] },
    secrets: [],
  };
}

function filePatterns(found: DiscoveredPatterns): FilePattern[] {
  return [
    ...found.manifests.map((m) => ({ ...m, role: "manifest" as const })),
    ...found.policies.map((p) => ({ ...p, role: "policy" as const, trusted: false })),
    ...found.signals.map((s) => ({ ...s, role: "signals" as const, trusted: false })),
  ];
}
