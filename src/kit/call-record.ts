import type { OperationOptions, Performed } from "../calls/operation.ts";
import type { CallRecord } from "../kit-api.ts";

/** What metrics may know of a call that ended: no arguments, no results, only how much a model has to read. */
export function callRecord(performed: Performed, by: OperationOptions): CallRecord {
  const { target, decision } = performed;
  return {
    app: target?.app ?? null,
    tool: target?.kind === "tool" ? target.name : null,
    client: by.client,
    risk: decision?.risk ?? null,
    decision: decision?.action ?? null,
    outcome: performed.outcome,
    errorCode: performed.error?.error_code ?? null,
    durationMs: performed.durationMs,
    resultTokens: performed.resultTokens ?? 0,
  };
}
