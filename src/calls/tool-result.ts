import { KitError, type ErrorBody } from "../base/errors.ts";
import { withPlainNumbers } from "../base/exact-json.ts";
import { isLargerThan, isObject, own, type Json, type JsonObject } from "../base/json.ts";
import { compileSchema, type CompiledSchema } from "../base/json-schema.ts";
import { formatDuration } from "../base/durations.ts";
import { LinkError } from "../runtime/ports.ts";
import { lintResultText } from "../tools/text-lint.ts";
import type { Tool, ToolDefinition } from "../tools/types.ts";

/** A tool's answer after it was looked at. `error` is set when the tool says that it failed. */
export interface ReadToolResult {
  readonly result: JsonObject;
  readonly error: ErrorBody | null;
  readonly notes: readonly string[];
}

/** How strictly results are looked at. */
export interface ResultRules {
  readonly maxBytes: number;
  readonly outputCheck: "strict" | "lenient";
}

/**
 * Reads a tools/call result tolerantly (contracts 6): unknown blocks stay, missing content is empty, a failed tool's own code is
 * passed up. Throws a KitError RESULT_TOO_LARGE, or RESULT_INVALID where `outputCheck` is strict.
 */
export function readToolResult(raw: JsonObject, tool: Tool, rules: ResultRules): ReadToolResult {
  if (isLargerThan(raw, rules.maxBytes))
    throw new KitError("RESULT_TOO_LARGE", `the result of ${tool.full} is larger than limits.result_bytes (${rules.maxBytes} bytes)`);
  const content = contentOf(raw, tool);
  const result: JsonObject = content === null ? raw : { ...raw, content };
  const odd = content === null || own(raw, "content") === undefined ? [] : [`the content of the result of ${tool.full} was not a list; it was made one`];
  const notes = [...odd, ...(tool.trust === "low" ? textNotes(result) : [])];
  if (FAILED.has(own(raw, "isError"))) return { result, error: errorOfTool(result, tool), notes };
  const fault = outputFault(tool.definition, own(result, "structuredContent"));
  if (fault === null) return { result, error: null, notes };
  const message = `the result of ${tool.full} breaks its outputSchema: ${fault}`;
  if (rules.outputCheck === "strict") throw new KitError("RESULT_INVALID", message);
  const { structuredContent: _dropped, ...rest } = result;
  return { result: rest, error: null, notes: [...notes, `${message}; the structured part was left out`] };
}

/** How tools say that they failed: as the protocol has it, and as programs of other languages come to write it. */
const FAILED: ReadonlySet<unknown> = new Set([true, "true", "True", 1]);

/** The content of a result where it is not the list that it must be: a single block or a plain text as a list, nothing as an empty one. */
function contentOf(raw: JsonObject, tool: Tool): Json[] | null {
  const content = own(raw, "content") as Json | undefined;
  if (Array.isArray(content)) return null;
  if (content === undefined && isObject(own(raw, "task")))
    throw new KitError("PROTOCOL_ERROR", `${tool.full} answered with a task, which it was not asked for; whether it took effect is unknown`, {
      outcome: "unknown",
    });
  if (typeof content === "string") return [{ type: "text", text: content }];
  return isObject(content) ? [content] : [];
}

/** What whoever shows the texts of a low-trust app should know: remote images that carry data away when fetched, hidden characters. */
function textNotes(result: JsonObject): string[] {
  const texts = (result["content"] as Json[]).map((block) => own(block, "text")).filter((text) => typeof text === "string");
  return [...new Set(texts.flatMap((text) => lintResultText(text)).map((finding) => `${finding.code}: ${finding.message}`))];
}

const schemas = new WeakMap<ToolDefinition, CompiledSchema | null>();

/** What is wrong with a structured part, or null. A schema that cannot be compiled checks nothing. */
function outputFault(definition: ToolDefinition, structured: unknown): string | null {
  const schema = own(definition, "outputSchema");
  if (!isObject(schema)) return null;
  if (structured === undefined) return "structuredContent is missing";
  let compiled = schemas.get(definition);
  if (compiled === undefined) {
    const made = compileSchema(schema);
    compiled = made.ok ? made.schema : null;
    schemas.set(definition, compiled);
  }
  const issue = compiled?.validate(withPlainNumbers(structured))[0];
  if (!issue) return null;
  return `${issue.path.length === 0 ? "structuredContent" : issue.path.join(".")} ${issue.message}`;
}

/** The tool's own error body where it has the guide's shape (15.4), else TOOL_FAILED with its text. */
function errorOfTool(result: JsonObject, tool: Tool): ErrorBody {
  const body = own(result, "structuredContent");
  const code = own(body, "error_code");
  if (typeof code === "string" && code !== "") {
    const message = own(body, "message");
    return {
      ok: false,
      error_code: code,
      message: typeof message === "string" ? message : firstText(result, tool),
      retryable: own(body, "retryable") === true,
      source: "app",
      ...detailsOf(body),
    };
  }
  return { ok: false, error_code: "TOOL_FAILED", message: firstText(result, tool), retryable: false, source: "app" };
}

function detailsOf(body: unknown): { details?: Json } {
  const details = own(body, "details");
  return details === undefined ? {} : { details: details as Json };
}

function firstText(result: JsonObject, tool: Tool): string {
  for (const block of result["content"] as Json[]) {
    const text = own(block, "text");
    if (typeof text === "string" && text.trim() !== "") return bounded(text);
  }
  return `${tool.full} failed without saying why`;
}

/**
 * Turns a fault of a connection into the kit's error, with what is known about the call's fate (contracts 6). `cutOff`: why the app's own
 * side ended the call, where it did.
 */
export function toKitError(error: unknown, tool: { readonly full: string; readonly app: string }, cutOff: unknown): KitError {
  if (error instanceof KitError) return error;
  if (!(error instanceof LinkError))
    return new KitError("INTERNAL", `calling ${tool.full} failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  const outcome = error.sent ? "unknown" : "failed";
  const tail = error.sent ? "; whether it took effect is unknown" : "";
  switch (error.kind) {
    case "timeout":
      return new KitError("TIMEOUT", `${tool.full}: ${error.message}${tail}`, { cause: error, outcome, ...withDetails(error) });
    case "cancelled":
      // An app that died or went silent may come back; one that was taken out or replaced will not serve this call.
      if (cutOff instanceof LinkError && cutOff.sent)
        return new KitError("APP_UNAVAILABLE", `${tool.full}: ${cutOff.message}${tail}`, { cause: error, outcome });
      return cutOff !== null
        ? new KitError("APP_REMOVED", `${tool.full}: ${error.message}${tail}`, { cause: error, outcome })
        : new KitError("CANCELLED", `${tool.full} was cancelled${tail}`, { cause: error, outcome });
    case "rpc":
      return error.code === -32602
        ? new KitError("INVALID_ARGUMENTS", `${tool.app} refused the arguments of ${tool.full}: ${bounded(error.message)}`, {
            cause: error,
            ...withData(error),
          })
        : new KitError("PROTOCOL_ERROR", `${tool.app} answered ${tool.full} with error ${error.code ?? "?"}: ${bounded(error.message)}`, {
            cause: error,
            ...withData(error),
          });
    case "invalid":
      return new KitError("PROTOCOL_ERROR", `${tool.full}: ${error.message}`, { cause: error, outcome });
    case "too-large":
      return new KitError("RESULT_TOO_LARGE", `${tool.full}: ${error.message}`, { cause: error });
    case "overloaded":
      return new KitError("APP_UNAVAILABLE", `${tool.full}: ${error.message}`, { cause: error });
    case "http":
      if (error.code === 429 || error.code === 503)
        return new KitError("APP_UNAVAILABLE", `${tool.full}: ${error.message}${retryText(error)}`, {
          cause: error,
          ...(error.retryAfterMs === undefined ? {} : { details: { retry_after_ms: error.retryAfterMs } }),
        });
      return new KitError("APP_UNAVAILABLE", `${tool.full}: ${error.message}${tail}`, { cause: error, outcome });
    default:
      return new KitError("APP_UNAVAILABLE", `${tool.full}: ${error.message}${tail}`, { cause: error, outcome });
  }
}

function retryText(error: LinkError): string {
  return error.retryAfterMs === undefined ? "" : `; try again in ${formatDuration(error.retryAfterMs)}`;
}

/** An error has no side file: what is over this is not passed on. */
const MAX_MESSAGE_CHARS = 2_000;
const MAX_DETAILS_BYTES = 64 * 1024;

function bounded(text: string): string {
  return text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}… (${text.length} characters)` : text;
}

/** The details that the kit's own side of a connection gives, such as the approval that a call waited for. */
function withDetails({ data }: LinkError): { details?: Json } {
  return data === undefined ? {} : { details: data };
}

/** What a server gave with its error, under a name of its own, so that it never reads as details of the kit. */
function withData({ data }: LinkError): { details?: Json } {
  if (data === undefined) return {};
  return { details: isLargerThan(data, MAX_DETAILS_BYTES) ? { left_out: `more than ${MAX_DETAILS_BYTES} bytes` } : { data } };
}
