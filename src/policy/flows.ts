import type { Risk } from "../tools/types.ts";
import { decide } from "./decide.ts";
import { isSource, sourceName } from "./flow.ts";
import { RISKS, type PolicyRules } from "./rules.ts";
import type { Action, Subject } from "./types.ts";
import { count } from "../base/text.ts";

/** One thing that marks a session. */
export interface FlowSource {
  readonly name: string;
  readonly kind: Subject["kind"] | "event";
  /** `trust low`, or `data_flow.sources`. */
  readonly why: string;
}

/** A call of the sink risk or above, with what it gets in a clean and in a marked session, whatever its arguments. */
export interface FlowSink {
  readonly name: string;
  readonly kind: Subject["kind"];
  readonly risk: Risk;
  readonly clean: Action;
  readonly marked: Action;
}

/** Which low-trust → high-risk paths the topology has. A path is open when its sink is allowed in a marked session. */
export interface FlowReport {
  readonly sources: readonly FlowSource[];
  readonly sinks: readonly FlowSink[];
  readonly paths: { readonly open: number; readonly asked: number; readonly denied: number };
}

/** The static report of `aurora-mcp policy flows`, for calls of `client` (contracts 5). Pure; sorted by name. */
export function flowReport(rules: PolicyRules, subjects: readonly Subject[], client = "cli"): FlowReport {
  const sources: FlowSource[] = [];
  const sinks: FlowSink[] = [];
  // Where the rule is switched off, what would be a source is still worth knowing: the open paths are the report.
  const flow = rules.flow.action === "off" ? { ...rules.flow, action: "ask" as const } : rules.flow;
  for (const subject of subjects) {
    if (isSource(flow, subject))
      sources.push({ name: sourceName(subject), kind: subject.kind, why: subject.trust === "low" ? "trust low" : `data_flow.sources, trust ${subject.trust}` });
    const clean = decide(rules, subject, { client, args: null }, false);
    if (RISKS.indexOf(clean.risk) < RISKS.indexOf(flow.sinkRisk)) continue;
    const marked = decide(rules, subject, { client, args: null }, true);
    sinks.push({ name: sourceName(subject), kind: subject.kind, risk: clean.risk, clean: clean.action, marked: marked.action });
  }
  for (const event of flow.sourceEvents) sources.push({ name: `${event.app.source}/${event.name.source}`, kind: "event", why: "data_flow.sources.events" });
  const byName = (a: { name: string; kind: string }, b: { name: string; kind: string }): number => (`${a.name} ${a.kind}` < `${b.name} ${b.kind}` ? -1 : 1);
  const paths = (action: Action): number => sources.length * sinks.filter((s) => s.marked === action).length;
  return { sources: sources.sort(byName), sinks: sinks.sort(byName), paths: { open: paths("allow"), asked: paths("ask"), denied: paths("deny") } };
}

/** The report in lines for a terminal. */
export function flowLines(report: FlowReport): string[] {
  const lines = [`${count(report.sources.length, "source")} (what they say marks a session):`];
  for (const s of report.sources) lines.push(`  ${s.name}  ${s.kind}, ${s.why}`);
  lines.push(`${count(report.sinks.length, "sink")} (what a marked session may not call freely):`);
  for (const s of report.sinks) lines.push(`  ${s.name}  ${s.risk} risk: ${s.clean} in a clean session, ${s.marked} in a marked one`);
  lines.push(`paths from a source to a sink: ${report.paths.open} open, ${report.paths.asked} asked, ${report.paths.denied} denied`);
  return lines;
}
