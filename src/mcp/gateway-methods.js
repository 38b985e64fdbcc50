import { KitError } from "../base/errors.ts";
import { isObject, own, setOwn } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import { LOG_LEVELS, wantsLog } from "./gateway-log.ts";
import { namePrompts, nameTools } from "./gateway-names.ts";
import { pageOf } from "./gateway-pages.ts";
import { readResult, refusal, toolResult, unknownMethod } from "./gateway-results.ts";
import { INVALID_PARAMS, rpcNotification, RpcError } from "./gateway-rpc.ts";
/** The requests that the gateway answers, by method. `initialize` is the transports' own. */
export function gatewayMethods(deps) {
    const { kit, settings } = deps;
    const methods = new Map([
        ["ping", () => ({})],
        ["tools/list", (session, params) => listPage("tools", visibleTools(kit, settings(), session), (t) => t.name, (t) => t.definition, params)],
        ["tools/call", (session, params, flight) => callTool(deps, session, params, flight)],
        ["resources/list", (session, params) => listPage("resources", sortedBy(kit.listResources(session.principal.client), (r) => String(r.resource["uri"])), (r) => String(r.resource["uri"]), (r) => r.resource, params)],
        ["resources/templates/list", (session, params) => listPage("resourceTemplates", sortedBy(kit.listTemplates(session.principal.client), (t) => String(t.template["uriTemplate"])), (t) => String(t.template["uriTemplate"]), (t) => t.template, params)],
        [
            "resources/read",
            async (session, params, flight) => {
                const uri = textOf(params, "uri");
                return readResult(await kit.readResource(uri, optionsOf(session, params, flight)), uri);
            },
        ],
        ["prompts/list", (session, params) => listPage("prompts", namePrompts(kit, session.principal.client, settings().naming), (p) => p.name, (p) => p.definition, params)],
        [
            "prompts/get",
            async (session, params, flight) => readResult(await kit.getPrompt(promptName(deps, session, textOf(params, "name")), promptArguments(params), optionsOf(session, params, flight))),
        ],
        [
            "logging/setLevel",
            (session, params) => {
                const level = textOf(params, "level");
                if (!LOG_LEVELS.includes(level))
                    throw new RpcError(INVALID_PARAMS, `level must be one of ${LOG_LEVELS.join(", ")}`);
                session.logLevel = level;
                return {};
            },
        ],
        ["resources/subscribe", async (session, params, flight) => (await deps.subscribe(session, textOf(params, "uri"), optionsOf(session, params, flight)), {})],
        ["resources/unsubscribe", async (session, params) => (await deps.unsubscribe(session, textOf(params, "uri")), {})],
        ["completion/complete", (session, params, flight) => complete(deps, session, params, flight)],
    ]);
    return methods;
}
/** The tools that a session sees, sorted by name: what the kit shows this client, and with `denied: refuse` also what it would refuse. */
export function visibleTools(kit, settings, { principal }) {
    const catalog = kit.catalog();
    const tools = nameTools(catalog, settings.naming).sorted;
    if (settings.denied === "refuse")
        return tools.filter(({ tool }) => LISTED.has(tool.state) && principal.sees(tool.app, tool.tool));
    const shown = shownTo(kit, catalog, principal);
    return tools.filter(({ tool }) => shown.has(tool.full));
}
const LISTED = new Set(["exposed", "unavailable", "denied"]);
const shownCache = new WeakMap();
/** Full names of what the kit's own export shows a client; policy and selection are decided in one place. Kept for as long as catalogue and selection are. */
function shownTo(kit, catalog, principal) {
    let bySelection = shownCache.get(catalog);
    if (!bySelection)
        shownCache.set(catalog, (bySelection = new WeakMap()));
    let shown = bySelection.get(principal.sees);
    if (!shown)
        bySelection.set(principal.sees, (shown = new Set(Object.values(kit.tools("mcp", { client: principal.client }).names).filter((full) => seesFull(catalog, full, principal)))));
    return shown;
}
function seesFull(catalog, full, principal) {
    const tool = catalog.byFull(full);
    return tool !== undefined && principal.sees(tool.app, tool.tool);
}
async function callTool({ kit, settings }, session, params, flight) {
    const name = textOf(params, "name");
    const { naming, invalidArguments } = settings();
    const named = nameTools(kit.catalog(), naming).byName.get(name);
    if (!named || !session.principal.sees(named.tool.app, named.tool.tool))
        throw unknownTool(kit, settings(), session, name);
    flight.app = named.tool.app;
    const call = await kit.callTool(named.tool.full, params["arguments"] ?? {}, optionsOf(session, params, flight));
    return toolResult(call, { invalidArguments, hasOutputSchema: named.definition["outputSchema"] !== undefined });
}
function unknownTool(kit, settings, session, name) {
    const near = nearest(name.slice(0, 256), visibleTools(kit, settings, session).map((t) => t.name));
    const hint = near.length > 0 ? `; near names: ${near.join(", ")}` : "";
    return new RpcError(INVALID_PARAMS, `Unknown tool: ${name.slice(0, 256)}${hint}`, { ...new KitError("TOOL_NOT_FOUND", `no tool is named ${name.slice(0, 256)}`, { details: { near } }).toBody() });
}
async function complete({ kit, settings }, session, params, flight) {
    if (!kit.complete)
        throw unknownMethod("completion/complete");
    const ref = params["ref"];
    const argument = params["argument"];
    if (!isObject(ref) || !isObject(argument) || typeof argument["name"] !== "string" || typeof argument["value"] !== "string")
        throw new RpcError(INVALID_PARAMS, "ref and argument { name, value } are needed");
    const context = isObject(params["context"]) ? params["context"] : {};
    const sent = ref["type"] === "ref/prompt" ? { ...ref, name: promptName({ kit, settings }, session, textOf(ref, "name")) } : ref;
    return readResult(await kit.complete(sent, { name: argument["name"], value: argument["value"] }, context, optionsOf(session, params, flight)));
}
/** The kit's name for a prompt that the client names in the gateway's way. */
function promptName({ kit, settings }, session, name) {
    const found = namePrompts(kit, session.principal.client, settings().naming).find((p) => p.name === name);
    if (!found)
        throw refusal(new KitError("PROMPT_NOT_FOUND", `Unknown prompt: ${name.slice(0, 256)}`).toBody());
    return found.short;
}
function promptArguments(params) {
    const given = params["arguments"] ?? {};
    if (!isObject(given))
        throw new RpcError(INVALID_PARAMS, "arguments must be an object of strings");
    const out = {};
    for (const [key, value] of Object.entries(given)) {
        if (typeof value !== "string")
            throw new RpcError(INVALID_PARAMS, `arguments.${key} must be a string`);
        setOwn(out, key, value);
    }
    return out;
}
/** `_meta` members that are the kit's own or name another hop, and so are not passed on. `baggage` may carry what a low-trust server must not see. */
const OWN_META = new Set(["progressToken", "baggage"]);
const isOwnMeta = (key) => OWN_META.has(key) || key.startsWith("aurora/") || key.startsWith("io.modelcontextprotocol/");
function optionsOf(session, params, flight) {
    const meta = isObject(params["_meta"]) ? params["_meta"] : {};
    const conversation = own(meta, "aurora/session");
    const approvalId = own(meta, "aurora/approval_id");
    const token = own(meta, "progressToken");
    const name = typeof conversation === "string" && conversation !== "" ? conversation.slice(0, 256) : session.id;
    session.conversations.add(name);
    const passed = {};
    for (const [key, value] of Object.entries(meta))
        if (!isOwnMeta(key))
            setOwn(passed, key, value);
    return {
        client: session.principal.client,
        session: name,
        signal: flight.abort.signal,
        clientCapabilities: session.capabilities,
        onNotification: (method, notified) => {
            if (method === "notifications/message" && wantsLog(notified, session.logLevel))
                flight.outlet.send(rpcNotification(method, notified));
        },
        ...(typeof approvalId === "string" ? { approvalId } : {}),
        ...(typeof token === "string" || typeof token === "number" ? { onProgress: (progress) => void flight.outlet.send(rpcNotification("notifications/progress", { progressToken: token, ...progress })) } : {}),
        ...(session.answersRequests ? { onServerRequest: (request) => session.ask(request, flight) } : {}),
        ...(Object.keys(passed).length > 0 ? { meta: passed } : {}),
    };
}
function textOf(params, key) {
    const value = own(params, key);
    if (typeof value !== "string" || value === "")
        throw new RpcError(INVALID_PARAMS, `${key} must be a text`);
    return value;
}
function listPage(member, items, keyOf, shown, params) {
    const page = pageOf(items, keyOf, params["cursor"]);
    return { [member]: page.items.map(shown), ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }) };
}
/** Sorted by a key that is then unique: the first of several apps that show the same URI stays. */
function sortedBy(items, keyOf) {
    const unique = new Map();
    for (const item of items)
        if (!unique.has(keyOf(item)))
            unique.set(keyOf(item), item);
    return [...unique.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
