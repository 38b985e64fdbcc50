import { NO_CHANGES } from "./changes.ts";
import { randomUUID } from "node:crypto";
import { ConflictError, KitError, type ErrorCode } from "../../src/base/errors.ts";
import { compileSchema } from "../../src/base/json-schema.ts";
import { digest, isObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { exportTools } from "../../src/llm/export.ts";
import { nearest } from "../../src/base/text.ts";
import type {
  ApprovalRow,
  AppStatus,
  CallOptions,
  CallResult,
  Kit,
  KitEvents,
  KitStatus,
  Logger,
  ReadResult,
  ReloadResult,
  ToolRow,
} from "../../src/kit-api.ts";
import type { Catalog, Risk, Tool, ToolState } from "../../src/tools/types.ts";

/** A tool of a fake app; `run` gives an MCP result, or throws a KitError. */
export interface FakeTool {
  readonly name: string;
  readonly definition?: JsonObject;
  readonly risk?: Risk;
  readonly state?: ToolState;
  readonly run?: (args: JsonObject, options: CallOptions) => Promise<JsonObject> | JsonObject;
}

export interface FakeApp {
  readonly package: string;
  readonly tools?: readonly FakeTool[];
  readonly resources?: Readonly<Record<string, string>>;
  readonly templates?: readonly JsonObject[];
  readonly prompts?: readonly (JsonObject & { name: string })[];
}

/** A Kit in memory: a real catalogue, real argument checks and approvals, no processes. Tests change it and hear its events. */
export interface FakeKit extends Kit {
  /** Replaces the apps and fires `catalog`, as a reload does. */
  setApps(apps: readonly FakeApp[]): void;
  emit<E extends keyof KitEvents>(event: E, ...args: Parameters<KitEvents[E]>): void;
  /** Options of every call that reached a tool. */
  readonly calls: { readonly name: string; readonly args: Json; readonly options: CallOptions }[];
  readonly endedTurns: string[];
  readonly endedSessions: string[];
  readonly subscriptions: string[];
  state: KitStatus["state"];
  log(app: string, line: string): void;
}

export function createFakeKit(initial: readonly FakeApp[]): FakeKit {
  let apps = initial;
  let catalog = buildCatalog(apps);
  const handlers = new Map<string, Set<(...args: never[]) => void>>();
  const approvals = new Map<string, { row: ApprovalRow; key: string; waiters: (() => void)[] }>();
  const logs = new Map<string, string[]>();
  const logHandlers = new Map<string, Set<(line: string) => void>>();
  const marks: { client: string; session: string; source: string; since: string; expires_at: string }[] = [
    { client: "caller", session: "s1", source: "org.web/fetch", since: "2026-01-01T00:00:00Z", expires_at: "2026-01-02T00:00:00Z" },
  ];
  let revision = 1;

  const emit: FakeKit["emit"] = (event, ...args) => {
    for (const handler of handlers.get(event) ?? []) (handler as unknown as (...a: unknown[]) => void)(...args);
  };
  const appStatus = (app: FakeApp): AppStatus => ({
    package: app.package,
    name: app.package,
    state: "ready",
    pid: null,
    transport: "stdio",
    protocol: "2025-11-25",
    version: "1",
    tools: app.tools?.length ?? 0,
    restarts: 0,
    next_attempt: null,
    reason: null,
    source: "topology.yaml",
    calls: 0,
    sessions: null,
    dropped: [],
    warnings: [],
    findings: [],
  });
  const reloadResult = (result: ReloadResult["result"]): ReloadResult => ({ result, revision, changes: NO_CHANGES, errors: [], warnings: [], text: "" });

  const approve = async (tool: Tool, args: JsonObject, options: CallOptions): Promise<void> => {
    const key = JSON.stringify([tool.full, args, options.client, options.session]);
    if (options.approvalId !== undefined) {
      const given = approvals.get(options.approvalId);
      if (!given || given.key !== key || given.row.state !== "approved") throw new KitError("APPROVAL_EXPIRED", "no such approval for this call");
      given.row = { ...given.row, state: "used" };
      return;
    }
    const id = `ap_${randomUUID()}`;
    const row: ApprovalRow = {
      id,
      tool: tool.full,
      app: tool.app,
      arguments: args,
      client: options.client ?? "library",
      session: options.session ?? "default",
      risk: tool.risk,
      reason: "risk high",
      rule: null,
      created_at: "2026-01-01T00:00:00Z",
      expires_at: "2026-01-01T00:10:00Z",
      state: "pending",
      question: null,
      answer: null,
      decided_by: [],
    };
    const entry = { row, key, waiters: [] as (() => void)[] };
    approvals.set(id, entry);
    emit("approval", row);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, options.waitMs ?? 20);
      entry.waiters.push(() => (clearTimeout(timer), resolve()));
      options.signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()));
    });
    if (entry.row.state === "approved") entry.row = { ...entry.row, state: "used" };
    else if (entry.row.state === "denied") throw new KitError("APPROVAL_DENIED", "a person refused the call");
    else throw new KitError("APPROVAL_REQUIRED", "a person must approve", { details: { approval_id: id } });
  };

  const execute = async (name: string, args: Json, options: CallOptions): Promise<{ tool: Tool; result: JsonObject }> => {
    const { tool } = catalog.find(name);
    if (!tool)
      throw new KitError("TOOL_NOT_FOUND", `no tool ${name}`, {
        details: {
          near: nearest(
            name,
            catalog.tools.map((t) => t.short),
          ),
        },
      });
    if (tool.state === "quarantined") throw new KitError("TOOL_QUARANTINED", "waits for a person");
    if (tool.state === "denied") throw new KitError("POLICY_DENIED", `rule no-shell denies ${tool.full}`);
    const schema = compileSchema(tool.definition["inputSchema"] ?? { type: "object" });
    const issues = schema.ok ? schema.schema.validate(args) : [];
    if (issues.length > 0 || !isObject(args))
      throw new KitError("INVALID_ARGUMENTS", "the arguments do not fit", { details: issues.map((i) => ({ path: i.path.join("."), message: i.message })) });
    if (tool.risk === "high") await approve(tool, args as JsonObject, options);
    kit.calls.push({ name, args, options });
    options.onSent?.(tool);
    const run = apps.find((a) => a.package === tool.app)!.tools!.find((t) => t.name === tool.tool)!.run;
    return { tool, result: run ? await run(args as JsonObject, options) : { content: [{ type: "text", text: JSON.stringify(args) }] } };
  };

  const callTool = async (name: string, args: Json, options: CallOptions = {}): Promise<CallResult> => {
    const base = { callId: randomUUID(), durationMs: 1, notes: [] };
    const known = catalog.find(name).tool;
    const tool = known ? { app: known.app, name: known.tool, full: known.full, short: known.short } : null;
    const done = (result: CallResult): CallResult => {
      emit("call", {
        app: tool?.app ?? null,
        tool: tool?.name ?? null,
        client: options.client ?? "library",
        risk: result.risk,
        decision: "allow",
        outcome: result.outcome,
        errorCode: result.error?.error_code ?? null,
        durationMs: result.durationMs,
        resultTokens: 7,
      });
      return result;
    };
    try {
      const { result } = await execute(name, args, options);
      if (result["isError"] === true)
        return done({
          ...base,
          tool,
          risk: known!.risk,
          outcome: "failed",
          ok: false,
          result,
          error: { ok: false, error_code: "TOOL_FAILED", message: "the tool failed", retryable: false, source: "app" },
        });
      return done({ ...base, tool, risk: known!.risk, outcome: "succeeded", ok: true, result, error: null });
    } catch (error) {
      const known_ =
        error instanceof KitError ? error : options.signal?.aborted ? new KitError("CANCELLED", "given up") : new KitError("INTERNAL", String(error));
      return done({ ...base, tool, risk: known?.risk ?? null, outcome: known_.outcome, ok: false, result: null, error: known_.toBody() });
    }
  };

  const fault = (code: ErrorCode, message: string): ReadResult => ({ ok: false, app: null, result: null, error: new KitError(code, message).toBody() });

  const kit: FakeKit = {
    calls: [],
    endedTurns: [],
    endedSessions: [],
    subscriptions: [],
    state: "running",
    emit,
    setApps(next) {
      apps = next;
      catalog = buildCatalog(apps);
      emit("catalog", catalog);
    },
    log(app, line) {
      (logs.get(app) ?? logs.set(app, []).get(app)!).push(line);
      for (const handler of logHandlers.get(app) ?? []) handler(line);
    },
    start: async () => undefined,
    close: async () => undefined,
    status: () => ({
      name: "test",
      revision,
      state: kit.state,
      pid: process.pid,
      started_at: "2026-01-01T00:00:00Z",
      topology: "/t/topology.yaml",
      apps: apps.map(appStatus),
      gateway: { url: null },
      inbox: { dir: null, written: 3, pending: 1, degraded: null, queued: 0, dropped: 0, duplicates: 0 },
      exports: [],
      config: { state: "applied", errors: [], warnings: [], host_changes: [] },
      tools: {
        exposed: catalog.tools.filter((t) => t.state === "exposed").length,
        quarantined: 0,
        denied: 0,
        unavailable: 0,
        by_risk: { low: 0, medium: 0, high: 0, critical: 0 },
      },
      policy: { loaded: true, rules: 0, warnings: [] },
      approvals: { pending: [...approvals.values()].filter((a) => a.row.state === "pending").length },
    }),
    catalog: () => catalog,
    toolRows: (): ToolRow[] =>
      catalog.tools.map((t) => ({
        name: t.full,
        short_name: t.short,
        app: t.app,
        tool: t.tool,
        title: null,
        description: String(t.definition["description"] ?? ""),
        risk: t.risk,
        risk_source: t.riskSource,
        action: "allow",
        state: t.state,
        reason: null,
        tokens: 10,
      })),
    graph: () => ({
      revision,
      table: { low: "allow", medium: "allow", high: "ask", critical: "deny" },
      rules: [
        {
          id: "no-wipe",
          file: "policies/base.yaml",
          line: 3,
          reason: null,
          action: "ask",
          risk: null,
          rate: null,
          concurrent: null,
          clients: null,
          conditions: [],
          apps: apps.map((a) => ({ app: a.package, tools: a.tools?.length ?? 0 })),
        },
      ],
      signals: [],
    }),
    toolSchemas(full) {
      const tool = catalog.byFull(full);
      if (!tool) throw new KitError("TOOL_NOT_FOUND", `no tool ${full}`);
      const target = { format: "openai" as const, schema: { name: tool.short }, tokens: 10, strict: false, changes: [], reason: null };
      return { tool: full, definition: tool.definition, targets: [target] };
    },
    tools(format, options) {
      const shown = options?.mode === "search" ? [] : catalog.tools.filter((t) => t.state === "exposed");
      const found = options?.mode === "search" ? exportTools([], format, { mode: "search" }).tools : [];
      const tools = [...found, ...shown.map((t) => ({ type: "function", function: { name: t.short, parameters: t.definition["inputSchema"] ?? {} } }))];
      return {
        format,
        tools,
        text: `${JSON.stringify(tools)}\n`,
        etag: catalog.digest,
        names: Object.fromEntries(catalog.tools.filter((t) => t.state === "exposed" || t.state === "unavailable").map((t) => [t.short, t.full])),
        warnings: [],
      };
    },
    callTool,
    executeToolCalls: (calls, options) =>
      Promise.all(
        calls.map(async (call) => {
          const fn = call["function"] as JsonObject;
          const done = await callTool(String(fn["name"]), JSON.parse(String(fn["arguments"])) as Json, options);
          return { role: "tool", tool_call_id: call["id"] ?? null, content: JSON.stringify(done.result ?? done.error) };
        }),
      ),
    endTurn: (session, turn, client) => void kit.endedTurns.push(`${client}/${session}/${turn}`),
    listResources: () => apps.flatMap((a) => Object.keys(a.resources ?? {}).map((uri) => ({ app: a.package, resource: { uri, name: uri } }))),
    listTemplates: () => apps.flatMap((a) => (a.templates ?? []).map((template) => ({ app: a.package, template }))),
    listPrompts: () =>
      apps.flatMap((a) =>
        (a.prompts ?? []).map((prompt) => ({ app: a.package, name: prompt.name, short: `${a.package.split(".").at(-1)}_${prompt.name}`, prompt })),
      ),
    async readResource(uri, options = {}) {
      const app = apps.find((a) => a.resources && Object.hasOwn(a.resources, uri));
      if (!app) return fault("RESOURCE_NOT_FOUND", `no app shows ${uri}`);
      kit.calls.push({ name: uri, args: null, options });
      return { ok: true, app: app.package, result: { contents: [{ uri, text: app.resources![uri]! }] }, error: null };
    },
    async getPrompt(name, args, options = {}) {
      const found = kit.listPrompts().find((p) => p.short === name || `${p.app}.${p.name}` === name);
      if (!found) return fault("PROMPT_NOT_FOUND", `no prompt ${name}`);
      kit.calls.push({ name, args: { ...args }, options });
      return {
        ok: true,
        app: found.app,
        result: { messages: [{ role: "user", content: { type: "text", text: `${found.name} ${JSON.stringify(args)}` } }] },
        error: null,
      };
    },
    explain(name) {
      const { tool } = catalog.find(name);
      if (!tool) throw new KitError("TOOL_NOT_FOUND", `no tool ${name}`);
      return {
        tool: tool.full,
        app: tool.app,
        short_name: tool.short,
        state: tool.state,
        risk: tool.risk,
        risk_source: tool.riskSource,
        decision: "allow",
        rule: null,
        file: null,
        line: null,
        reason: "",
        audit: "summary",
        limits: [],
        pin: { current: tool.pin, accepted: null, state: "new" },
        marks: [],
        timeout_ms: 30_000,
        warnings: [],
      };
    },
    listApprovals: (options = {}) => [...approvals.values()].map((a) => a.row).filter((row) => options.all || row.state === "pending"),
    async decideApproval(id, decision, by) {
      const entry = approvals.get(id);
      if (!entry || entry.row.state !== "pending") throw new KitError("APPROVAL_EXPIRED", `approval ${id} is not open`);
      entry.row = { ...entry.row, state: decision === "approve" ? "approved" : "denied", decided_by: [by] };
      for (const wake of entry.waiters) wake();
      emit("approval", entry.row);
      return entry.row;
    },
    listSessions: () => marks,
    async clearSession(client, session) {
      const at = marks.findIndex((m) => m.client === client && m.session === session);
      if (at >= 0) marks.splice(at, 1);
      return at >= 0;
    },
    async restartApp(name) {
      const status = appStatus(apps.find((a) => a.package === name)!);
      emit("app", status);
      return { ...status, restarts: 1 };
    },
    appLog: (app) => logs.get(app) ?? [],
    onAppLog(app, handler) {
      const set = logHandlers.get(app) ?? logHandlers.set(app, new Set()).get(app)!;
      set.add(handler);
      return () => set.delete(handler);
    },
    async reload(options = {}) {
      revision += 1;
      const result = reloadResult(options.apply ? "applied" : "unchanged");
      emit("reload", result);
      return result;
    },
    plan: async () => ({ ...reloadResult("unchanged"), report: { changes: 0 } }),
    lockDiff: () => [{ app: "a", kind: "tool", name: "t", state: "new", pin: "sha256:1", accepted: null, diff: [], findings: [], quarantined: true }],
    lockAccept: async (selection) =>
      (selection ?? ["a"]).map((chosen) => {
        if (typeof chosen !== "string" && chosen.pin !== "sha256:1") throw new ConflictError("a/t is not what was shown any more");
        const app = typeof chosen === "string" ? chosen : chosen.app;
        return { app, kind: "tool", name: "t", state: "accepted", pin: "sha256:1", accepted: "sha256:1", diff: [], findings: [], quarantined: false };
      }),
    on(event, handler) {
      const set = handlers.get(event) ?? handlers.set(event, new Set()).get(event)!;
      set.add(handler as never);
      return () => set.delete(handler as never);
    },
    complete: async (ref, argument) => ({
      ok: true,
      app: null,
      result: { completion: { values: [`${String(ref["name"] ?? ref["uri"])}:${argument.value}!`], total: 1, hasMore: false } },
      error: null,
    }),
    subscribeResource: async (uri) => {
      if (!apps.some((a) => a.resources && Object.hasOwn(a.resources, uri))) throw new KitError("RESOURCE_NOT_FOUND", `no app shows ${uri}`);
      kit.subscriptions.push(uri);
    },
    unsubscribeResource: async (uri) => void kit.subscriptions.splice(kit.subscriptions.indexOf(uri), 1),
    setGatewayUrl: () => undefined,
    instructions: () => [],
    endSession: async (session, client) => void kit.endedSessions.push(`${client}/${session}`),
  };
  return kit;
}

function buildCatalog(apps: readonly FakeApp[]): Catalog {
  const tools: Tool[] = apps
    .flatMap((app) =>
      (app.tools ?? []).map((t): Tool => {
        const definition = { name: t.name, description: `Tool ${t.name}`, inputSchema: { type: "object" }, ...t.definition } as Tool["definition"];
        const full = `${app.package}.${t.name}`;
        return {
          app: app.package,
          tool: t.name,
          wireName: t.name,
          full,
          short: `${app.package.split(".").at(-1)}_${t.name}`,
          definition,
          pin: digest(definition, "pin"),
          trust: "high",
          risk: t.risk ?? "low",
          riskSource: "default for trust high",
          listed: t.state !== "quarantined" && t.state !== "denied" && t.state !== "excluded",
          state: t.state ?? "exposed",
          reason: null,
        };
      }),
    )
    .sort((a, b) => (a.full < b.full ? -1 : 1));
  const full = new Map(tools.map((t) => [t.full, t]));
  const short = new Map(tools.map((t) => [t.short, t]));
  return {
    tools,
    digest: digest(
      tools.filter((t) => t.state === "exposed").map((t) => [t.full, t.pin]),
      "catalog",
    ),
    byFull: (name) => full.get(name),
    byShort: (name) => short.get(name),
    byOwn: (app, tool) => full.get(`${app}.${tool}`),
    find(name) {
      const own = tools.filter((t) => t.tool === name);
      const tool = full.get(name) ?? short.get(name) ?? (own.length === 1 ? own[0] : undefined);
      return { tool, ambiguous: tool ? [] : own };
    },
  };
}

/** A log that keeps its lines. */
export function memoryLog(): { readonly lines: string[] } & Logger {
  const lines: string[] = [];
  const write = (level: string) => (fields: object, message: string) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { lines, debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error"), child: () => log };
  return log;
}
