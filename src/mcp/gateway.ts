import { randomBytes } from "node:crypto";
import { KitError } from "../base/errors.ts";
import { canonicalJson, isObject, type JsonObject } from "../base/json.ts";
import type { Principal } from "../base/principal.ts";
import type { CallOptions, Kit, Logger } from "../kit-api.ts";
import { gatewayMethods } from "./gateway-methods.ts";
import { namePrompts, namingCollisions } from "./gateway-names.ts";
import type { Outlet } from "./gateway-outlet.ts";
import { refusal } from "./gateway-results.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "./gateway-rpc.ts";
import { GatewaySession } from "./gateway-session.ts";
import { createGatewayTasks } from "./gateway-tasks.ts";
import { takesTasks, visibleTools, type GatewaySettings } from "./gateway-tools.ts";
import { passWords } from "./gateway-words.ts";
import { PROTOCOL_VERSIONS } from "./protocol-versions.ts";

export interface GatewayOptions {
  readonly kit: Kit;
  /** Asked at every request, so that a reload can change them. */
  readonly settings: () => GatewaySettings;
  readonly info: { readonly name: string; readonly version: string };
  /** Told of tools that cannot be served because their names clash. */
  readonly log?: Logger;
  /** How long changes are gathered before clients are told, in milliseconds. */
  readonly debounceMs?: number;
}

/** The aggregate MCP server without a transport: sessions, methods, and what the kit tells them. */
export interface Gateway {
  /** Begins a session from the params of an initialize request; gives it with the result to answer. Throws an {@link RpcError} for unusable params. */
  open(params: JsonObject, principal: Principal, outlet: Outlet): { readonly session: GatewaySession; readonly result: JsonObject };
  /** Ends a session: its calls are cancelled, its open approvals are refused. */
  end(session: GatewaySession): Promise<void>;
  /** Looks again at what each client sees, after settings or selections changed; clients are told of what is different. */
  refresh(): void;
  /** Takes over who may come in after a reload: tasks of callers that are gone are cancelled, the others see what they may see now. */
  follow(principals: readonly Principal[]): void;
  /** Ends all sessions and stops listening to the kit. */
  close(): Promise<void>;
}

/** Subscriptions of one session. */
const MAX_SUBSCRIPTIONS = 1000;

type ListName = "tools" | "prompts" | "resources";

/** Makes the aggregate MCP server over a kit (contracts 2 `gateway`, 4, 6). */
export function createGateway(options: GatewayOptions): Gateway {
  const { kit, settings } = options;
  const sessions = new Set<GatewaySession>();
  const shown = new Map<string, Readonly<Record<ListName, string>>>();
  let timer: NodeJS.Timeout | undefined;

  // Each session asks for itself, for another may hear of what this one may not; the kit counts, and subscribes upstream once.
  const subscribe = async (session: GatewaySession, uri: string, call: CallOptions): Promise<void> => {
    if (!kit.subscribeResource) throw new RpcError(METHOD_NOT_FOUND, "subscriptions are not served here");
    if (session.subscriptions.has(uri)) return;
    if (session.subscriptions.size >= MAX_SUBSCRIPTIONS) throw new RpcError(INVALID_PARAMS, `more than ${MAX_SUBSCRIPTIONS} subscriptions in one session`);
    session.subscriptions.add(uri);
    try {
      await kit.subscribeResource(uri, call);
    } catch (error) {
      session.subscriptions.delete(uri);
      throw error instanceof KitError ? refusal(error.toBody(), uri) : error;
    }
  };
  const unsubscribe = async (session: GatewaySession, uri: string): Promise<void> => {
    if (session.subscriptions.delete(uri)) await kit.unsubscribeResource?.(uri, { client: session.principal.client, session: session.id });
  };
  const tasks = createGatewayTasks({ kit, settings });
  const methods = gatewayMethods({ kit, settings, tasks, subscribe, unsubscribe });

  /** What a client sees, as texts that change when it does. */
  const signatures = (session: GatewaySession): Readonly<Record<ListName, string>> => ({
    tools: visibleTools(kit, settings(), session)
      .map((t) => `${t.name} ${t.tool.pin} ${kit.taskSupport?.(t.tool) ?? ""}`)
      .join("\n"),
    prompts: canonicalJson(namePrompts(kit, session.principal.client, settings().naming).map((p) => p.definition)),
    resources: canonicalJson([kit.listResources(session.principal.client), kit.listTemplates(session.principal.client)]),
  });
  const seesTaskTools = (session: GatewaySession): boolean => visibleTools(kit, settings(), session).some((t) => takesTasks(kit, t));
  let clashes = "";
  const tellChanges = (): void => {
    timer = undefined;
    const found = namingCollisions(kit.catalog(), settings().naming).join("; ");
    if (found !== clashes && found !== "") options.log?.warn({}, found);
    clashes = found;
    const now = new Map<string, Readonly<Record<ListName, string>>>();
    for (const session of sessions) {
      const { client } = session.principal;
      const next = now.get(client) ?? signatures(session);
      now.set(client, next);
      const last = shown.get(client);
      for (const list of ["tools", "prompts", "resources"] as const)
        if (last && last[list] !== next[list]) session.notify(`notifications/${list}/list_changed`);
    }
    for (const [client, next] of now) shown.set(client, next);
  };
  const gateway: Gateway = {
    open(params, principal, outlet) {
      const asked = params["protocolVersion"];
      if (typeof asked !== "string") throw new RpcError(INVALID_PARAMS, "protocolVersion must be a text");
      const session = new GatewaySession({ id: randomBytes(24).toString("base64url"), principal, outlet, find: (method) => methods.get(method) });
      session.protocolVersion = PROTOCOL_VERSIONS.includes(asked) ? asked : PROTOCOL_VERSIONS[0]!;
      session.capabilities = isObject(params["capabilities"]) ? (params["capabilities"] as JsonObject) : {};
      session.offersTasks = session.protocolVersion >= "2025-11-25" && (tasks.has(principal) || seesTaskTools(session));
      sessions.add(session);
      if (!shown.has(principal.client)) shown.set(principal.client, signatures(session));
      return { session, result: initializeResult(options, session) };
    },
    async end(session) {
      if (!sessions.delete(session)) return;
      session.close();
      const { client } = session.principal;
      if (![...sessions].some((other) => other.principal.client === client)) shown.delete(client);
      await Promise.allSettled([...session.subscriptions].map((uri) => unsubscribe(session, uri)));
      const left = [...session.conversations].filter(
        (name) => ![...sessions].some((other) => other.principal.client === client && other.conversations.has(name)),
      );
      await endConversations(kit, session, left);
    },
    refresh() {
      timer ??= setTimeout(tellChanges, options.debounceMs ?? 50);
    },
    follow(principals) {
      tasks.retain(principals);
      gateway.refresh();
    },
    async close() {
      clearTimeout(timer);
      for (const stop of stops) stop();
      await Promise.all([tasks.close(), ...[...sessions].map((session) => gateway.end(session))]);
    },
  };
  const stops = [
    kit.on("catalog", () => gateway.refresh()),
    kit.on("resource", (_app, uri) => {
      for (const session of sessions) if (session.subscriptions.has(uri)) session.notify("notifications/resources/updated", { uri });
    }),
    kit.on("notification", (...said) => passWords({ kit, sessions, tasks }, ...said)),
  ];
  return gateway;
}

function initializeResult({ kit, info }: GatewayOptions, session: GatewaySession): JsonObject {
  const instructions = (kit.instructions?.(session.principal.client) ?? []).map(({ app, text }) => `## ${app}\n${text}`).join("\n\n");
  return {
    protocolVersion: session.protocolVersion,
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true, ...(kit.subscribeResource ? { subscribe: true } : {}) },
      prompts: { listChanged: true },
      logging: {},
      ...(kit.complete ? { completions: {} } : {}),
      ...(session.offersTasks ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : {}),
    },
    serverInfo: { name: info.name, version: info.version },
    ...(instructions === "" ? {} : { instructions }),
  };
}

/**
 * Refuses what still waits for a person in the session's own conversation, and lets the kit close what was theirs alone. Approvals
 * of a conversation that the client named itself stay: it may come back to it in a new session.
 */
async function endConversations(kit: Kit, session: GatewaySession, conversations: readonly string[]): Promise<void> {
  const { client } = session.principal;
  const over = kit.listApprovals().filter((row) => row.client === client && row.session === session.id);
  // One that is decided at this very moment stays as it was decided.
  await Promise.allSettled(over.map((row) => kit.decideApproval(row.id, "deny", "gateway", "the MCP session ended")));
  await Promise.allSettled(conversations.map((name) => kit.endSession?.(name, client)));
}
