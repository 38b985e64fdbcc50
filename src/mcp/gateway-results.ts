import type { ErrorBody } from "../base/errors.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { CallResult, GatewayPlan, ReadResult } from "../kit-api.ts";
import { strictResult } from "./gateway-content.ts";
import { bodyToJson, INVALID_PARAMS, METHOD_NOT_FOUND, REFUSED, RESOURCE_NOT_FOUND, RpcError, URL_ELICITATION_REQUIRED } from "./gateway-rpc.ts";

/**
 * What became of a tools/call, as an MCP result (contracts 6). Bad arguments, unknown tools, and addresses to open first for a client that
 * can show them (`opensAddresses`) are thrown as an {@link RpcError};
 * every other refusal is an `isError` result, so that the model reads it. `hasOutputSchema`: then the error shape stays out of
 * `structuredContent`, because clients check that against the schema even for errors; text and `_meta` have it always.
 */
export function toolResult(
  call: CallResult,
  settings: { readonly invalidArguments: GatewayPlan["invalidArguments"]; readonly hasOutputSchema: boolean; readonly opensAddresses: boolean },
): JsonObject {
  const { error, result } = call;
  // The app's own failure goes through as the app gave it.
  if (result !== null && (error === null || error.source === "app")) return strictResult(result);
  const body = bodyToJson(
    error ?? { ok: false, error_code: "INTERNAL", message: "the call gave neither a result nor an error", retryable: false, source: "kit" },
  );
  if (error?.error_code === "TOOL_NOT_FOUND" || (error?.error_code === "INVALID_ARGUMENTS" && settings.invalidArguments === "error"))
    throw new RpcError(INVALID_PARAMS, error.message, body);
  if (error?.error_code === "ELICITATION_REQUIRED" && settings.opensAddresses) throw refusal(error);
  return {
    content: [{ type: "text", text: JSON.stringify(body) }],
    ...(settings.hasOutputSchema ? {} : { structuredContent: body }),
    isError: true,
    _meta: { "aurora/error": body },
  };
}

/** The result of a read, a get or a completion. Refusals are thrown as an {@link RpcError}; `subject` goes into its data for an unknown resource. */
export function readResult(read: ReadResult, subject?: Json): JsonObject {
  if (read.error === null && read.result !== null) return read.result;
  throw refusal(
    read.error ?? { ok: false, error_code: "INTERNAL", message: "the read gave neither a result nor an error", retryable: false, source: "kit" },
    subject,
  );
}

/** The JSON-RPC error for a refusal outside tools/call. */
export function refusal(error: ErrorBody, subject?: Json): RpcError {
  const body = bodyToJson(error);
  switch (error.error_code) {
    case "ELICITATION_REQUIRED":
      return new RpcError(URL_ELICITATION_REQUIRED, error.message, { ...body, ...(error.details as JsonObject) });
    case "RESOURCE_NOT_FOUND":
      return new RpcError(RESOURCE_NOT_FOUND, error.message, { ...body, ...(subject === undefined ? {} : { uri: subject }) });
    case "PROMPT_NOT_FOUND":
    case "TOOL_NOT_FOUND":
    case "INVALID_ARGUMENTS":
      return new RpcError(INVALID_PARAMS, error.message, body);
    default:
      return new RpcError(REFUSED, error.message, body);
  }
}

/** The refusal of a method that nobody here serves. */
export function unknownMethod(method: string): RpcError {
  return new RpcError(METHOD_NOT_FOUND, `method ${JSON.stringify(method.slice(0, 128))} is not served here`);
}
