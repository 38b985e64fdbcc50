import { errorAt, warningAt, type DiagnosticCode } from "../base/diagnostic-codes.ts";
import { hasErrors, type Diagnostic } from "../base/diagnostics.ts";
import { parseDuration } from "../base/durations.ts";
import { digest } from "../base/json.ts";
import { soundItems } from "../config/sound.ts";
import { formatPath } from "../config/nodes.ts";
import type { Loaded } from "../config/types.ts";
import type { Risk, Trust } from "../tools/types.ts";
import type { PolicyConfig } from "../../generated/policy.d.ts";
import { compileRule, type CompiledRule } from "./compile-rule.ts";
import { compileFlow, DEFAULT_FLOW, type FlowRules } from "./flow.ts";
import { indexRules, type RuleLookup } from "./rule-index.ts";
import type { Action, ApprovalRules, AuditDetail } from "./types.ts";

export type { CompiledRule } from "./compile-rule.ts";

/** From the least to the greatest. */
export const RISKS: readonly Risk[] = ["low", "medium", "high", "critical"];

/** Compiled policy: frozen, every pattern ready, the rules of a subject found through an index. */
export interface PolicyRules {
  /** Why nothing at all may be called, when no policy has ever been loaded; null in a policy that works. */
  readonly refusal: string | null;
  readonly table: Readonly<Record<Risk, { readonly action: Action; readonly audit: AuditDetail }>>;
  readonly defaultRisk: Readonly<Record<Trust, Risk>>;
  /** Sorted by id. */
  readonly rules: readonly CompiledRule[];
  readonly flow: FlowRules;
  readonly approvals: ApprovalRules;
  /** Digest of what the policy means; the policy revision in audit records. Order of rules and files does not change it. */
  readonly revision: string;
  /** The rules whose apps and names fit a subject; clients and arguments are still to be judged. */
  readonly candidates: RuleLookup;
}

/** A compiled policy with what was found wrong; with an error among the findings or in a file, `rules` refuses everything. */
export interface PolicyResult {
  readonly rules: PolicyRules;
  /** The rules in which nothing is wrong, for further checks. */
  readonly sound: PolicyRules;
  readonly diagnostics: readonly Diagnostic[];
}

const DEFAULT_TABLE: PolicyRules["table"] = {
  low: { action: "allow", audit: "summary" },
  medium: { action: "allow", audit: "full" },
  high: { action: "ask", audit: "full" },
  critical: { action: "deny", audit: "full" },
};
const DEFAULT_RISK: PolicyRules["defaultRisk"] = { high: "medium", medium: "high", low: "high" };
const DEFAULT_APPROVALS: ApprovalRules = { expiresMs: 600_000, waitMs: 25_000, fourEyes: false, elicitation: false };

/** The policy of a workspace without policy files (guide 11.2). */
export const DEFAULT_POLICY: PolicyRules = assemble({});

/** A policy that refuses every call, for a host whose policy could never be loaded. `reason` says why, for the caller. */
export function DENY_ALL(reason: string): PolicyRules {
  return assemble({ refusal: reason });
}

/** Puts policy files together and compiles them (contracts 5). Order of files and rules has no bearing on any decision. */
export function compilePolicy(files: readonly Loaded<PolicyConfig>[]): PolicyResult {
  const diagnostics: Diagnostic[] = [];
  const rules: CompiledRule[] = [];
  const seen = new Map<string, Spot>();
  for (const file of files) {
    if (file.value.rules?.length === 0 || (!file.wrong && Object.keys(file.value).length === 0)) diagnostics.push(emptyRules(file));
    for (const { index: i, item: config, whole } of soundItems(file.value.rules, file.wrong, ["rules"])) {
      const spot: Spot = { file, path: ["rules", i, "id"] };
      const first = seen.get(config.id);
      if (first) {
        diagnostics.push(
          duplicate(
            "duplicate-rule",
            `rule id "${config.id}" is used twice`,
            "give each rule an id of its own: decisions, limits and the audit log name rules by id",
            spot,
            first,
          ),
        );
      } else seen.set(config.id, spot);
      const compiled = compileRule(config, i, file);
      diagnostics.push(...compiled.diagnostics.filter((d) => whole || !JUDGES_WHOLE_RULE.has(d.code)));
      if (whole && !first && !hasErrors(compiled.diagnostics)) rules.push(compiled.rule);
    }
  }
  const section = <K extends "risk_actions" | "default_risk" | "data_flow" | "approvals">(key: K): PolicyConfig[K] | undefined => {
    const holders = files.filter((f) => f.value[key] !== undefined);
    for (const later of holders.slice(1)) {
      diagnostics.push(
        duplicate(
          "duplicate-setting",
          `${key} stands in more than one policy file`,
          "keep it in one file only; rules may stand in any",
          { file: later, path: [key] },
          { file: holders[0]!, path: [key] },
        ),
      );
    }
    return holders[0]?.value[key];
  };
  const actions = section("risk_actions");
  const defaults = section("default_risk");
  const flow = section("data_flow");
  const approvals = section("approvals");
  const row = (risk: Risk): PolicyRules["table"][Risk] => ({ ...DEFAULT_TABLE[risk], ...actions?.[risk] });
  const sound = assemble({
    table: { low: row("low"), medium: row("medium"), high: row("high"), critical: row("critical") },
    defaultRisk: { ...DEFAULT_RISK, ...defaults },
    rules,
    flow: compileFlow(flow),
    approvals: {
      expiresMs: parseDuration(approvals?.expires) ?? DEFAULT_APPROVALS.expiresMs,
      waitMs: parseDuration(approvals?.wait) ?? DEFAULT_APPROVALS.waitMs,
      fourEyes: approvals?.four_eyes ?? DEFAULT_APPROVALS.fourEyes,
      elicitation: approvals?.elicitation ?? DEFAULT_APPROVALS.elicitation,
    },
  });
  const broken = hasErrors(diagnostics) || files.some((file) => file.wrong !== undefined);
  return { rules: broken ? DENY_ALL("the policy has errors") : sound, sound, diagnostics };
}

/** Findings that follow from what a rule lacks, which may be what is wrong in it. */
const JUDGES_WHOLE_RULE: ReadonlySet<string> = new Set<DiagnosticCode>(["rule-does-nothing", "rule-too-wide"]);

function assemble(parts: Partial<Omit<PolicyRules, "revision" | "candidates">>): PolicyRules {
  const rules = [...(parts.rules ?? [])].sort((a, b) => (a.ref.id < b.ref.id ? -1 : 1));
  const meaning = {
    refusal: parts.refusal ?? null,
    table: Object.freeze(parts.table ?? DEFAULT_TABLE),
    defaultRisk: Object.freeze(parts.defaultRisk ?? DEFAULT_RISK),
    flow: parts.flow ?? DEFAULT_FLOW,
    approvals: Object.freeze(parts.approvals ?? DEFAULT_APPROVALS),
  };
  const { flow, ...settings } = meaning;
  const revision = digest({ ...settings, flow: flow.config, rules: rules.map((r) => r.config) }, "policy");
  return Object.freeze({ ...meaning, rules: Object.freeze(rules), revision, candidates: indexRules(rules) });
}

function emptyRules(file: Loaded<PolicyConfig>): Diagnostic {
  return warningAt("empty-rules", file.place(["rules"]), "this policy file has no rules", {
    path: "rules",
    help: [
      "without a matching rule the risk table decides: low and medium are allowed, high is asked, critical is denied, unless risk_actions says otherwise",
      "add rules, or take the empty list or file out",
    ],
  });
}

interface Spot {
  readonly file: Loaded<PolicyConfig>;
  readonly path: readonly (string | number)[];
}

function duplicate(code: DiagnosticCode, message: string, help: string, second: Spot, first: Spot): Diagnostic {
  return errorAt(code, second.file.place(second.path), message, {
    path: formatPath(second.path),
    help: [help],
    related: [{ place: first.file.place(first.path), message: "it stands here first" }],
  });
}
