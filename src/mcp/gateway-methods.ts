import { KitError } from "../base/errors.ts";
import { isObject, own, setOwn, type JsonObject } from "../base/json.ts";
import type { Principal } from "../base/principal.ts";
import { nearest } from "../base/text.ts";
import { matchesTemplate } from "../calls/targets.ts";
import type { CallOptions, GatewayPlan, Kit } from "../kit-api.ts";
import type { Catalog } from "../tools/types.ts";
import { LOG_LEVELS } from "./gateway-log.ts";
import { namePrompts, nameTools, type NamedTool } from "./gateway-names.ts";
import { pageOf } from "./gateway-pages.ts";
import { readResult, refusal, toolResult, unknownMethod } from "./gateway-results.ts";
import { INVALID_PARAMS, rpcNotification, RpcError } from "./gateway-rpc.ts";
import type { GatewaySession, InFlight, MethodHandler } from "./gateway-session.ts";

/** Settings of the gateway that a reload may change. */
export type GatewaySettings = Pick<GatewayPlan, "naming" | "denied" | "invalidArguments">;

export interface MethodDeps {
  readonly kit: Kit;
  readonly settings: () => GatewaySettings;
  readonly subscribe: (session: GatewaySession, uri: string, options: CallOptions) => Promise<void>;
  readonly unsubscribe: (session: GatewaySession, uri: string) => Promise<void>;
}

/** The requests that the gateway answers, by method. `initialize` is the transports' own. */
export function gatewayMethods(deps: MethodDeps): ReadonlyMap<string, MethodHandler> {
  const { kit, settings } = deps;
  const methods = new Map<string, MethodHandler>([
    ["ping", () => ({})],
    [
      "tools/list",
      (session, params) =>
        listPage(
          "tools",
          visibleTools(kit, settings(), session),
          (t) => t.name,
          (t) => t.definition,
          params,
        ),
    ],
    ["tools/call", (session, params, flight) => callTool(deps, session, params, flight)],
    [
      "resources/list",
      (session, params) =>
        listPage(
          "resources",
          sortedBy(kit.listResources(session.principal.client), (r) => String(r.resource["uri"])),
          (r) => String(r.resource["uri"]),
          (r) => r.resource,
          params,
        ),
    ],
    [
      "resources/templates/list",
      (session, params) =>
        listPage(
          "resourceTemplates",
          sortedBy(kit.listTemplates(session.principal.client), (t) => String(t.template["uriTemplate"])),
          (t) => String(t.template["uriTemplate"]),
          (t) => t.template,
          params,
        ),
    ],
    [
      "resources/read",
      async (session, params, flight) => {
        const uri = textOf(params, "uri");
        return readResult(await kit.readResource(uri, { ...optionsOf(session, params, flight), ...showing(kit, session, uri) }), uri);
      },
    ],
    [
      "prompts/list",
      (session, params) =>
        listPage(
          "prompts",
          namePrompts(kit, session.principal.client, settings().naming),
          (p) => p.name,
          (p) => p.definition,
          params,
        ),
    ],
    [
      "prompts/get",
      async (session, params, flight) =>
        readResult(await kit.getPrompt(promptName(deps, session, textOf(params, "name")), promptArguments(params), optionsOf(session, params, flight))),
    ],
    [
      "logging/setLevel",
      (session, params) => {
        const level = textOf(params, "level");
        if (!LOG_LEVELS.includes(level)) throw new RpcError(INVALID_PARAMS, `level must be one of ${LOG_LEVELS.join(", ")}`);
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

/** The app that serves a URI: as in the lists, the first that shows it, or whose template fits it. */
function showing(kit: Kit, { principal: { client } }: GatewaySession, uri: string): { readonly app?: string } {
  const found =
    kit.listResources(client).find(({ resource }) => resource["uri"] === uri) ??
    kit.listTemplates(client).find(({ template }) => matchesTemplate(String(template["uriTemplate"]), uri));
  return found === undefined ? {} : { app: found.app };
}

/** The tools that a session sees, sorted by name: what the kit shows this client, and with `denied: refuse` also what it would refuse. */
export function visibleTools(kit: Kit, settings: GatewaySettings, { principal }: Pick<GatewaySession, "principal">): NamedTool[] {
  const catalog = kit.catalog();
  const tools = nameTools(catalog, settings.naming).sorted;
  if (settings.denied === "refuse") return tools.filter(({ tool }) => (tool.listed || tool.state === "denied") && principal.sees(tool.app, tool.tool));
  const shown = shownTo(kit, catalog, principal);
  return tools.filter(({ tool }) => shown.has(tool.full));
}

const shownCache = new WeakMap<Catalog, WeakMap<Principal["sees"], ReadonlySet<string>>>();

/** Full names of what the kit shows a client; policy and selection are decided there, in one place. Kept for as long as catalogue and selection are. */
function shownTo(kit: Kit, catalog: Catalog, principal: Principal): ReadonlySet<string> {
  let bySelection = shownCache.get(catalog);
  if (!bySelection) shownCache.set(catalog, (bySelection = new WeakMap()));
  let shown = bySelection.get(principal.sees);
  if (!shown) {
    const tools =
      kit.visibleTools?.(principal.client) ?? Object.values(kit.tools("mcp", { client: principal.client }).names).flatMap((full) => catalog.byFull(full) ?? []);
    shown = new Set(tools.filter((tool) => principal.sees(tool.app, tool.tool)).map((tool) => tool.full));
    bySelection.set(principal.sees, shown);
  }
  return shown;
}

async function callTool({ kit, settings }: MethodDeps, session: GatewaySession, params: JsonObject, flight: InFlight): Promise<JsonObject> {
  const name = textOf(params, "name");
  const { naming, invalidArguments } = settings();
  const named = nameTools(kit.catalog(), naming).byName.get(name);
  if (!named || !session.principal.sees(named.tool.app, named.tool.tool)) throw unknownTool(kit, settings(), session, name);
  flight.app = named.tool.app;
  const call = await kit.callTool(named.tool.full, params["arguments"] ?? {}, optionsOf(session, params, flight));
  // What is hidden from a client does not exist for it: the audit log has the reason, the answer has not.
  if (call.error?.error_code === "POLICY_DENIED" && !visibleTools(kit, settings(), session).some((t) => t.name === name))
    throw unknownTool(kit, settings(), session, name);
  return toolResult(call, { invalidArguments, hasOutputSchema: named.definition["outputSchema"] !== undefined });
}

function unknownTool(kit: Kit, settings: GatewaySettings, session: GatewaySession, name: string): RpcError {
  const near = nearest(
    name.slice(0, 256),
    visibleTools(kit, settings, session).map((t) => t.name),
  );
  const hint = near.length > 0 ? `; near names: ${near.join(", ")}` : "";
  return new RpcError(INVALID_PARAMS, `Unknown tool: ${name.slice(0, 256)}${hint}`, {
    ...new KitError("TOOL_NOT_FOUND", `no tool is named ${name.slice(0, 256)}`, { details: { near } }).toBody(),
  });
}

async function complete({ kit, settings }: MethodDeps, session: GatewaySession, params: JsonObject, flight: InFlight): Promise<JsonObject> {
  if (!kit.complete) throw unknownMethod("completion/complete");
  const ref = params["ref"];
  const argument = params["argument"];
  if (!isObject(ref) || !isObject(argument) || typeof argument["name"] !== "string" || typeof argument["value"] !== "string")
    throw new RpcError(INVALID_PARAMS, "ref and argument { name, value } are needed");
  const context = isObject(params["context"]) ? params["context"] : {};
  const sent = ref["type"] === "ref/prompt" ? { ...ref, name: promptName({ kit, settings }, session, textOf(ref as JsonObject, "name")) } : ref;
  return readResult(
    await kit.complete(sent as JsonObject, { name: argument["name"], value: argument["value"] }, context as JsonObject, optionsOf(session, params, flight)),
  );
}

/** The kit's name for a prompt that the client names in the gateway's way. */
function promptName({ kit, settings }: Pick<MethodDeps, "kit" | "settings">, session: GatewaySession, name: string): string {
  const found = namePrompts(kit, session.principal.client, settings().naming).find((p) => p.name === name);
  if (!found) throw refusal(new KitError("PROMPT_NOT_FOUND", `Unknown prompt: ${name.slice(0, 256)}`).toBody());
  return found.short;
}

function promptArguments(params: JsonObject): Record<string, string> {
  const given = params["arguments"] ?? {};
  if (!isObject(given)) throw new RpcError(INVALID_PARAMS, "arguments must be an object of strings");
  const out: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) {
    if (typeof value !== "string") throw new RpcError(INVALID_PARAMS, `arguments.${key} must be a string`);
    setOwn(out, key, value);
  }
  return out;
}

/** `_meta` members that are the kit's own or name another hop, and so are not passed on. `baggage` may carry what a low-trust server must not see. */
const OWN_META = new Set(["progressToken", "baggage"]);
const isOwnMeta = (key: string): boolean => OWN_META.has(key) || key.startsWith("aurora/") || key.startsWith("io.modelcontextprotocol/");

function optionsOf(session: GatewaySession, params: JsonObject, flight: InFlight): CallOptions {
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  const conversation = own(meta, "aurora/session");
  const approvalId = own(meta, "aurora/approval_id");
  const token = own(meta, "progressToken");
  const name = typeof conversation === "string" && conversation !== "" ? conversation.slice(0, 256) : session.id;
  session.joins(name);
  const passed: JsonObject = {};
  for (const [key, value] of Object.entries(meta)) if (!isOwnMeta(key)) setOwn(passed, key, value);
  return {
    client: session.principal.client,
    session: name,
    signal: flight.abort.signal,
    clientCapabilities: session.capabilities,
    ...(typeof approvalId === "string" ? { approvalId } : {}),
    ...(typeof token === "string" || typeof token === "number"
      ? { onProgress: (progress) => void flight.outlet.send(rpcNotification("notifications/progress", { progressToken: token, ...progress })) }
      : {}),
    ...(session.answersRequests ? { onServerRequest: (request) => session.ask(request, flight) } : {}),
    ...(Object.keys(passed).length > 0 ? { meta: passed } : {}),
  };
}

function textOf(params: JsonObject, key: string): string {
  const value = own(params, key);
  if (typeof value !== "string" || value === "") throw new RpcError(INVALID_PARAMS, `${key} must be a text`);
  return value;
}

function listPage<T>(member: string, items: readonly T[], keyOf: (item: T) => string, shown: (item: T) => JsonObject, params: JsonObject): JsonObject {
  const page = pageOf(items, keyOf, params["cursor"]);
  return { [member]: page.items.map(shown), ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }) };
}

/** Sorted by a key that is then unique: the first of several apps that show the same URI stays. */
function sortedBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const unique = new Map<string, T>();
  for (const item of items) if (!unique.has(keyOf(item))) unique.set(keyOf(item), item);
  return [...unique.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
