import { randomBytes } from "node:crypto";
import { warningAt } from "../base/diagnostic-codes.ts";
import { diagnosticToJson, hasErrors, sortDiagnostics, type Diagnostic, type DiagnosticJson } from "../base/diagnostics.ts";
import type { Masker } from "../base/masking.ts";
import { printDiagnostics } from "../base/print-diagnostics.ts";
import type { ReloadResult } from "../kit-api.ts";
import { changedKeys, diffPlans, removedRules, withHost } from "../plan/diff.ts";
import type { ChangeSet, Plan } from "../plan/types.ts";
import { createReloadLoop } from "../runtime/reload-loop.ts";
import { ConfigError } from "./config-error.ts";
import { createPlanSource, type PlanReading, type Running } from "./plan-source.ts";
import type { ConfigState } from "./status.ts";

/** What a reload does with a plan that is good. */
export interface ReloadTarget {
  /** Makes it the running one. */
  apply(plan: Plan, changes: ChangeSet, revision: number): Promise<void>;
  /** Takes over a plan that means the same as the running one. */
  adopt(plan: Plan): void;
  /** Hears of every finished reload. */
  onResult(result: ReloadResult, reading: PlanReading): void;
}

/** Reads the workspace and applies it as a transaction: all good, or the last good configuration stays (contracts 8). */
export interface Reloader {
  /** The first read. Throws a {@link ConfigError} when topology.yaml has errors; with broken policies or signals everything is denied. */
  first(): Promise<{ readonly plan: Plan; readonly reading: PlanReading; readonly text: string }>;
  /** One reload at a time; requests meanwhile share the next. `apply` takes over a change that `reload: confirm` holds back. */
  reload(apply: boolean): Promise<ReloadResult>;
  /** What a reload would do. */
  preview(): Promise<{ readonly result: ReloadResult; readonly reading: PlanReading }>;
  /** Looks for files that no pattern finds, and shows them in the state; changes nothing else. */
  lookBeside(): Promise<PlanReading>;
  state(): ConfigState;
  revision(): number;
  /** Resolves when no reload runs. */
  settled(): Promise<void>;
}

/** Makes a reloader for one topology file. */
export function createReloader(topologyFile: string, env: NodeJS.ProcessEnv, masker: Masker, target: () => ReloadTarget): Reloader {
  const source = createPlanSource(topologyFile, env, randomBytes(32).toString("hex"));
  let running: Running | null = null;
  let revision = 0;
  let state: ConfigState = { state: "applied", errors: [], warnings: [], hostChanges: [] };
  let confirmed = false;
  /** What the process was started with. */
  let startHost: Plan["digests"]["host"] = {};

  const read = async (): Promise<PlanReading> => {
    const reading = await source.read(running);
    for (const secret of reading.secrets) masker.add(secret);
    return reading;
  };
  const text = (reading: PlanReading): string =>
    printDiagnostics(reading.diagnostics, {
      format: "text",
      texts: (file) => reading.texts.get(file),
      color: false,
      files: reading.texts.size,
      mask: (s) => masker.text(s),
    });
  const findings = (reading: PlanReading, severity: Diagnostic["severity"]): DiagnosticJson[] =>
    reading.diagnostics.filter((d) => d.severity === severity).map((d) => diagnosticToJson(d, masker.text));
  /** Fields of the files that differ from what the process was started with, whether or not they were read before. */
  const waiting = (reading: PlanReading): string[] => changedKeys(startHost, (reading.next ?? running!.plan).digests.host);
  const resultOf = (result: ReloadResult["result"], made: ChangeSet, reading: PlanReading): ReloadResult => {
    const changes = withHost(made, waiting(reading));
    return { result, revision, changes, errors: findings(reading, "error"), warnings: findings(reading, "warning"), text: text(reading) };
  };
  /** What the reading means for the running plan, without doing anything. */
  const judge = (reading: PlanReading): { readonly result: ReloadResult["result"]; readonly changes: ChangeSet } => {
    const { plan } = running!;
    const changes = diffPlans(plan, reading.next ?? plan);
    if (hasErrors(reading.diagnostics)) return { result: !reading.unitOk && changes.empty ? "rejected" : "partial", changes };
    return { result: changes.empty ? "unchanged" : "applied", changes };
  };
  /** The reading with what only its taking over brings about: rules that are gone, be it with a file that was deleted or got a name that no pattern matches. */
  const withGone = (reading: PlanReading): PlanReading => {
    const gone = removedRules(running!.plan, reading.next ?? running!.plan).map((rule) => warningAt("rule-gone", null, `${rule} is gone`, { help: GONE }));
    return { ...reading, diagnostics: sortDiagnostics([...reading.diagnostics, ...gone]) };
  };
  const run = async (): Promise<ReloadResult> => {
    const apply = confirmed;
    confirmed = false;
    const reading = await read();
    const { result, changes } = judge(reading);
    const errors = findings(reading, "error");
    const told = withGone(reading);
    const held = running!.plan.reload === "confirm" && !apply && !changes.empty;
    if (reading.next !== null && !held) {
      running = { plan: reading.next, unit: reading.unitOk ? reading.unit : running!.unit };
      if (changes.empty) target().adopt(reading.next);
      else await target().apply(reading.next, changes, (revision += 1));
    }
    state = {
      state: held ? "pending" : stateOf(reading, errors),
      errors,
      warnings: findings(told, "warning"),
      hostChanges: waiting(reading),
    };
    const outcome = resultOf(held ? "pending" : result, changes, told);
    target().onResult(outcome, reading);
    return outcome;
  };
  const loop = createReloadLoop(run);

  return {
    async first() {
      const reading = await read();
      const plan = reading.boot;
      if (plan === null) throw new ConfigError(reading.diagnostics, text(reading));
      running = { plan, unit: reading.unitOk ? reading.unit : null };
      revision = 1;
      startHost = plan.digests.host;
      const errors = findings(reading, "error");
      state = { state: stateOf(reading, errors), errors, warnings: findings(reading, "warning"), hostChanges: [] };
      return { plan, reading, text: text(reading) };
    },
    reload(apply) {
      confirmed ||= apply;
      return loop.request();
    },
    async preview() {
      const reading = await read();
      const { result, changes } = judge(reading);
      return { result: resultOf(result, changes, withGone(reading)), reading };
    },
    async lookBeside() {
      await loop.settled();
      const reading = await read();
      const isBeside = ({ code }: DiagnosticJson): boolean => code === "unused-file";
      if (reading.config !== null)
        state = { ...state, warnings: [...state.warnings.filter((d) => !isBeside(d)), ...findings(reading, "warning").filter(isBeside)] };
      return reading;
    },
    state: () => state,
    revision: () => revision,
    settled: () => loop.settled(),
  };
}

const GONE = ["if that was not meant, bring its file back under a name that a pattern of topology.yaml matches"];

function stateOf(reading: PlanReading, errors: readonly DiagnosticJson[]): ConfigState["state"] {
  return !reading.unitOk ? "rejected" : errors.length > 0 ? "partial" : "applied";
}
