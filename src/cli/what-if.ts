import { explainSignal, type SignalExplanation } from "../amp/explain-signal.ts";
import { readSignal, runSignalFixtures } from "../amp/signal-fixtures.ts";
import { own, type JsonObject } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import { plainValue, spanAt } from "../config/nodes.ts";
import { parseYaml } from "../config/parse.ts";
import type { KeyPath } from "../config/types.ts";
import type { ToolRow } from "../kit-api.ts";
import { CliError } from "./cli-error.ts";
import type { Plan } from "../plan/types.ts";
import { flowLines, flowReport, type FlowReport } from "../policy/flows.ts";
import { readFixtures, runFixtures } from "../policy/policy-test.ts";
import { suggestPolicy } from "../policy/suggest.ts";
import type { Subject } from "../policy/types.ts";
import { ownToolName } from "../tools/own-name.ts";

/** How one fixture came out. `problem` is null when it is as expected. */
export interface Trial {
  readonly name: string;
  /** Where the fixture begins in its file; null where there is none. */
  readonly line: number | null;
  readonly ok: boolean;
  readonly problems: readonly string[];
  readonly got: JsonObject | null;
}

/** Runs a file of policy fixtures (contracts 5) against the policy of a plan; starts nothing. Throws a {@link CliError} for a bad file. */
export function tryPolicy(plan: Plan, file: string, text: string): Trial[] {
  const { value, lineOf } = readYaml(file, text);
  const line = (i: number): number => lineOf(["fixtures", i]);
  const { fixtures, faults } = readFixtures(value, (i) => (i === null ? file : `${file}:${line(i)}: fixture ${i + 1}`));
  if (faults.length > 0) throw new CliError(faults.join("\n"));
  const resolve = subjectFinder(plan);
  return runFixtures(plan.policy, fixtures, resolve).map(({ fixture, decision, problem }, i) => ({
    name: `${i + 1}. ${fixture.tool} ${JSON.stringify(fixture.args)}${fixture.session === "marked" ? " (marked session)" : ""}`,
    line: line(i),
    ok: problem === null,
    problems: problem === null ? [] : [problem],
    got: decision === null ? null : { action: decision.action, risk: decision.risk, rule: decision.rule?.id ?? null, reason: decision.reason },
  }));
}

/** Runs a file of signal fixtures (contracts 7) against the mappings of a plan; writes no event. Throws a {@link CliError} for a bad file. */
export function trySignals(plan: Plan, file: string, text: string): Trial[] {
  const { value, lineOf } = readYaml(file, text);
  const tests = own(value, "tests");
  return runSignalFixtures(plan.signals, value, plan.log.chatText).map(({ name, ok, problems, envelopes }, i) => ({
    name,
    line: Array.isArray(tests) ? lineOf(["tests", i]) : null,
    ok,
    problems,
    got: { envelopes: envelopes as unknown as JsonObject[] },
  }));
}

/** Why a signal becomes the events that it becomes; `refused` where it is an event of an app that is refused before any rule. */
export type ExplainedSignal = SignalExplanation & { readonly refused: string | null };

/** Explains a signal as a person wrote it down (contracts 7). Throws a {@link CliError} for one that cannot be read. */
export function explainWritten(plan: Plan, written: JsonObject): ExplainedSignal {
  const read = readSignal(written);
  if (typeof read === "string") throw new CliError(read.replaceAll("`signal`", "the signal").replaceAll("signal.kind", "kind"));
  if ("refused" in read) return { refused: read.refused, rules: [], dropped: false, events: [] };
  return { refused: null, ...explainSignal(plan.signals, read.signal, { nowMs: 0, random: () => 0, counters: new Map() }) };
}

/** The tools of a host with what policy looks at. `definitions` are the exported ones, by short name; the hints of others are not known. */
export function policySubjects(
  plan: Plan,
  rows: readonly ToolRow[],
  definitions: readonly JsonObject[],
): (Subject & { readonly description: string | null; readonly readOnly: boolean | null })[] {
  const byName = new Map(definitions.map((definition) => [own(definition, "name"), definition]));
  return rows.flatMap((row) => {
    const app = plan.apps.get(row.app);
    if (app === undefined) return [];
    const hints = own(byName.get(row.short_name), "annotations");
    const readOnly = own(hints, "readOnlyHint");
    return [
      {
        kind: "tool" as const,
        app: row.app,
        name: row.tool,
        trust: app.trust,
        manifestRisk: Object.hasOwn(app.manifestRisks, row.tool) ? app.manifestRisks[row.tool]! : null,
        readOnlyHint: readOnly === true,
        destructiveHint: own(hints, "destructiveHint") === true,
        description: row.description,
        readOnly: typeof readOnly === "boolean" ? readOnly : null,
      },
    ];
  });
}

/** A draft policy for the given tools, to be read by a person. */
export function draftPolicy(subjects: ReturnType<typeof policySubjects>): string {
  return suggestPolicy(
    subjects.map((s) => ({ app: s.app, tool: s.name, trust: s.trust, description: s.description, readOnly: s.readOnly, destructive: s.destructiveHint })),
  );
}

/** Which paths lead from low-trust sources to high-risk tools: the report, and the same in lines. */
export function policyFlows(plan: Plan, subjects: readonly Subject[]): { readonly report: FlowReport; readonly lines: readonly string[] } {
  const report = flowReport(plan.policy, subjects, "caller");
  return { report, lines: flowLines(report) };
}

/** Subjects of names as a plan knows them: commands of manifests by full or own name, and any `package/tool`. */
function subjectFinder(plan: Plan): (name: string) => Subject | string {
  const known = new Map<string, Subject[]>();
  const subject = (app: string, name: string): Subject => {
    const { trust, manifestRisks } = plan.apps.get(app)!;
    return {
      kind: "tool",
      app,
      name,
      trust,
      manifestRisk: Object.hasOwn(manifestRisks, name) ? manifestRisks[name]! : null,
      readOnlyHint: false,
      destructiveHint: false,
    };
  };
  for (const app of plan.apps.values()) {
    for (const command of app.commands) {
      const name = ownToolName(app.package, command.name);
      for (const key of [name, `${app.package}.${name}`]) known.set(key, [...(known.get(key) ?? []), subject(app.package, name)]);
    }
  }
  return (name) => {
    const found = known.get(name) ?? [];
    if (found.length === 1) return found[0]!;
    if (found.length > 1) return `"${name}" is a command of ${found.map((s) => s.app).join(" and ")}; write PACKAGE/TOOL`;
    // A package has no slash in it, so this is no guess.
    const slash = name.indexOf("/");
    if (slash > 0 && plan.apps.has(name.slice(0, slash))) return subject(name.slice(0, slash), name.slice(slash + 1));
    const near = nearest(name, known.keys());
    return `no manifest has a command "${name}"; write PACKAGE/TOOL for a tool that no manifest lists${near.length > 0 ? ` (near: ${near.join(", ")})` : ""}`;
  };
}

/** A fixture file's value, a map or a plain list of fixtures, and on which line a part of it stands: a list is taken for one under `fixtures`. */
function readYaml(file: string, text: string): { readonly value: unknown; readonly lineOf: (path: KeyPath) => number } {
  // The kit's own files are maps, and so its reader wants one: a list gets a key above it.
  const list = /^(?:\s*(?:#.*)?\n)*-\s/.test(text);
  const added = list ? 1 : 0;
  const parsed = parseYaml({ file, display: file, text: list ? `fixtures:\n${text}` : text });
  if (!parsed.ok) throw new CliError(parsed.diagnostics.map((d) => `${file}:${(d.place?.line ?? 1) - added}:${d.place?.column ?? 1}: ${d.message}`).join("\n"));
  const { root, locator } = parsed.value;
  return { value: plainValue(root), lineOf: (path) => locator.place(spanAt(root, path)).line - added };
}
