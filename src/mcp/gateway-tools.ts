import { KitError } from "../base/errors.ts";
import { own, type JsonObject } from "../base/json.ts";
import type { Principal } from "../base/principal.ts";
import { nearest } from "../base/text.ts";
import type { CallResult, GatewayPlan, Kit } from "../kit-api.ts";
import type { TaskSupport } from "../tools/task-support.ts";
import type { Catalog } from "../tools/types.ts";
import { nameTools, type NamedTool } from "./gateway-names.ts";
import { textOf } from "./gateway-options.ts";
import { toolResult } from "./gateway-results.ts";
import { INVALID_PARAMS, RpcError } from "./gateway-rpc.ts";
import type { GatewaySession } from "./gateway-session.ts";

/** Settings of the gateway that a reload may change. */
export type GatewaySettings = Pick<GatewayPlan, "naming" | "denied" | "invalidArguments">;

/** What the tools of the gateway are made from. */
export interface ToolDeps {
  readonly kit: Kit;
  readonly settings: () => GatewaySettings;
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

/** Whether a tool can run as a task at all. */
export function takesTasks(kit: Kit, { tool }: NamedTool): boolean {
  return (kit.taskSupport?.(tool) ?? "forbidden") !== "forbidden";
}

/** Whether a tool can run as a task for a session: only where the session was told at its beginning that there are tasks. */
export function taskSupportFor(kit: Kit, session: Pick<GatewaySession, "offersTasks">, { tool }: NamedTool): TaskSupport {
  return session.offersTasks ? (kit.taskSupport?.(tool) ?? "forbidden") : "forbidden";
}

/**
 * A tool's definition as a session is shown it: the server's own, but for an `execution.taskSupport` that would not hold here. Where
 * there are no tasks it is left out; and to a client that declares none `required` is shown as `optional`, for the kit waits in its place.
 */
export function shownDefinition(kit: Kit, session: GatewaySession, named: NamedTool): JsonObject {
  const { definition } = named;
  const said = own(definition["execution"], "taskSupport");
  if (said !== "optional" && said !== "required") return definition;
  const { taskSupport: _, ...execution } = definition["execution"] as JsonObject;
  const support = taskSupportFor(kit, session, named);
  if (support === "forbidden") {
    const { execution: _all, ...rest } = definition;
    return Object.keys(execution).length === 0 ? rest : { ...rest, execution };
  }
  if (support === "required" && own(session.capabilities, "tasks") === undefined)
    return { ...definition, execution: { ...execution, taskSupport: "optional" } };
  return definition;
}

/** The tool that a call names, as far as this session may know of it; throws an {@link RpcError} when there is none. */
export function calledTool(deps: ToolDeps, session: GatewaySession, params: JsonObject): NamedTool {
  const name = textOf(params, "name");
  const named = nameTools(deps.kit.catalog(), deps.settings().naming).byName.get(name);
  if (!named || !session.principal.sees(named.tool.app, named.tool.tool)) throw unknownTool(deps, session, name);
  return named;
}

/** The answer to a call that ended. What is hidden from a client does not exist for it: the audit log has the reason, the answer has not. */
export function callAnswer(deps: ToolDeps, session: GatewaySession, named: NamedTool, call: CallResult): JsonObject {
  refuseHidden(deps, session, named, call);
  return toolResult(whileConnected(deps.kit, session, call), {
    invalidArguments: deps.settings().invalidArguments,
    hasOutputSchema: named.definition["outputSchema"] !== undefined,
    opensAddresses: session.opensAddresses,
  });
}

/** Says of an approval of the session's own conversation that it ends with the session. */
function whileConnected(kit: Kit, session: GatewaySession, call: CallResult): CallResult {
  const { error } = call;
  const id = error?.error_code === "APPROVAL_REQUIRED" ? own(error.details, "approval_id") : undefined;
  if (!error || id === undefined || !kit.listApprovals().some((row) => row.id === id && row.session === session.id)) return call;
  return { ...call, error: { ...error, message: `${error.message}, while this client stays connected: the approval ends with its session` } };
}

/** Throws what a call to an unknown tool gets when the policy denied the call and the tool is hidden from the client. */
export function refuseHidden(deps: ToolDeps, session: GatewaySession, { name }: NamedTool, call: CallResult): void {
  if (call.error?.error_code === "POLICY_DENIED" && !visibleTools(deps.kit, deps.settings(), session).some((t) => t.name === name))
    throw unknownTool(deps, session, name);
}

function unknownTool({ kit, settings }: ToolDeps, session: GatewaySession, name: string): RpcError {
  const near = nearest(
    name.slice(0, 256),
    visibleTools(kit, settings(), session).map((t) => t.name),
  );
  const hint = near.length > 0 ? `; near names: ${near.join(", ")}` : "";
  return new RpcError(INVALID_PARAMS, `Unknown tool: ${name.slice(0, 256)}${hint}`, {
    ...new KitError("TOOL_NOT_FOUND", `no tool is named ${name.slice(0, 256)}`, { details: { near } }).toBody(),
  });
}
