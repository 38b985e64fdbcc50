import { setTimeout as sleep } from "node:timers/promises";
import { KitError, messageOf } from "../base/errors.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { ApprovalRow, AppStatus, CallResult, ExportFormat, Explanation, Kit, KitStatus, LockEntry, ReloadResult, ToolRow } from "../kit-api.ts";
import { ControlError, errorOf, openHttpLink, readText, type HttpLink, type RequestInput } from "./client-http.ts";
import type { RunningHost } from "./run-file.ts";
import { readToken, tokenFiles } from "./tokens.ts";

/** A tool call's result as the API gives it (contracts 10, `call --json`). */
export interface CallJson {
  readonly outcome: CallResult["outcome"];
  readonly ok: boolean;
  readonly result: JsonObject | null;
  readonly error: CallResult["error"];
  readonly duration_ms: number;
  readonly call_id: string;
  readonly tool: CallResult["tool"];
  readonly risk: CallResult["risk"];
  readonly notes: readonly string[];
}

export interface CallInput {
  readonly session?: string;
  readonly turn?: string;
  readonly approvalId?: string;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export interface ServerSentEvent {
  readonly event: string;
  readonly data: Json;
}

export type EventFilter = { readonly type?: readonly string[]; readonly app?: readonly string[]; readonly session?: string; readonly state?: boolean };

/** The running host of a workspace, seen through its HTTP door. Methods throw {@link KitError} and {@link ControlError}. */
export interface ControlClient {
  readonly host: RunningHost & { readonly url: string };
  status(): Promise<KitStatus>;
  apps(): Promise<AppStatus[]>;
  restartApp(app: string): Promise<AppStatus>;
  appLog(app: string, tail?: number): Promise<string[]>;
  /** Old lines, then new ones until the signal. */
  followLog(app: string, onLine: (line: string) => void, options: { readonly tail?: number; readonly signal: AbortSignal }): Promise<void>;
  toolRows(): Promise<ToolRow[]>;
  tools(
    format: ExportFormat,
    options?: { readonly maxName?: number; readonly maxTools?: number; readonly mode?: "all" | "search" },
  ): Promise<{ readonly text: string; readonly etag: string }>;
  /** Calls with the caller's token, so the one who asks is never the one who approves. */
  call(tool: string, args: Json, input?: CallInput): Promise<CallJson>;
  executeToolCalls(calls: readonly JsonObject[], input?: CallInput): Promise<JsonObject[]>;
  endTurn(session: string, turn: string): Promise<void>;
  explain(tool: string, options?: { readonly args?: JsonObject; readonly session?: string; readonly client?: string }): Promise<Explanation>;
  resources(): Promise<{ readonly resources: ReturnType<Kit["listResources"]>; readonly templates: ReturnType<Kit["listTemplates"]> }>;
  readResource(uri: string, input?: CallInput & { readonly app?: string }): Promise<JsonObject>;
  prompts(): Promise<ReturnType<Kit["listPrompts"]>>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, input?: CallInput): Promise<JsonObject>;
  approvals(all?: boolean): Promise<ApprovalRow[]>;
  decideApproval: Kit["decideApproval"];
  sessions(): Promise<ReturnType<Kit["listSessions"]>>;
  clearSession(client: string, session: string): Promise<boolean>;
  reload(): Promise<ReloadResult>;
  apply(): Promise<ReloadResult>;
  plan(): Promise<ReloadResult & { readonly report: JsonObject }>;
  lockDiff(): Promise<LockEntry[]>;
  lockAccept(selection?: Parameters<Kit["lockAccept"]>[0]): Promise<LockEntry[]>;
  /** Envelopes and, when asked for, changes of the host, until the signal; reconnects when the stream breaks. `onGap` is told, for events may have been missed. */
  events(
    onEvent: (event: ServerSentEvent) => void,
    options: EventFilter & { readonly signal: AbortSignal; readonly onGap?: (why: string) => void },
  ): Promise<void>;
  metrics(): Promise<string>;
  close(): void;
}

/** Connects to a running host. Null while its door is not open; throws when its tokens cannot be read. */
export async function connectToHost(host: RunningHost): Promise<ControlClient | null> {
  if (host.url === null) return null;
  const files = tokenFiles(host.data_dir);
  const [caller, operator] = await Promise.all([readToken(files.caller), readToken(files.operator)]);
  return createControlClient({ ...host, url: host.url }, { caller, operator });
}

/** A client for a known address and tokens. */
export function createControlClient(host: ControlClient["host"], tokens: { readonly caller: string; readonly operator: string }): ControlClient {
  const link = openHttpLink(host.url, host.tls_cert);
  const get = async <T>(path: string): Promise<T> => (await link.json({ method: "GET", path, token: tokens.operator })).value as T;
  const post = async <T>(path: string, body: JsonObject): Promise<T> => (await link.json({ method: "POST", path, token: tokens.operator, body })).value as T;
  const ask = async <T>(path: string, body: JsonObject, signal?: AbortSignal): Promise<T> =>
    (await link.json({ method: "POST", path, token: tokens.caller, body, ...(signal ? { signal } : {}) })).value as T;
  const segment = encodeURIComponent;

  return {
    host,
    status: () => get("/api/status"),
    apps: () => get("/api/apps"),
    restartApp: (app) => post(`/api/apps/${segment(app)}/restart`, {}),
    appLog: async (app, tail) => (await get<{ lines: string[] }>(`/api/apps/${segment(app)}/logs${query({ tail })}`)).lines,
    followLog: (app, onLine, { tail, signal }) =>
      readEvents(
        link,
        { method: "GET", path: `/api/apps/${segment(app)}/logs${query({ follow: "true", tail })}`, token: tokens.operator, signal },
        ({ data }) => {
          if (isObject(data) && typeof data["line"] === "string") onLine(data["line"]);
        },
      ),
    toolRows: () => get("/api/catalog"),
    async tools(format, options = {}) {
      const { text, headers } = await link.json({
        method: "GET",
        path: `/api/tools${query({ format, max_name: options.maxName, max_tools: options.maxTools, mode: options.mode })}`,
        token: tokens.operator,
      });
      return { text, etag: headers.etag ?? "" };
    },
    call: (tool, args, input = {}) => ask("/api/call", { tool, arguments: args, ...contextOf(input) }, input.signal),
    executeToolCalls: async (calls, input = {}) =>
      (await ask<{ messages: JsonObject[] }>("/api/tool-calls", { tool_calls: [...calls], ...contextOf(input) }, input.signal)).messages,
    endTurn: async (session, turn) => void (await ask("/api/end-turn", { session, turn })),
    explain: (tool, options = {}) =>
      get(
        `/api/explain${query({ tool, args: options.args === undefined ? undefined : JSON.stringify(options.args), session: options.session, client: options.client })}`,
      ),
    resources: () => get("/api/resources"),
    readResource: async (uri, input = {}) =>
      (
        await ask<{ result: JsonObject }>(
          "/api/resources/read",
          { uri, ...(input.app === undefined ? {} : { app: input.app }), ...contextOf(input) },
          input.signal,
        )
      ).result,
    prompts: () => get("/api/prompts"),
    getPrompt: async (name, args, input = {}) =>
      (await ask<{ result: JsonObject }>("/api/prompts/get", { name, arguments: { ...args }, ...contextOf(input) }, input.signal)).result,
    approvals: (all = false) => get(`/api/approvals${query({ all: all ? "true" : undefined })}`),
    decideApproval: (id, decision, by, reason, answer) =>
      post(`/api/approvals/${segment(id)}/${decision}`, { by, ...(reason === undefined ? {} : { reason }), ...(answer === undefined ? {} : { answer }) }),
    sessions: () => get("/api/sessions"),
    clearSession: async (client, session) => (await post<{ cleared: boolean }>("/api/sessions/clear", { client, session })).cleared,
    reload: () => post("/api/reload", {}),
    apply: () => post("/api/apply", {}),
    plan: () => get("/api/plan"),
    lockDiff: () => get("/api/lock"),
    lockAccept: (selection) => post("/api/lock/accept", selection === undefined ? {} : { select: selection as unknown as JsonObject[] }),
    async events(onEvent, { type = [], app = [], session, state, signal, onGap }) {
      const parameters = new URLSearchParams([...type.map((t) => ["type", t]), ...app.map((a) => ["app", a])] as [string, string][]);
      if (session !== undefined) parameters.set("session", session);
      if (state) parameters.set("state", "true");
      const input = { method: "GET" as const, path: `/api/events?${parameters.toString()}`, token: tokens.operator, signal };
      for (let wait = 250; !signal.aborted; wait = Math.min(wait * 2, 5000)) {
        try {
          await readEvents(link, input, (event) => {
            wait = 250;
            onEvent(event);
          });
          if (!signal.aborted) onGap?.("the host closed the stream");
        } catch (error) {
          // A refusal stays a refusal; only a broken connection is tried again.
          if (error instanceof ControlError) throw error;
          onGap?.(messageOf(error));
        }
        await sleep(wait, undefined, { signal }).catch(() => undefined);
      }
    },
    metrics: async () => (await link.json({ method: "GET", path: "/metrics", token: tokens.operator })).text,
    close: () => link.close(),
  };
}

function contextOf(input: CallInput): JsonObject {
  return {
    ...(input.session === undefined ? {} : { session: input.session }),
    ...(input.turn === undefined ? {} : { turn: input.turn }),
    ...(input.approvalId === undefined ? {} : { approval_id: input.approvalId }),
    ...(input.waitMs === undefined ? {} : { wait_ms: input.waitMs }),
  };
}

function query(values: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** Reads one event stream to its end. Resolves when the server or the signal ends it; throws when it cannot be opened or breaks. */
async function readEvents(link: HttpLink, input: RequestInput & { readonly signal: AbortSignal }, onEvent: (event: ServerSentEvent) => void): Promise<void> {
  let res;
  try {
    res = await link.open({ ...input, headers: { Accept: "text/event-stream" } });
    if (res.statusCode !== 200) {
      const text = await readText(res);
      throw errorOf(res.statusCode ?? 0, JSON.parse(text || "null") as Json);
    }
    res.setEncoding("utf8");
    let rest = "";
    for await (const chunk of res) {
      const blocks = (rest + String(chunk)).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) emit(block, onEvent);
    }
  } catch (error) {
    if (input.signal.aborted) return;
    throw error instanceof KitError || error instanceof ControlError
      ? error
      : new KitError("APP_UNAVAILABLE", `the event stream broke: ${messageOf(error)}`, { cause: error });
  }
}

function emit(block: string, onEvent: (event: ServerSentEvent) => void): void {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) event = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  if (data.length > 0) onEvent({ event, data: JSON.parse(data.join("\n")) as Json });
}
