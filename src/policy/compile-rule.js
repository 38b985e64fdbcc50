import { errorAt, warningAt } from "../base/diagnostic-codes.ts";
import { parseDuration, parseRate } from "../base/durations.ts";
import { compileGlob } from "../base/glob.ts";
import { deepFreeze } from "../base/json.ts";
import { compileArgumentTest } from "./match-args.ts";
/** Compiles one rule of a file; the findings have their places. */
export function compileRule(config, index, file) {
    const diagnostics = [];
    const place = (path) => file.place(["rules", index, ...path]);
    const dotted = (path) => ["rules", index, ...path].join(".");
    const fault = (code, path, message, help) => {
        diagnostics.push(errorAt(code, place(path), message, { path: dotted(path), help: [help] }));
    };
    const limits = config.limits;
    const rate = limits?.rate === undefined ? null : (parseRate(limits.rate) ?? undefined);
    if (rate === undefined)
        fault("bad-unit", ["limits", "rate"], `rule "${config.id}": "${limits?.rate}" is not a rate`, "write a count and a time, such as 10/min, 5/s or 3/10s");
    const timeout = limits?.timeout === undefined ? null : (parseDuration(limits.timeout) ?? undefined);
    if (timeout === undefined)
        fault("bad-unit", ["limits", "timeout"], `rule "${config.id}": "${limits?.timeout}" is not a duration`, "write a number of seconds, or a text such as 250ms, 10s, 5m");
    const bounded = limits !== undefined && (limits.rate !== undefined || limits.concurrent !== undefined || limits.timeout !== undefined);
    if (config.action === undefined && config.risk === undefined && !bounded) {
        fault("rule-does-nothing", [], `rule "${config.id}" has no action, no risk and no limits, so it decides nothing`, "add action: allow, ask or deny; or risk: …; or limits: { rate: … }");
    }
    const args = [];
    for (const [path, matcher] of Object.entries(config.args ?? {})) {
        const compiled = compileArgumentTest(path, matcher);
        args.push(compiled.test);
        for (const bad of compiled.faults) {
            fault(bad.code, ["args", path, bad.key], `rule "${config.id}": the pattern for "${path}" cannot be used: ${bad.reason}`, "patterns run in linear time: no lookaround, no back-references, no large nested counts");
        }
    }
    const named = config.tools !== undefined || config.resources !== undefined || config.prompts !== undefined;
    const names = (patterns) => (patterns ? globs(patterns) : named ? [] : null);
    const place0 = place(["id"]);
    const ref = { id: config.id, file: place0?.file ?? file.source.display, line: place0?.line ?? 1, reason: config.reason ?? null };
    const rule = {
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
        diagnostics.push(warningAt("rule-too-wide", place([]), `rule "${config.id}" allows every tool of every app${rule.risk === "critical" ? ", critical ones too" : ""}`, {
            path: dotted([]),
            help: ["name apps or tools, or leave such calls to the risk table"],
        }));
    }
    return { rule: Object.freeze(rule), diagnostics };
}
function globs(patterns) {
    return Object.freeze(patterns.map((p) => compileGlob(p)));
}
function everything(patterns) {
    return patterns === null || patterns.some((g) => /^\*+$/.test(g.source));
}
