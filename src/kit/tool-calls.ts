import { KitError, type ErrorBody } from "../base/errors.ts";
import { own, type Json, type JsonObject } from "../base/json.ts";
import type { Operation, Performed, Wanted } from "../calls/operation.ts";
import type { CallOptions } from "../kit-api.ts";
import { argumentKeyMap } from "../llm/argument-keys.ts";
import { readArguments } from "../llm/arguments.ts";
import { writeMediaMessage, writeToolMessage, type MessageOutcome } from "../llm/messages.ts";
import { CALL_TOOL_NAME, SEARCH_MODE_TOOLS, SEARCH_TOOLS_NAME } from "../llm/search-mode.ts";
import { readToolCalls, type ParsedToolCall } from "../llm/tool-calls.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import { exportedName } from "./exported-names.ts";
import { visibleTools } from "./export-tools.ts";
import { toolOperation } from "./operations.ts";
import { searchCatalog } from "./search-catalog.ts";

/** How a batch of tool calls is run. */
export interface ToolCallRunner {
  readonly snapshot: () => Snapshot;
  readonly call: (wanted: Wanted) => Promise<Performed>;
}

interface Answered {
  readonly call: ParsedToolCall;
  readonly outcome: MessageOutcome;
  readonly reference: string | null;
}

/**
 * Runs the tool calls of a model and gives exactly one message per call, in the order of the calls, whatever fails (contracts 6).
 * They are admitted in their order and run side by side. For OpenAI Chat, images follow in one user message after the tool messages.
 */
export async function runToolCalls(calls: readonly JsonObject[], options: CallOptions, runner: ToolCallRunner): Promise<JsonObject[]> {
  const { messageBytes } = runner.snapshot().plan.limits;
  const answered = await Promise.all(readToolCalls(calls).map((call) => answer(call, options, runner)));
  const messages = answered.map(({ call, outcome, reference }) => writeToolMessage(call, outcome, { messageBytes, reference }));
  const media = writeMediaMessage(answered, { messageBytes });
  return media === null ? messages : [...messages, media];
}

async function answer(call: ParsedToolCall, options: CallOptions, runner: ToolCallRunner): Promise<Answered> {
  try {
    if (call.name === SEARCH_TOOLS_NAME) return { call, outcome: search(call, options, runner.snapshot()), reference: null };
    const wanted = call.name === CALL_TOOL_NAME ? innerCall(call) : { name: call.name, raw: call.rawArguments };
    const find = (snapshot: Snapshot): Operation => operationOf(snapshot, wanted.name, wanted.raw, options.client ?? "library");
    const done = await runner.call({ kind: "tool", name: wanted.name, find });
    return { call, outcome: outcomeOf(done), reference: done.resultRef };
  } catch (error) {
    const fault = error instanceof KitError ? error : new KitError("INTERNAL", "the call could not be run", { cause: error });
    return { call, outcome: failure(fault.toBody()), reference: null };
  }
}

/** A model says the name and the property keys that it was shown; both are turned back here. */
function operationOf(snapshot: Snapshot, name: string, raw: unknown, client: string): Operation {
  const full = exportedName(snapshot, name);
  const schema = snapshot.catalog.byFull(full)?.definition;
  return toolOperation(snapshot, full, raw, client, schema && argumentKeyMap(own(schema, "inputSchema")));
}

/** The call inside a `call_tool` of the search form. */
function innerCall(call: ParsedToolCall): { readonly name: string; readonly raw: unknown } {
  const args = searchArguments(call, CALL_TOOL_NAME);
  return { name: String(args["name"]), raw: args["arguments"] };
}

function search(call: ParsedToolCall, options: CallOptions, snapshot: Snapshot): MessageOutcome {
  const args = searchArguments(call, SEARCH_TOOLS_NAME);
  const limit = typeof args["limit"] === "number" ? args["limit"] : 5;
  const found = searchCatalog(snapshot, visibleTools(snapshot, options.client), String(args["query"]), limit);
  const tools: Json[] = found.map(({ tool }) => ({
    name: tool.short,
    description: String(own(tool.definition, "description") ?? ""),
    arguments: (own(tool.definition, "inputSchema") ?? {}) as Json,
  }));
  const text = tools.length === 0 ? "No tool fits; try other words." : JSON.stringify({ tools });
  return { ok: true, result: { content: [{ type: "text", text }] }, error: null, app: "", trust: null, notes: [] };
}

function searchArguments(call: ParsedToolCall, name: string): JsonObject {
  const reading = readArguments(call.rawArguments, { inputSchema: SEARCH_MODE_TOOLS.find((t) => t.name === name)!.inputSchema });
  if (reading.ok) return reading.args;
  throw new KitError("INVALID_ARGUMENTS", reading.message, { details: { issues: reading.issues as unknown as Json } });
}

function outcomeOf(done: Performed): MessageOutcome {
  return {
    ok: done.error === null,
    result: done.answer?.result ?? null,
    error: done.error,
    app: done.target?.app ?? "",
    trust: done.target?.plan.trust ?? null,
    notes: done.answer?.notes ?? [],
  };
}

function failure(error: ErrorBody): MessageOutcome {
  return { ok: false, result: null, error, app: "", trust: null, notes: [] };
}
