import { createMasker } from "./base/masking.ts";
import { within } from "./base/within.ts";
import { KitError, messageOf } from "./base/errors.ts";
import type { Json, JsonObject } from "./base/json.ts";
import { hear, perform } from "./calls/execute.ts";
import type { ApprovalRow, AppStatus, CallOptions, CallResult, Kit, KitEvents, KitStatus, Logger, ReadResult, ReloadResult } from "./kit-api.ts";
import { awaitOwner } from "./kit/await-owner.ts";
import { Emitter } from "./kit/emitter.ts";
import { explainTool, toolRowsOf } from "./kit/explain.ts";
import { createExportFiles, type ExportFiles } from "./kit/export-files.ts";
import { exportedOrder } from "./llm/export-order.ts";
import { exportSnapshot, tokensOf, visibleTools } from "./kit/export-tools.ts";
import { wantedTool } from "./kit/operations.ts";
import { openParts, type Parts } from "./kit/parts.ts";
import { describePlan } from "./kit/plan-report.ts";
import { createOperator, type Operator } from "./kit/operator.ts";
import { createReads, type Reads } from "./kit/reads.ts";
import { createReloader, type Reloader } from "./kit/reloader.ts";
import { hostGraph } from "./kit/host-graph.ts";
import { createReloadTeller, type ReloadTeller } from "./kit/reload-teller.ts";
import { callResult, operationOptions } from "./kit/results.ts";
import { maskedLogger } from "./kit/masked-logger.ts";
import { silentLogger } from "./kit/silent-logger.ts";
import { appStatus, statusOf } from "./kit/status.ts";
import { createUnusedLog } from "./kit/unused-log.ts";
import { toolSchemas } from "./kit/tool-schemas.ts";
import { runToolCalls } from "./kit/tool-calls.ts";
import { followWorkspace, type WorkspaceFollower } from "./kit/follow-workspace.ts";
import { diffPlans } from "./plan/diff.ts";
import type { Plan } from "./plan/types.ts";
import type { Snapshot } from "./runtime/snapshot.ts";
import { taskSupport } from "./tools/task-support.ts";
import type { Tool } from "./tools/types.ts";

export { ConfigError } from "./kit/config-error.ts";

/** How a kit is made. */
export interface KitOptions {
  /** Path of topology.yaml. */
  readonly topology: string;
  /** Environment for `${NAME}` and for the children's safe basics; default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  readonly log?: Logger;
  /** Whether edits of the files are watched and applied as the topology's `reload` says; default true. */
  readonly watch?: boolean;
}

/** Longest wait for the disk while the kit stops, in milliseconds. */
const DISK_WAIT = 3000;

/** Makes a host for one topology. Nothing is read or started before `start()`. */
export function createKit(options: KitOptions): Kit {
  return new HostedKit(options);
}

/** The composition root: the only place that knows everyone. */
class HostedKit implements Kit {
  readonly #options: KitOptions;
  readonly #log: Logger;
  readonly #masker = createMasker();
  readonly #events: Emitter<KitEvents>;
  readonly #reloader: Reloader;
  readonly #teller: ReloadTeller;
  readonly #tellUnused: ReturnType<typeof createUnusedLog>;
  readonly #exports: ExportFiles;
  readonly #startedAt = new Date();
  #parts: (Parts & { readonly reads: Reads; readonly operator: Operator }) | null = null;
  #follower: WorkspaceFollower | null = null;
  #state: KitStatus["state"] = "starting";
  #gatewayUrl: string | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: KitOptions) {
    this.#options = options;
    this.#log = maskedLogger(options.log ?? silentLogger, this.#masker);
    this.#events = new Emitter<KitEvents>((error) => this.#log.error({ error: messageOf(error) }, "a listener failed"));
    this.#exports = createExportFiles(this.#log, (file, text) => this.#follower?.ignoreOwnWrite(file, text));
    this.#teller = createReloadTeller(this.#log, (signal) => void this.#running().ingest.emit(signal));
    this.#tellUnused = createUnusedLog(this.#log);
    this.#reloader = createReloader(options.topology, options.env ?? process.env, this.#masker, () => ({
      apply: (plan, changes, revision) => this.#apply(plan, changes, revision),
      adopt: (plan) => this.#running().runtime.adopt(plan),
      onResult: (result, reading) => {
        this.#follower?.update(reading);
        this.#teller.tell(result, this.#snapshot().plan.name);
        this.#tellUnused(reading);
        this.#events.emit("reload", result);
      },
    }));
  }

  async start(): Promise<void> {
    if (this.#parts) throw new Error("the kit has been started already");
    const { plan, reading, text } = await this.#reloader.first();
    const parts = await openParts({
      plan,
      env: this.#options.env ?? process.env,
      masker: this.#masker,
      log: this.#log,
      events: this.#events,
      onCatalog: () => this.#writeExports(),
    });
    this.#parts = { ...parts, reads: createReads(parts), operator: createOperator(parts, this.#masker) };
    const reaped = await parts.connector.reapOrphans();
    if (reaped > 0) this.#log.warn({ processes: reaped }, "ended processes that an earlier host left behind");
    await this.#reloadPins(parts);
    parts.runtime.apply(plan, diffPlans(null, plan), this.#reloader.revision());
    this.#state = "running";
    if (!reading.unitOk) this.#teller.tellDenied(text, plan.name);
    this.#tellUnused(reading);
    if (this.#options.watch ?? true) {
      const beside = async (): Promise<void> => this.#tellUnused(await this.#reloader.lookBeside());
      this.#follower = followWorkspace(plan, reading, { reload: () => this.reload(), beside, held: () => this.#events.emit("edited") }, this.#log);
    }
  }

  close(options: { readonly force?: boolean; readonly graceMs?: number } = {}): Promise<void> {
    if (options.force) this.#parts?.connector.killAll();
    this.#closing ??= this.#close(options.graceMs ?? 0);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    this.#state = "stopping";
    await this.#follower?.close();
    const parts = this.#parts;
    if (parts) {
      parts.stop();
      await this.#reloader.settled();
      await parts.runtime.stop(graceMs);
      parts.calls.journal.flush();
      // Files that cannot be written now must not hold up the stop; what the inbox still has in memory it tries once more as it closes.
      await within(parts.ingest.settled(), DISK_WAIT);
      await this.#exports.settled();
      await within(parts.pins.settled(), DISK_WAIT);
      await parts.inboxes.close();
      await parts.stores.close();
    }
    this.#state = "stopped";
  }

  setGatewayUrl(url: string | null): void {
    this.#gatewayUrl = url;
  }

  status(): KitStatus {
    const parts = this.#running();
    // Whoever asks after a call sees it counted.
    parts.calls.journal.flush();
    return statusOf(parts.runtime.look(), {
      state: this.#state,
      startedAt: this.#startedAt,
      gatewayUrl: this.#gatewayUrl,
      inbox: parts.inboxes.stats(),
      exports: this.#exports.state(),
      config: this.#reloader.state(),
      pendingApprovals: parts.stores.approvals.list().length,
      policyWarnings: parts.policyWarnings.list(),
      findings: parts.pins.findings,
    });
  }

  catalog(): Snapshot["catalog"] {
    return this.#snapshot().catalog;
  }

  visibleTools(client: string): readonly Tool[] {
    return visibleTools(this.#snapshot(), client);
  }

  toolRows(): ReturnType<Kit["toolRows"]> {
    const snapshot = this.#snapshot();
    return toolRowsOf(snapshot, (tool) => tokensOf(tool, snapshot));
  }

  graph(): ReturnType<Kit["graph"]> {
    return hostGraph(this.#snapshot());
  }

  toolSchemas(full: string): ReturnType<Kit["toolSchemas"]> {
    return toolSchemas(this.#snapshot(), full);
  }

  tools(format: Parameters<Kit["tools"]>[0], options: Parameters<Kit["tools"]>[1] = {}): ReturnType<Kit["tools"]> {
    const { client, ...rest } = options;
    return exportSnapshot(this.#snapshot(), format, client, rest);
  }

  async callTool(name: string, args: Json, options: CallOptions = {}): Promise<CallResult> {
    const { runtime } = this.#running();
    if (this.#snapshot().catalog.find(name).tool === undefined) await awaitOwner(runtime, name, options.signal);
    return callResult(await perform(this.#running().calls, wantedTool(name, args, options.client ?? "library"), operationOptions(options)), this.#snapshot());
  }

  executeToolCalls(calls: readonly JsonObject[], options: CallOptions = {}): Promise<JsonObject[]> {
    const parts = this.#running();
    return runToolCalls(calls, options, {
      snapshot: () => parts.runtime.snapshot,
      call: (wanted) => perform(parts.calls, wanted, { ...operationOptions(options), messageBytes: parts.runtime.snapshot.plan.limits.messageBytes }),
    });
  }

  endTurn(session: string, turn: string, client = "library"): void {
    this.#running().calls.turns.end(client, session, turn);
  }

  listResources(client?: string): ReturnType<Kit["listResources"]> {
    return this.#running().reads.listResources(client);
  }

  listTemplates(client?: string): ReturnType<Kit["listTemplates"]> {
    return this.#running().reads.listTemplates(client);
  }

  listPrompts(client?: string): ReturnType<Kit["listPrompts"]> {
    return this.#running().reads.listPrompts(client);
  }

  instructions(): { readonly app: string; readonly text: string }[] {
    return this.#running().reads.instructions();
  }

  readResource(uri: string, options: CallOptions & { readonly app?: string } = {}): Promise<ReadResult> {
    return this.#running().reads.readResource(uri, options);
  }

  getPrompt(name: string, args: Readonly<Record<string, string>>, options: CallOptions = {}): Promise<ReadResult> {
    return this.#running().reads.getPrompt(name, args, options);
  }

  complete(ref: JsonObject, argument: { readonly name: string; readonly value: string }, context: JsonObject, options: CallOptions = {}): Promise<ReadResult> {
    return this.#running().reads.complete(ref, argument, context, options);
  }

  async subscribeResource(uri: string, options: CallOptions = {}): Promise<void> {
    return this.#running().reads.subscribe(uri, options);
  }

  unsubscribeResource(uri: string): Promise<void> {
    return this.#running().reads.unsubscribe(uri);
  }

  taskSupport(tool: Tool): ReturnType<NonNullable<Kit["taskSupport"]>> {
    return taskSupport(tool.definition, this.#snapshot().apps.get(tool.app)?.lastListing?.capabilities);
  }

  heard({ app, tool, trust }: Pick<Tool, "app" | "tool" | "trust">, options: CallOptions = {}): Promise<void> {
    return hear(this.#running().calls.sessions, this.#snapshot().plan.policy.flow, { app, name: tool, trust }, operationOptions(options));
  }

  async endSession(session: string, client: string): Promise<void> {
    this.#running().runtime.endSession(JSON.stringify([client, session]));
  }

  explain(name: string, options: Parameters<Kit["explain"]>[1] = {}): ReturnType<Kit["explain"]> {
    const { pins, stores } = this.#running();
    return explainTool(this.#snapshot(), name, options, pins, stores.sessions);
  }

  listApprovals(options: { readonly all?: boolean } = {}): ApprovalRow[] {
    return this.#running().operator.listApprovals(options);
  }

  decideApproval(...decision: Parameters<Kit["decideApproval"]>): Promise<ApprovalRow> {
    return this.#running().operator.decideApproval(...decision);
  }

  listSessions(): ReturnType<Kit["listSessions"]> {
    return this.#running().operator.listSessions();
  }

  clearSession(client: string, session: string): Promise<boolean> {
    return this.#running().operator.clearSession(client, session);
  }

  async restartApp(app: string): Promise<AppStatus> {
    const { runtime, pins } = this.#running();
    const runner = runtime.runner(app);
    if (!runner) throw new KitError("APP_UNAVAILABLE", `no app ${app} is running; see \`aurora-mcp apps list\``);
    await runner.restart();
    return appStatus(runtime.snapshot.apps.get(app)!, runtime.snapshot, pins.findings(app));
  }

  appLog(app: string): readonly string[] {
    return this.#running().appLog(app).lines;
  }

  onAppLog(app: string, handler: (line: string) => void): () => void {
    return this.#running().appLog(app).follow(handler);
  }

  async reload(options: { readonly apply?: boolean } = {}): Promise<ReloadResult> {
    await this.#reloadPins(this.#running());
    return this.#reloader.reload(options.apply ?? false);
  }

  async plan(): Promise<ReloadResult & { readonly report: JsonObject }> {
    const { result, reading } = await this.#reloader.preview();
    return { ...result, report: describePlan(this.#running().runtime.look(), reading.next, result) };
  }

  lockDiff(): ReturnType<Kit["lockDiff"]> {
    return this.#running().operator.lockDiff();
  }

  lockAccept(selection?: Parameters<Kit["lockAccept"]>[0]): ReturnType<Kit["lockAccept"]> {
    return this.#running().operator.lockAccept(selection);
  }

  on<E extends keyof KitEvents>(event: E, handler: KitEvents[E]): () => void {
    return this.#events.on(event, handler);
  }

  async #apply(plan: Plan, changes: Parameters<Parts["runtime"]["apply"]>[1], revision: number): Promise<void> {
    const parts = this.#running();
    const before = parts.runtime.snapshot.plan;
    parts.stores.audit.configure({ arguments: plan.audit.arguments });
    parts.pins.follow(plan.apps);
    parts.runtime.apply(plan, changes, revision);
    for (const app of changes.live)
      void parts.serverSettings.changed(before.apps.get(app)!, plan.apps.get(app)!, parts.runtime.runner(app)?.connection ?? null);
    await parts.inboxes.configure(plan);
    if (changes.settings) await this.#reloadPins(parts);
  }

  /** Reads tools.lock.json again; a broken one keeps the last good acceptances and is told. */
  async #reloadPins(parts: Parts): Promise<void> {
    try {
      await parts.pins.reload();
      parts.runtime.refresh();
    } catch (error) {
      this.#log.error({ error: messageOf(error) }, "tools.lock.json cannot be used; the last good one stays");
    }
  }

  #writeExports(): void {
    const snapshot = this.#snapshot();
    void this.#exports.update(snapshot.plan.exports, (entry, earlier) =>
      exportSnapshot(snapshot, entry.format, undefined, {
        ...(entry.max_name === undefined ? {} : { maxName: entry.max_name }),
        ...(entry.max_tools === undefined ? {} : { maxTools: entry.max_tools }),
        ...(entry.budget_tokens === undefined ? {} : { budgetTokens: entry.budget_tokens }),
        ...(entry.mode === undefined ? {} : { mode: entry.mode }),
        ...(entry.order === "append" ? { earlier: exportedOrder(earlier, entry.format) } : {}),
      }),
    );
  }

  #snapshot(): Snapshot {
    return this.#running().runtime.snapshot;
  }

  #running(): Parts & { readonly reads: Reads; readonly operator: Operator } {
    if (!this.#parts) throw new Error("the kit has not been started");
    return this.#parts;
  }
}
