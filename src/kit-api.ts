import type { CancelSignal } from "./base/cancel-signal.ts";
import type { DiagnosticJson } from "./base/diagnostics.ts";
import type { ErrorBody, Outcome } from "./base/errors.ts";
import type { Json, JsonObject } from "./base/json.ts";
import type { AmpEnvelope } from "./amp/types.ts";
import type { ExportFormat } from "./llm/types.ts";
import type { ChangeSet } from "./plan/types.ts";
import type { Progress, ServerRequest, TaskWish } from "./runtime/ports.ts";
import type { AppState } from "./runtime/snapshot.ts";
import type { LockSelection } from "./tools/lock.ts";
import type { PinDifference } from "./tools/pins.ts";
import type { TaskSupport } from "./tools/task-support.ts";
import type { Catalog, Risk, Tool } from "./tools/types.ts";
import type { ApprovalRow, Explanation, HostGraph, ToolRow, ToolSchemas } from "./kit-views.ts";

export type * from "./kit-views.ts";
export type { GatewayPlan } from "./plan/types.ts";
export type { CancelSignal } from "./base/cancel-signal.ts";
export type { Logger } from "./runtime/ports.ts";
export type { AppState, ExportFormat };

/** Who is calling, and within what (contracts 5, 6). */
export interface CallOptions {
  /** Conversation; data-flow marks and approvals belong to client + session. Default `default`. */
  readonly session?: string;
  /** Turn of the conversation; results that come after `endTurn` of it are discarded. */
  readonly turn?: string;
  /** Name of the caller, for rules' `clients` and for its tool selection under `gateway.clients`: a tool outside it is TOOL_NOT_FOUND on every door. Default `library`. */
  readonly client?: string;
  /** Cancels the call: an AbortSignal, or whatever does as much of it. */
  readonly signal?: CancelSignal;
  /** An approval that a person gave earlier for exactly this call. */
  readonly approvalId?: string;
  /** How long to wait for a person, in milliseconds; default is the policy's `approvals.wait`. */
  readonly waitMs?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** Told when the call goes to its app: it was let, its conversation is marked and the record written. From then on the app works for the caller. */
  readonly onSent?: (source: Pick<Tool, "app" | "tool" | "trust">) => void;
  /** Answers server-to-client requests of this call, where the app's grants forward them. */
  readonly onServerRequest?: (request: ServerRequest) => Promise<JsonObject>;
  /** MCP capabilities of the calling client; a connection of its own (`isolation: session`) declares these upstream. */
  readonly clientCapabilities?: JsonObject;
  /** `_meta` members to pass on. */
  readonly meta?: JsonObject;
  /** Runs the call as a task of the app (MCP 2025-11-25) where app and tool can, and tells how it goes. The call's result still comes at its end. */
  readonly task?: TaskWish;
}

/** What became of a call. Never thrown: faults are values too. */
export interface CallResult {
  readonly outcome: Outcome;
  readonly ok: boolean;
  /** The MCP tool result as the app gave it (content, structuredContent, isError), or null when there is none. */
  readonly result: JsonObject | null;
  readonly error: ErrorBody | null;
  readonly durationMs: number;
  readonly callId: string;
  /** The tool, when the name was known. */
  readonly tool: { readonly app: string; readonly name: string; readonly full: string; readonly short: string } | null;
  readonly risk: Risk | null;
  /** Notes for people, such as a structured part that was dropped. */
  readonly notes: readonly string[];
}

/** The result of a resource read or a prompt get. */
export interface ReadResult {
  readonly ok: boolean;
  readonly app: string | null;
  readonly result: JsonObject | null;
  readonly error: ErrorBody | null;
}

/** Exported tool schemas. `text` is the exact file content; equal catalogues give equal bytes. */
export interface ExportedTools {
  readonly format: ExportFormat;
  readonly tools: readonly Json[];
  readonly text: string;
  readonly etag: string;
  /** Exported name to full tool name. */
  readonly names: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** One row of `status` (contracts 10). */
export interface AppStatus {
  readonly package: string;
  readonly name: string;
  readonly state: AppState;
  readonly pid: number | null;
  readonly transport: "stdio" | "http" | null;
  readonly protocol: string | null;
  readonly version: string | null;
  readonly tools: number;
  readonly restarts: number;
  /** ISO time of the next attempt. */
  readonly next_attempt: string | null;
  readonly reason: string | null;
  readonly source: string;
  readonly calls: number;
  /** Under `isolation: session`: the connections of calling sessions, and how many were lost, the last for `reason`; null where all share one. */
  readonly sessions: {
    readonly open: readonly { readonly pid: number | null; readonly calls: number; readonly since: string }[];
    readonly lost: number;
    readonly reason: string | null;
  } | null;
  readonly dropped: readonly { readonly kind: string; readonly name: string; readonly reason: string }[];
  readonly warnings: readonly string[];
  /** What the text lint finds in what the server shows; `item` as `lock --accept` names it. */
  readonly findings: readonly { readonly item: string; readonly finding: string }[];
}

export interface KitStatus {
  readonly name: string;
  readonly revision: number;
  readonly state: "starting" | "running" | "stopping" | "stopped";
  readonly pid: number;
  readonly started_at: string;
  readonly topology: string;
  readonly apps: readonly AppStatus[];
  readonly gateway: { readonly url: string | null };
  readonly inbox: {
    readonly dir: string | null;
    readonly written: number;
    readonly pending: number;
    readonly degraded: string | null;
    readonly queued: number;
    readonly dropped: number;
    readonly duplicates: number;
  };
  /** `pending`: newer content waits to be written. `error`: why the last write failed. */
  readonly exports: readonly {
    readonly format: string;
    readonly file: string;
    readonly tools: number;
    readonly pending: boolean;
    readonly error: string | null;
  }[];
  readonly config: {
    readonly state: "applied" | "rejected" | "partial" | "pending";
    readonly errors: readonly DiagnosticJson[];
    /** What `validate` warns of; nothing of it keeps the configuration from being active. */
    readonly warnings: readonly DiagnosticJson[];
    readonly host_changes: readonly string[];
  };
  readonly tools: {
    readonly exposed: number;
    readonly quarantined: number;
    readonly denied: number;
    readonly unavailable: number;
    readonly by_risk: Readonly<Record<Risk, number>>;
  };
  readonly policy: { readonly loaded: boolean; readonly rules: number; readonly warnings: readonly DiagnosticJson[] };
  readonly approvals: { readonly pending: number };
}

/** Outcome of a reload (contracts 8). */
export interface ReloadResult {
  readonly result: "applied" | "unchanged" | "rejected" | "partial" | "pending";
  readonly revision: number;
  readonly changes: ChangeSet;
  readonly errors: readonly DiagnosticJson[];
  readonly warnings: readonly DiagnosticJson[];
  /** The findings as `validate` prints them. */
  readonly text: string;
}

/** One call that ended, for metrics: no arguments, no results. */
export interface CallRecord {
  /** Null when the name was not known. */
  readonly app: string | null;
  readonly tool: string | null;
  readonly client: string;
  readonly risk: Risk | null;
  readonly decision: "allow" | "ask" | "deny" | null;
  readonly outcome: Outcome;
  readonly errorCode: string | null;
  readonly durationMs: number;
  /** Estimated tokens of the result's texts: what the call costs a model that reads it whole. */
  readonly resultTokens: number;
}

/** Events of the kit for library users. */
export interface KitEvents {
  /** A call ended, whatever the door. */
  call: (record: CallRecord) => void;
  /** An app changed its state. */
  app: (status: AppStatus) => void;
  /** The catalogue changed; debounced, after pins and policy. */
  catalog: (catalog: Catalog) => void;
  /** A resource that somebody subscribed to changed. */
  resource: (app: string, uri: string) => void;
  /** Any notification of a server, for gateways that pass them on. `scope`: the one calling session that the connection serves, if it serves only one. */
  notification: (app: string, method: string, params: JsonObject, scope?: { readonly client: string; readonly session: string }) => void;
  /** An envelope on its way to the inbox. */
  envelope: (envelope: AmpEnvelope) => void;
  reload: (result: ReloadResult) => void;
  /** Files changed while `reload: off`: nothing of it was taken over. */
  edited: () => void;
  approval: (row: ApprovalRow) => void;
}

/** An OpenAI Chat, OpenAI Responses, Anthropic or Gemini tool call, as the provider gave it. */
export type ToolCallInput = JsonObject;

/** A running host. Everything that a door (CLI, HTTP, gateway, library) may do. */
export interface Kit {
  /** Reads the configuration and starts the apps; resolves when the graph runs, not when every app is up. Throws a ConfigError when topology.yaml cannot be used. */
  start(): Promise<void>;
  /** Tells where the HTTP door listens, for status. */
  setGatewayUrl(url: string | null): void;
  /** Ends the apps and writes what is still to be written. Running calls may take `graceMs` (0) more; `force` kills at once. */
  close(options?: { readonly force?: boolean; readonly graceMs?: number }): Promise<void>;
  status(): KitStatus;
  catalog(): Catalog;
  toolRows(): ToolRow[];
  /** The wiring of policies, apps and signals, for pictures. */
  graph(): HostGraph;
  /** One tool, by full name, as every provider would be shown it. Throws a KitError for an unknown name. */
  toolSchemas(full: string): ToolSchemas;
  tools(
    format: ExportFormat,
    options?: { readonly maxName?: number; readonly maxTools?: number; readonly client?: string; readonly mode?: "all" | "search" },
  ): ExportedTools;
  callTool(name: string, args: Json, options?: CallOptions): Promise<CallResult>;
  /** Runs a batch of tool calls of any supported provider form; one message per call, in order, in the same provider's form. */
  executeToolCalls(calls: readonly ToolCallInput[], options?: CallOptions): Promise<JsonObject[]>;
  endTurn(session: string, turn: string, client?: string): void;
  listResources(client?: string): { readonly app: string; readonly resource: JsonObject }[];
  listTemplates(client?: string): { readonly app: string; readonly template: JsonObject }[];
  listPrompts(client?: string): { readonly app: string; readonly name: string; readonly short: string; readonly prompt: JsonObject }[];
  readResource(uri: string, options?: CallOptions & { readonly app?: string }): Promise<ReadResult>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, options?: CallOptions): Promise<ReadResult>;
  explain(name: string, options?: { readonly args?: JsonObject; readonly session?: string; readonly client?: string }): Explanation;
  listApprovals(options?: { readonly all?: boolean }): ApprovalRow[];
  /** Throws a KitError when the id is unknown or no longer open. `by` names the person. */
  decideApproval(id: string, decision: "approve" | "deny" | "cancel", by: string, reason?: string, answer?: JsonObject): Promise<ApprovalRow>;
  listSessions(): { readonly client: string; readonly session: string; readonly source: string; readonly since: string; readonly expires_at: string }[];
  clearSession(client: string, session: string): Promise<boolean>;
  restartApp(app: string): Promise<AppStatus>;
  appLog(app: string): readonly string[];
  /** Gives a function that stops the listening. */
  onAppLog(app: string, handler: (line: string) => void): () => void;
  reload(options?: { readonly apply?: boolean }): Promise<ReloadResult>;
  /** What a reload would do, without doing it. */
  plan(): Promise<ReloadResult & { readonly report: JsonObject }>;
  /** Unaccepted and changed pins, and accepting them. */
  lockDiff(): LockEntry[];
  /** All that waits, or what is selected, exactly as it was seen where it says so. Rejects with a ConflictError when that is no longer shown; nothing is accepted then. */
  lockAccept(selection?: LockSelection): Promise<LockEntry[]>;
  on<E extends keyof KitEvents>(event: E, handler: KitEvents[E]): () => void;
  /** The tools that a client is shown: its selection, without what is quarantined or denied to it. Much cheaper than an export. */
  visibleTools?(client: string): readonly Tool[];
  /** Argument completion of a prompt or resource template (MCP completion/complete); the gateway offers it when it is there. */
  complete?(ref: JsonObject, argument: { readonly name: string; readonly value: string }, context: JsonObject, options?: CallOptions): Promise<ReadResult>;
  /** Subscribes upstream for a gateway client, once for all of them; `resource` events follow. Throws a KitError when the policy or the app refuses this client. */
  subscribeResource?(uri: string, options?: CallOptions): Promise<void>;
  /** Takes one subscription back; nothing where there is none. */
  unsubscribeResource?(uri: string, options?: CallOptions): Promise<void>;
  /** Whether a tool can run as a task, as its server says now. */
  taskSupport?(tool: Tool): TaskSupport;
  /** A conversation is about to hear what a call of a tool gave: marks it where the tool is a data-flow source; resolves when the mark is on the disk. */
  heard?(tool: Pick<Tool, "app" | "tool" | "trust">, options?: CallOptions): Promise<void>;
  /** Accepted instructions of the servers that a client may see, for prompts and for the gateway's own. */
  instructions?(client?: string): { readonly app: string; readonly text: string }[];
  /** A conversation is over: its own connections (`isolation: session`) close. Marks stay until they expire. */
  endSession?(session: string, client: string): Promise<void>;
}

/** One difference between what servers show and what a person accepted. */
export type LockEntry = PinDifference & {
  /** Whether it is neither shown nor run until a person accepts it; what is not, the host pinned by itself at first sight. */
  readonly quarantined: boolean;
};
