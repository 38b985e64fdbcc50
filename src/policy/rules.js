import { errorAt, warningAt } from "../base/diagnostic-codes.ts";
import { parseDuration } from "../base/durations.ts";
import { digest } from "../base/json.ts";
import { compileRule } from "./compile-rule.ts";
import { compileFlow, DEFAULT_FLOW } from "./flow.ts";
import { indexRules } from "./rule-index.ts";
/** From the least to the greatest. */
export const RISKS = ["low", "medium", "high", "critical"];
const DEFAULT_TABLE = {
    low: { action: "allow", audit: "summary" },
    medium: { action: "allow", audit: "full" },
    high: { action: "ask", audit: "full" },
    critical: { action: "deny", audit: "full" },
};
const DEFAULT_RISK = { high: "medium", medium: "high", low: "high" };
const DEFAULT_APPROVALS = { expiresMs: 600000, waitMs: 25000, fourEyes: false, elicitation: false };
/** The policy of a workspace without policy files (guide 11.2). */
export const DEFAULT_POLICY = assemble({});
/** A policy that refuses every call, for a host whose policy could never be loaded. `reason` says why, for the caller. */
export function DENY_ALL(reason) {
    return assemble({ refusal: reason });
}
/** Puts policy files together and compiles them (contracts 5). Order of files and rules has no bearing on any decision. */
export function compilePolicy(files) {
    const diagnostics = [];
    const rules = [];
    const seen = new Map();
    for (const file of files) {
        if (file.value.rules?.length === 0)
            diagnostics.push(emptyRules(file));
        for (const [i, config] of (file.value.rules ?? []).entries()) {
            const spot = { file, path: ["rules", i, "id"] };
            const first = seen.get(config.id);
            if (first) {
                diagnostics.push(duplicate("duplicate-rule", `rule id "${config.id}" is used twice`, "give each rule an id of its own: decisions, limits and the audit log name rules by id", spot, first));
                continue;
            }
            seen.set(config.id, spot);
            const compiled = compileRule(config, i, file);
            diagnostics.push(...compiled.diagnostics);
            rules.push(compiled.rule);
        }
    }
    const section = (key) => {
        const holders = files.filter((f) => f.value[key] !== undefined);
        for (const later of holders.slice(1)) {
            diagnostics.push(duplicate("duplicate-setting", `${key} stands in more than one policy file`, "keep it in one file only; rules may stand in any", { file: later, path: [key] }, { file: holders[0], path: [key] }));
        }
        return holders[0]?.value[key];
    };
    const actions = section("risk_actions");
    const defaults = section("default_risk");
    const flow = section("data_flow");
    const approvals = section("approvals");
    if (diagnostics.some((d) => d.severity === "error"))
        return { rules: DENY_ALL("the policy has errors"), diagnostics };
    const row = (risk) => ({ ...DEFAULT_TABLE[risk], ...actions?.[risk] });
    const compiled = assemble({
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
    return { rules: compiled, diagnostics };
}
function assemble(parts) {
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
function emptyRules(file) {
    return warningAt("empty-rules", file.place(["rules"]), "this policy file has an empty list of rules", {
        path: "rules",
        help: ["without a matching rule the risk table decides: low and medium are allowed, high is asked, critical is denied, unless risk_actions says otherwise", "take the empty list out, or add rules"],
    });
}
function duplicate(code, message, help, second, first) {
    return errorAt(code, second.file.place(second.path), message, {
        path: second.path.join("."),
        help: [help],
        related: [{ place: first.file.place(first.path), message: "it stands here first" }],
    });
}
