import { parseDuration } from "../base/durations.ts";
import { compileGlob } from "../base/glob.ts";
const TRUSTS = ["low", "medium", "high"];
/** Compiles the `data_flow` section; absent parts are as contracts 5 shows them. */
export function compileFlow(config) {
    const action = config?.action ?? "ask";
    const sinkRisk = config?.sinks?.risk ?? "high";
    const sourceTrust = config?.sources?.trust ?? "low";
    const tools = config?.sources?.tools ?? [];
    const events = config?.sources?.events ?? ["im.polaris.qq/message.received"];
    const expiresMs = parseDuration(config?.expires) ?? 86400000;
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
export const DEFAULT_FLOW = compileFlow(undefined);
/** Whether what a tool, resource or prompt answers (errors too) marks the session that gets it. */
export function isSource(flow, from) {
    if (flow.action === "off")
        return false;
    return trustIsSource(flow, from.trust) || fits(flow.sourceTools, from.app, from.name);
}
/** Whether an event opens its session marked. */
export function isSourceEvent(flow, from) {
    if (flow.action === "off")
        return false;
    return trustIsSource(flow, from.trust) || fits(flow.sourceEvents, from.app, from.type);
}
/** How a source is named in marks, reports and reasons: `package/tool`. */
export function sourceName(from) {
    return `${from.app}/${from.name}`;
}
function trustIsSource(flow, trust) {
    return flow.sourceTrust !== "none" && TRUSTS.indexOf(trust) <= TRUSTS.indexOf(flow.sourceTrust);
}
function fits(patterns, app, name) {
    return patterns.some((p) => p.app.matches(app) && p.name.matches(name));
}
/** `package/name`; without a slash the whole package is meant. A package has no slash, a name may. */
function flowPattern(pattern) {
    const slash = pattern.indexOf("/");
    return slash === -1 ? { app: compileGlob(pattern), name: compileGlob("*") } : { app: compileGlob(pattern.slice(0, slash)), name: compileGlob(pattern.slice(slash + 1)) };
}
