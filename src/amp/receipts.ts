import type { ErrorBody, Outcome } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { truncate } from "../base/text.ts";
import type { Risk } from "../tools/types.ts";
import type { SignalSource } from "./signal.ts";
import type { Signal } from "./types.ts";

/** What is known of a tool call after it ended. Arguments and results are not in it: a receipt proves a call, it does not repeat it. */
export interface ToolReceipt {
  /** The server's own tool name. */
  readonly tool: string;
  readonly callId: string;
  readonly client: string;
  readonly session: string;
  readonly turn?: string | undefined;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly risk: Risk | null;
  /** Why the call failed; its message is cut. */
  readonly error: ErrorBody | null;
  readonly approvalId?: string | undefined;
  readonly auditId?: string | undefined;
  /** Where the whole result is kept when it was cut for the caller. */
  readonly resultRef?: string | undefined;
  readonly resultBytes?: number | undefined;
}

const MAX_ERROR_MESSAGE = 1000;

/** The signal of an ended tool call: `tool.completed`, or `tool.failed` (with `outcome: unknown` where its fate is not known). */
export function toolReceipt(source: SignalSource, receipt: ToolReceipt): Signal {
  const params: JsonObject = {
    tool: receipt.tool,
    call_id: receipt.callId,
    client: receipt.client,
    session: receipt.session,
    outcome: receipt.outcome,
    duration_ms: Math.round(receipt.durationMs),
    risk: receipt.risk,
    ...(receipt.turn === undefined ? {} : { turn: receipt.turn }),
    ...(receipt.error === null ? {} : { error: shortError(receipt.error) }),
    ...(receipt.approvalId === undefined ? {} : { approval_id: receipt.approvalId }),
    ...(receipt.auditId === undefined ? {} : { audit_id: receipt.auditId }),
    ...(receipt.resultRef === undefined ? {} : { result_ref: receipt.resultRef }),
    ...(receipt.resultBytes === undefined ? {} : { result_bytes: receipt.resultBytes }),
  };
  return { kind: "tool_result", ...source, method: "tools/call", params, session: receipt.session };
}

function shortError(error: ErrorBody): JsonObject {
  return { error_code: error.error_code, message: truncate(error.message, MAX_ERROR_MESSAGE), retryable: error.retryable, source: error.source };
}
