import { KitError } from "../base/errors.ts";
import { isObject, setOwn, type JsonObject } from "../base/json.ts";
import { matchesTemplate } from "../calls/targets.ts";
import type { CallOptions, Kit } from "../kit-api.ts";
import { LOG_LEVELS } from "./gateway-log.ts";
import { namePrompts } from "./gateway-names.ts";
import { optionsOf, textOf } from "./gateway-options.ts";
import { listPage } from "./gateway-pages.ts";
import { readResult, refusal, unknownMethod } from "./gateway-results.ts";
import { INVALID_PARAMS, RpcError } from "./gateway-rpc.ts";
import type { GatewaySession, InFlight, MethodHandler } from "./gateway-session.ts";
import type { GatewayTasks } from "./gateway-tasks.ts";
import { calledTool, callAnswer, shownDefinition, visibleTools, type ToolDeps } from "./gateway-tools.ts";

export interface MethodDeps extends ToolDeps {
  readonly tasks: GatewayTasks;
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
          (t) => shownDefinition(kit, session, t),
          params,
        ),
    ],
    ["tools/call", (session, params, flight) => callTool(deps, session, params, flight)],
    ...deps.tasks.methods,
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

async function callTool(deps: MethodDeps, session: GatewaySession, params: JsonObject, flight: InFlight): Promise<JsonObject> {
  const named = calledTool(deps, session, params);
  // To a session that was offered no tasks the wish means nothing (MCP 2025-11-25, tasks).
  if (params["task"] !== undefined && session.offersTasks) return deps.tasks.create(session, named, params, flight);
  const call = await deps.kit.callTool(named.tool.full, params["arguments"] ?? {}, optionsOf(session, params, flight));
  return callAnswer(deps, session, named, call);
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

/** Sorted by a key that is then unique: the first of several apps that show the same URI stays. */
function sortedBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const unique = new Map<string, T>();
  for (const item of items) if (!unique.has(keyOf(item))) unique.set(keyOf(item), item);
  return [...unique.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
