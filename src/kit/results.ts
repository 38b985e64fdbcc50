import type { OperationOptions, Performed } from "../calls/operation.ts";
import type { CallOptions, CallResult, ReadResult } from "../kit-api.ts";
import type { Snapshot } from "../runtime/snapshot.ts";

/** Options of a caller with the names that every call has. */
export function operationOptions(options: CallOptions): OperationOptions {
  // Not a spread: every call comes through here, and one costs many times as much.
  return Object.assign({}, options, { client: options.client ?? "library", session: options.session ?? "default" });
}

/** A tool call's report in the form of the library. */
export function callResult(done: Performed, snapshot: Snapshot): CallResult {
  const tool = done.target?.tool ?? null;
  return {
    outcome: done.outcome,
    ok: done.error === null,
    result: done.answer?.result ?? null,
    error: done.error,
    durationMs: done.durationMs,
    callId: done.callId,
    tool: tool && { app: tool.app, name: tool.tool, full: tool.full, short: tool.short },
    risk: done.decision?.risk ?? (tool && snapshot.catalog.byFull(tool.full)?.risk) ?? null,
    notes: done.answer?.notes ?? [],
  };
}

/** A read's report in the form of the library. */
export function readResult(done: Performed): ReadResult {
  return { ok: done.error === null, app: done.target?.app ?? null, result: done.answer?.result ?? null, error: done.error };
}
