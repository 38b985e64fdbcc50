import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isObject, own, type JsonObject } from "../../src/base/json.ts";
import { brokenRules, rulesOf } from "../llm/support/target-rules.ts";

/** One tool call that a scripted model makes. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: object | string;
}

/** A provider's API on loopback that answers by script and refuses, with 400, what the real one is known to refuse. */
export interface FakeProvider {
  readonly url: string;
  /** Bodies of the requests, in order. */
  readonly requests: JsonObject[];
  close(): Promise<void>;
}

type Handler = (body: JsonObject, turn: number) => JsonObject;

async function provider(path: string, errorBody: (message: string) => object, handle: Handler): Promise<FakeProvider> {
  const requests: JsonObject[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    let status = 200;
    let body: object;
    try {
      if (request.method !== "POST" || request.url !== path) throw new Error(`${request.method} ${request.url} is not served`);
      const parsed = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
      requests.push(parsed);
      body = handle(parsed, requests.length);
    } catch (error) {
      status = 400;
      body = errorBody((error as Error).message);
    }
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => (server.closeAllConnections(), new Promise((resolve) => server.close(() => resolve()))),
  };
}

function require(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}

const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : []);

/** OpenAI Chat Completions. The model makes the scripted calls at once, then answers with what the tool messages said. */
export function fakeOpenAI(calls: readonly ScriptedCall[]): Promise<FakeProvider> {
  const toolCalls = calls.map((call, i) => ({
    id: `call_${i}`,
    type: "function",
    function: { name: call.name, arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments) },
  }));
  const answer = (message: JsonObject, finish: string): JsonObject => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "fake",
    choices: [{ index: 0, finish_reason: finish, logprobs: null, message: { role: "assistant", refusal: null, ...message } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
  return provider(
    "/v1/chat/completions",
    (message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } }),
    (body, turn) => {
      checkOpenAITools(listOf(body["tools"]));
      const messages = listOf(body["messages"]);
      checkPairing(messages);
      if (turn === 1) return answer({ content: null, tool_calls: toolCalls as unknown as JsonObject[] }, "tool_calls");
      return answer(
        {
          content: messages
            .filter((m) => m["role"] === "tool")
            .map((m) => String(m["content"]))
            .join("\n"),
        },
        "stop",
      );
    },
  );
}

function checkOpenAITools(tools: readonly JsonObject[]): void {
  require(tools.length > 0 && tools.length <= 128, `${tools.length} tools; 1 to 128 are taken`);
  const names = new Set<unknown>();
  for (const tool of tools) {
    const fn = tool["function"];
    require(tool["type"] === "function" && isObject(fn), "a tool is not a function");
    const { name, description, parameters, strict } = fn as JsonObject;
    require(typeof name === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(name), `invalid function name ${String(name)}`);
    require(!names.has(name), `the name ${name} is there twice`);
    names.add(name);
    require(description === undefined || (typeof description === "string" && description.length <= 1024), `${name}: string_above_max_length`);
    require(strict === undefined || strict === null || typeof strict === "boolean", `${name}: strict is not a boolean`);
    if (parameters === undefined) continue;
    const broken = isObject(parameters) ? brokenRules(strict === true ? "openai-strict" : "openai", parameters as JsonObject) : ["parameters is not an object"];
    require(broken.length === 0, `Invalid schema for function '${name}': ${broken.join("; ")}`);
  }
}

/** Every tool call is answered, once, by the messages that follow it at once. */
function checkPairing(messages: readonly JsonObject[]): void {
  let open = new Set<unknown>();
  for (const message of messages) {
    if (message["role"] === "tool") {
      require(open.delete(message["tool_call_id"]), "messages with role 'tool' must be a response to a preceding message with 'tool_calls'");
      const { content } = message;
      require(typeof content === "string" || listOf(content).every((part) => part["type"] === "text"), "a tool message holds text only");
      continue;
    }
    require(open.size === 0, `tool_call_ids did not have response messages: ${[...open].join(", ")}`);
    open = new Set(listOf(message["tool_calls"]).map((call) => call["id"]));
  }
  require(open.size === 0, `tool_call_ids did not have response messages: ${[...open].join(", ")}`);
}

/** Anthropic Messages. The model makes the scripted calls at once, then answers with what the results said. */
export function fakeAnthropic(calls: readonly ScriptedCall[]): Promise<FakeProvider> {
  const uses = calls.map((call, i) => ({ type: "tool_use", id: `toolu_${i}`, name: call.name, input: call.arguments }));
  const answer = (content: object[], reason: string): JsonObject => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "fake",
    content: content as JsonObject[],
    stop_reason: reason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  return provider(
    "/v1/messages",
    (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
    (body, turn) => {
      checkAnthropicTools(listOf(body["tools"]));
      const messages = listOf(body["messages"]);
      checkResults(messages);
      if (turn === 1) return answer([{ type: "text", text: "Looking." }, ...uses], "tool_use");
      return answer([{ type: "text", text: JSON.stringify(messages.at(-1)!["content"]) }], "end_turn");
    },
  );
}

function checkAnthropicTools(tools: readonly JsonObject[]): void {
  require(tools.length > 0, "no tools");
  const names = tools.map((tool) => tool["name"]);
  require(new Set(names).size === names.length, "Tool names must be unique.");
  const strict = tools.filter((tool) => tool["strict"] === true).length;
  require(strict <= 20, `${strict} strict tools; at most 20 are taken`);
  for (const tool of tools) {
    const { name, input_schema: schema } = tool;
    require(typeof name === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(name), `tools: name ${String(name)} does not match '^[a-zA-Z0-9_-]{1,64}$'`);
    const extra = Object.keys(tool).filter((key) => !["name", "description", "input_schema", "strict", "type", "cache_control"].includes(key));
    require(extra.length === 0, `${name}: ${extra.join(", ")}: Extra inputs are not permitted`);
    const broken = isObject(schema)
      ? brokenRules(rulesOf("anthropic-strict", tool["strict"] === true), schema as JsonObject)
      : ["input_schema: Field required"];
    require(broken.length === 0, `tools.${name}.input_schema: ${broken.join("; ")}`);
  }
}

const RESULT_BLOCKS = new Set(["text", "image", "document", "search_result"]);

/** Every tool_use is answered by a tool_result in the next message, before any other block. */
function checkResults(messages: readonly JsonObject[]): void {
  for (const [i, message] of messages.entries()) {
    const uses = listOf(message["content"])
      .filter((block) => block["type"] === "tool_use")
      .map((block) => block["id"]);
    if (uses.length === 0) continue;
    const next = messages[i + 1];
    require(next?.["role"] === "user", "tool_use ids were found without tool_result blocks immediately after");
    const blocks = listOf(next["content"]);
    const results = blocks.slice(0, uses.length);
    require(results.every((block) => block["type"] === "tool_result") &&
      new Set(results.map((block) => block["tool_use_id"])).size === uses.length, "tool_result blocks must come first, one for each tool_use");
    for (const result of results) {
      require(uses.includes(result["tool_use_id"]!), `unexpected tool_use_id ${String(result["tool_use_id"])}`);
      const { content } = result;
      require(content === undefined ||
        (typeof content === "string" && content !== "") ||
        (Array.isArray(content) &&
          content.every((block) => RESULT_BLOCKS.has(String(own(block, "type"))))), "tool_result: content blocks of this type are not permitted");
    }
  }
}
