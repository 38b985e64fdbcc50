import { parseDuration } from "../base/durations.ts";
import { compileGlob, type Glob } from "../base/glob.ts";
import type { Risk, Trust } from "../tools/types.ts";
import type { DataFlow } from "../../generated/policy.d.ts";
import type { Subject } from "./types.ts";

/** The data-flow rule, compiled: what low-trust sources said must not drive high-risk tools (contracts 5). */
export interface FlowRules {
  readonly action: "ask" | "deny" | "off";
  /** Calls of this risk and above are sinks. */
  readonly sinkRisk: Risk;
  /** How long a mark lasts, in milliseconds. */
  readonly expiresMs: number;
  /** As the user wrote it, with the defaults filled in. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly sourceTrust: Trust | "none";
  readonly sourceTools: readonly FlowPattern[];
  readonly sourceEvents: readonly FlowPattern[];
}

interface FlowPattern {
  readonly app: Glob;
  readonly name: Glob;
}

const TRUSTS: readonly Trust[] = ["low", "medium", "high"];

/** Compiles the `data_flow` section; absent parts are as contracts 5 shows them. */
export function compileFlow(config: DataFlow | undefined): FlowRules {
  const action = config?.action ?? "ask";
  const sinkRisk = config?.sinks?.risk ?? "high";
  const sourceTrust = config?.sources?.trust ?? "low";
  const tools = config?.sources?.tools ?? [];
  const events = config?.sources?.events ?? ["im.polaris.qq/message.received"];
  const expiresMs = parseDuration(config?.expires) ?? 86_400_000;
  return Object.freeze({
    action,
    sinkRisk,
    expiresMs,
    config: { action, sinkRisk, expiresMs, sourceTrust, tools: [...tools].sort(), events: [...events].sort() },
    sourceTrust,
    sourceTools: tools.map(flowPattern),
    sourceEvents: events.map(flowPattern),
  });
}

/** The data-flow rule of a policy that says nothing about it. */
export const DEFAULT_FLOW: FlowRules = compileFlow(undefined);

/** Where words come from: a tool, resource or prompt of an app. */
export interface FlowSource {
  readonly app: string;
  readonly name: string;
  readonly trust: Trust;
}

/** Whether what a tool, resource or prompt answers (errors too) marks the session that gets it. */
export function isSource(flow: FlowRules, from: FlowSource): boolean {
  if (flow.action === "off") return false;
  return trustIsSource(flow, from.trust) || fits(flow.sourceTools, from.app, from.name);
}

/** Whether an event opens its session marked. */
export function isSourceEvent(flow: FlowRules, from: { readonly app: string; readonly type: string; readonly trust: Trust }): boolean {
  if (flow.action === "off") return false;
  return trustIsSource(flow, from.trust) || fits(flow.sourceEvents, from.app, from.type);
}

/** How a source is named in marks, reports and reasons: `package/tool`. */
export function sourceName(from: Pick<Subject, "app" | "name">): string {
  return `${from.app}/${from.name}`;
}

function trustIsSource(flow: FlowRules, trust: Trust): boolean {
  return flow.sourceTrust !== "none" && TRUSTS.indexOf(trust) <= TRUSTS.indexOf(flow.sourceTrust);
}

function fits(patterns: readonly FlowPattern[], app: string, name: string): boolean {
  return patterns.some((p) => p.app.matches(app) && p.name.matches(name));
}

/** `package/name`; without a slash the whole package is meant. A package has no slash, a name may. */
function flowPattern(pattern: string): FlowPattern {
  const slash = pattern.indexOf("/");
  return slash === -1
    ? { app: compileGlob(pattern), name: compileGlob("*") }
    : { app: compileGlob(pattern.slice(0, slash)), name: compileGlob(pattern.slice(slash + 1)) };
}
