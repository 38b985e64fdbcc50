import { isObject, own, type JsonObject } from "../base/json.ts";
import type { OperationOptions, Performed } from "../calls/operation.ts";
import type { CallRecord } from "../kit-api.ts";
import { estimateTokens } from "../llm/cost.ts";

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
    resultTokens: resultTokens(performed.answer?.result),
  };
}

function resultTokens(result: JsonObject | undefined): number {
  const content = result && own(result, "content");
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((sum, item) => sum + (isObject(item) && typeof item["text"] === "string" ? estimateTokens(item["text"]) : 0), 0);
}
