import { errorAt, warningAt, type DiagnosticCode } from "../base/diagnostic-codes.ts";
import type { Diagnostic, Place } from "../base/diagnostics.ts";
import { parseDuration, parseRate } from "../base/durations.ts";
import { compileGlob, type Glob } from "../base/glob.ts";
import { patternHelp } from "../base/pattern-help.ts";
import { deepFreeze } from "../base/json.ts";
import { formatPath } from "../config/nodes.ts";
import type { KeyPath, Loaded } from "../config/types.ts";
import type { Risk } from "../tools/types.ts";
import type { PolicyConfig, PolicyRuleConfig } from "../../generated/policy.d.ts";
import { compileArgumentTest, type ArgumentTest } from "./match-args.ts";
import type { Action, AuditDetail, LimitRef, RuleRef, Subject } from "./types.ts";

/** One rule, compiled. `null` patterns mean all. */
export interface CompiledRule {
  readonly ref: RuleRef;
  /** As decisions name it: `rule no-shell (policies/base.yaml:3)`. */
  readonly label: string;
  /** As the user wrote it, for the policy revision. */
  readonly config: PolicyRuleConfig;
  readonly apps: readonly Glob[] | null;
  /** Patterns by kind of subject; null: all names of that kind, empty: none. */
  readonly names: Readonly<Record<Subject["kind"], readonly Glob[] | null>>;
  readonly clients: readonly Glob[] | null;
  readonly args: readonly ArgumentTest[];
  readonly action: Action | null;
  readonly risk: Risk | null;
  readonly audit: AuditDetail | null;
  readonly limit: LimitRef | null;
  readonly timeoutMs: number | null;
  /** Where a key of the rule stands in its file. */
  readonly place: (path: KeyPath) => Place;
  readonly path: (path: KeyPath) => string;
}

/** Compiles one rule of a file; the findings have their places. */
export function compileRule(config: PolicyRuleConfig, index: number, file: Loaded<PolicyConfig>): { rule: CompiledRule; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const place = (path: KeyPath): Place => file.place(["rules", index, ...path]);
  const dotted = (path: KeyPath): string => formatPath(["rules", index, ...path]);
  const fault = (code: DiagnosticCode, path: KeyPath, message: string, help: string): void => {
    diagnostics.push(errorAt(code, place(path), message, { path: dotted(path), help: [help] }));
  };

  const limits = config.limits;
  const rate = limits?.rate === undefined ? null : (parseRate(limits.rate) ?? undefined);
  if (rate === undefined)
    fault("bad-unit", ["limits", "rate"], `rule "${config.id}": "${limits?.rate}" is not a rate`, "write a count and a time, such as 10/min, 5/s or 3/10s");
  const timeout = limits?.timeout === undefined ? null : (parseDuration(limits.timeout) ?? undefined);
  if (timeout === undefined)
    fault(
      "bad-unit",
      ["limits", "timeout"],
      `rule "${config.id}": "${limits?.timeout}" is not a duration`,
      "write a number of seconds, or a text such as 250ms, 10s, 5m",
    );
  const bounded = limits !== undefined && (limits.rate !== undefined || limits.concurrent !== undefined || limits.timeout !== undefined);
  if (config.action === undefined && config.risk === undefined && !bounded) {
    fault(
      "rule-does-nothing",
      [],
      `rule "${config.id}" has no action, no risk and no limits, so it decides nothing`,
      "add action: allow, ask or deny; or risk: …; or limits: { rate: … }",
    );
  }

  const args: ArgumentTest[] = [];
  for (const [path, matcher] of Object.entries(config.args ?? {})) {
    const compiled = compileArgumentTest(path, matcher);
    args.push(compiled.test);
    for (const bad of compiled.faults) {
      fault(bad.code, ["args", path, bad.key], `rule "${config.id}": the pattern for "${path}" cannot be used: ${bad.reason}`, patternHelp(bad.reason));
    }
  }

  const named = config.tools !== undefined || config.resources !== undefined || config.prompts !== undefined;
  const names = (patterns: readonly string[] | undefined): readonly Glob[] | null => (patterns ? globs(patterns) : named ? [] : null);
  const place0 = place(["id"]);
  const ref: RuleRef = { id: config.id, file: place0?.file ?? file.source.display, line: place0?.line ?? 1, reason: config.reason ?? null };
  const rule: CompiledRule = {
    ref: Object.freeze(ref),
    label: `rule ${ref.id} (${ref.file}:${ref.line})`,
    config: deepFreeze(structuredClone(config)),
    apps: config.apps ? globs(config.apps) : null,
    names: { tool: names(config.tools), resource: names(config.resources), prompt: names(config.prompts) },
    clients: config.clients ? globs(config.clients) : null,
    args,
    action: config.action ?? null,
    risk: config.risk ?? null,
    audit: config.audit ?? null,
    limit: limits && (rate || limits.concurrent !== undefined) ? { rule: config.id, rate: rate ?? null, concurrent: limits.concurrent ?? null } : null,
    timeoutMs: timeout ?? null,
    place,
    path: dotted,
  };
  if (rule.action === "allow" && rule.args.length === 0 && everything(rule.apps) && everything(rule.names.tool) && everything(rule.clients)) {
    diagnostics.push(
      warningAt("rule-too-wide", place([]), `rule "${config.id}" allows every tool of every app${rule.risk === "critical" ? ", critical ones too" : ""}`, {
        path: dotted([]),
        help: ["name apps or tools, or leave such calls to the risk table"],
      }),
    );
  }
  return { rule: Object.freeze(rule), diagnostics };
}

function globs(patterns: readonly string[]): readonly Glob[] {
  return Object.freeze(patterns.map((p) => compileGlob(p)));
}

function everything(patterns: readonly Glob[] | null): boolean {
  return patterns === null || patterns.some((g) => /^\*+$/.test(g.source));
}
