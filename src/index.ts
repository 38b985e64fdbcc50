/** The library: a host for MCP servers, driven by YAML (contracts 11). */
export { createKit, ConfigError, type KitOptions } from "./kit.ts";
export { settled } from "./settled.ts";
export type {
  AppState,
  AppStatus,
  ApprovalRow,
  CallOptions,
  CancelSignal,
  CallRecord,
  CallResult,
  ExportedTools,
  ExportFormat,
  Explanation,
  Kit,
  KitEvents,
  KitStatus,
  LockEntry,
  Logger,
  ReadResult,
  ReloadResult,
  ToolCallInput,
  ToolRow,
} from "./kit-api.ts";
export { ERROR_CODES, KitError, type ErrorBody, type ErrorCode, type Outcome } from "./base/errors.ts";
export type { Diagnostic, DiagnosticJson } from "./base/diagnostics.ts";
export type { Json, JsonObject } from "./base/json.ts";
export type { AmpEnvelope, Signal } from "./amp/types.ts";
export type { Progress, ServerRequest } from "./runtime/ports.ts";
export type { Catalog, Risk, Tool, ToolState, Trust } from "./tools/types.ts";
export { GiveUp, readInbox, type InboxEvent, type InboxReaderOptions } from "./files/inbox-reader.ts";
