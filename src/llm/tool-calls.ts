import { isObject, own, type JsonObject } from "../base/json.ts";

/** The provider forms in which tool calls come and their answers go. */
export type CallFormat = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/** One tool call of a model, whatever the provider. */
export interface ParsedToolCall {
  readonly format: CallFormat;
  /** The provider's id of the call; `call_<n>` where it gave none, empty where the form has none (Gemini, OpenAI's old `function_call`). */
  readonly id: string;
  /** Exported tool name; empty when the call names none. */
  readonly name: string;
  /** JSON text or an object, as the provider gave it. */
  readonly rawArguments: unknown;
}

/**
 * Reads tool calls in the forms of OpenAI Chat and Responses, Anthropic and Gemini, or whole assistant messages that hold
 * them, in their order; texts, reasoning and calls that the provider ran itself are passed over. Never throws: a call that
 * cannot be read has an empty name, so that it is still answered.
 */
export function readToolCalls(input: readonly JsonObject[]): ParsedToolCall[] {
  return input.flatMap((item) => inner(item)).map((item, i) => readOne(item, i));
}

/** The calls inside a message, or the item itself. */
function inner(item: unknown): unknown[] {
  if (!isObject(item)) return [item];
  const old = own(item, "function_call");
  if (isObject(old) && own(old, "args") === undefined && (typeof own(old, "arguments") === "string" || own(item, "role") === "assistant"))
    return [{ type: OLD_OPENAI, ...old }];
  const calls = own(item, "tool_calls");
  if (Array.isArray(calls)) return calls;
  const content = own(item, "content");
  if (Array.isArray(content) && own(item, "role") === "assistant") return content.filter((block) => own(block, "type") === "tool_use");
  const parts = own(item, "parts");
  if (Array.isArray(parts)) return parts.filter((part) => own(part, "functionCall") !== undefined || own(part, "function_call") !== undefined);
  return mayBeCall(item) ? [item] : [];
}

/** A message of OpenAI's older form has one call at most, without an id. */
const OLD_OPENAI = "openai.function_call";
const CALL_KEYS = ["function", "functionCall", "function_call", "name", "arguments", "args"];

/** Whether an item is a call, be it a broken one; not what else stands in a message or an output list. */
function mayBeCall(item: object): boolean {
  if (own(item, "type") === "tool_use" || own(item, "type") === "function_call") return true;
  if (own(item, "type") === "server_tool_use") return false;
  return CALL_KEYS.some((key) => own(item, key) !== undefined) || (own(item, "type") === undefined && own(item, "text") === undefined);
}

function readOne(item: unknown, index: number): ParsedToolCall {
  const id = (value: unknown): string => (typeof value === "string" && value !== "" ? value : `call_${index}`);
  const name = (value: unknown): string => (typeof value === "string" ? value : "");
  const fn = own(item, "function");
  if (isObject(fn)) return { format: "openai-chat", id: id(own(item, "id")), name: name(own(fn, "name")), rawArguments: own(fn, "arguments") };
  const gemini = own(item, "functionCall") ?? own(item, "function_call");
  if (isObject(gemini)) return geminiCall(gemini);
  switch (own(item, "type")) {
    case "tool_use":
      return { format: "anthropic", id: id(own(item, "id")), name: name(own(item, "name")), rawArguments: own(item, "input") };
    case "function_call":
      return {
        format: "openai-responses",
        id: id(own(item, "call_id") ?? own(item, "id")),
        name: name(own(item, "name")),
        rawArguments: own(item, "arguments"),
      };
    case OLD_OPENAI:
      return { format: "openai-chat", id: "", name: name(own(item, "name")), rawArguments: own(item, "arguments") };
    default:
      if (isObject(item) && Object.hasOwn(item, "args")) return geminiCall(item);
      return { format: "openai-chat", id: id(own(item, "id")), name: name(own(item, "name")), rawArguments: own(item, "arguments") };
  }
}

function geminiCall(call: Record<string, unknown>): ParsedToolCall {
  const id = own(call, "id");
  const name = own(call, "name");
  return { format: "gemini", id: typeof id === "string" ? id : "", name: typeof name === "string" ? name : "", rawArguments: own(call, "args") };
}
