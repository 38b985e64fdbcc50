import { isObject, type JsonObject } from "../base/json.ts";
import { traceHeaders } from "../base/tracing.ts";
import type { CallOptions, CallResult, ExportFormat, Kit, ToolRow } from "../kit-api.ts";
import { HttpError } from "./http-errors.ts";
import { bodyOf, choiceOf, countOf, jsonAnswer, queryOf, textOf } from "./input.ts";
import type { RequestContext, Route } from "./route.ts";

const FORMATS: readonly ExportFormat[] = [
  "openai",
  "openai-responses",
  "openai-strict",
  "anthropic",
  "anthropic-strict",
  "gemini",
  "gemini-legacy",
  "litellm",
  "mcp",
  "text",
];

const MODES = ["all", "search"] as const;

const CONTEXT_MEMBERS = {
  session: { type: "string", minLength: 1, maxLength: 256, description: "Conversation; data-flow marks and approvals belong to it. Default `default`." },
  turn: { type: "string", minLength: 1, maxLength: 256, description: "Turn of the conversation; late results of an ended turn are discarded." },
  approval_id: { type: "string", minLength: 1, maxLength: 256, description: "An approval that a person gave for exactly this call." },
  wait_ms: { type: "integer", minimum: 0, maximum: 600_000, description: "How long to wait for a person; default is the policy's approvals.wait." },
} satisfies JsonObject;

const CALL_BODY: JsonObject = {
  type: "object",
  required: ["tool"],
  additionalProperties: false,
  properties: {
    tool: { type: "string", minLength: 1, maxLength: 512, description: "Full name, short name, or the server's own name where it is unambiguous." },
    arguments: { description: "The tool's arguments; an object, or the JSON text of one." },
    ...CONTEXT_MEMBERS,
  },
};

const TOOL_CALLS_BODY: JsonObject = {
  type: "object",
  required: ["tool_calls"],
  additionalProperties: false,
  properties: {
    tool_calls: {
      type: "array",
      maxItems: 256,
      items: { type: "object" },
      description: "Tool calls of one model answer, as OpenAI (Chat or Responses), Anthropic or Gemini gives them.",
    },
    ...CONTEXT_MEMBERS,
  },
};

const END_TURN_BODY: JsonObject = {
  type: "object",
  required: ["session", "turn"],
  additionalProperties: false,
  properties: { session: CONTEXT_MEMBERS.session, turn: CONTEXT_MEMBERS.turn },
};

/** Options of a call as a request gives them. */
export function callOptions(context: RequestContext, body: JsonObject): CallOptions {
  const session = textOf(body, "session");
  const turn = textOf(body, "turn");
  const approvalId = textOf(body, "approval_id");
  const waitMs = body["wait_ms"];
  const meta = traceHeaders(context.req.headers);
  return {
    client: context.principal.client,
    signal: context.signal,
    ...(session === undefined ? {} : { session }),
    ...(turn === undefined ? {} : { turn }),
    ...(approvalId === undefined ? {} : { approvalId }),
    ...(typeof waitMs === "number" ? { waitMs } : {}),
    ...(Object.keys(meta).length > 0 ? { meta } : {}),
  };
}

/** The `call --json` shape (contracts 10). */
function callToJson(result: CallResult): JsonObject {
  return {
    outcome: result.outcome,
    ok: result.ok,
    result: result.result,
    error: result.error ? { ...result.error } : null,
    duration_ms: result.durationMs,
    call_id: result.callId,
    tool: result.tool ? { ...result.tool } : null,
    risk: result.risk,
    notes: [...result.notes],
  };
}

/** Tools for the LLM layer: schemas out, calls in. */
export function toolRoutes(kit: Kit): Route[] {
  return [
    {
      method: "GET",
      path: "/api/tools",
      role: "caller",
      group: "tools",
      summary: "Tool schemas for a provider. ETag is the catalogue's digest; If-None-Match gives 304.",
      query: [
        { name: "format", description: "Provider form; default openai.", values: FORMATS },
        { name: "max_name", description: "Longest tool name that the provider takes." },
        { name: "max_tools", description: "Most tools that the provider takes." },
        { name: "mode", description: "search: only search_tools and call_tool, through which a model reaches all the others; default all.", values: MODES },
      ],
      answer: jsonAnswer("JSON array in the provider's form; for format=text a text.", { type: "array", items: { type: "object" } }),
      handle: (context) => exportTools(kit, context),
    },
    {
      method: "POST",
      path: "/api/tool-calls",
      role: "caller",
      group: "tools",
      summary: "Runs the tool calls of one model answer: one tool message per call, in order, in the same provider's form. Disconnecting cancels.",
      body: TOOL_CALLS_BODY,
      answer: jsonAnswer("Tool messages, as many as calls.", { type: "object", properties: { messages: { type: "array", items: { type: "object" } } } }),
      async handle(context) {
        const body = bodyOf(TOOL_CALLS_BODY, context.body);
        const messages = await kit.executeToolCalls(body["tool_calls"] as JsonObject[], callOptions(context, body));
        return { json: { messages } };
      },
    },
    {
      method: "POST",
      path: "/api/end-turn",
      role: "caller",
      group: "tools",
      summary: "Ends a turn: results that are still on their way are discarded.",
      body: END_TURN_BODY,
      answer: jsonAnswer("{ ok: true }"),
      handle(context) {
        const body = bodyOf(END_TURN_BODY, context.body);
        kit.endTurn(textOf(body, "session")!, textOf(body, "turn")!, context.principal.client);
        return { json: { ok: true } };
      },
    },
    {
      method: "POST",
      path: "/api/call",
      role: "caller",
      group: "tools",
      summary: "Calls one tool. The answer is 200 whatever became of the call; outcome and error say it. Disconnecting cancels.",
      body: CALL_BODY,
      answer: jsonAnswer("{ outcome, ok, result, error, duration_ms, call_id, … }"),
      async handle(context) {
        const body = bodyOf(CALL_BODY, context.body);
        const result = await kit.callTool(textOf(body, "tool")!, body["arguments"] ?? {}, callOptions(context, body));
        return { json: callToJson(result) };
      },
    },
    {
      method: "GET",
      path: "/api/catalog",
      role: "caller",
      group: "tools",
      summary: "The tools as rows, with risk, action, state and token cost. Callers see only what they may call.",
      answer: jsonAnswer("Array of rows as in `tools list --json`.", { type: "array", items: { type: "object" } }),
      handle: (context) => ({ json: visibleRows(kit, context) }),
    },
    {
      method: "GET",
      path: "/api/schemas",
      role: "operator",
      group: "tools",
      summary: "One tool in every provider's form, with cost and with what was changed; also of tools that are not offered.",
      query: [{ name: "tool", description: "Full name of the tool.", required: true }],
      answer: jsonAnswer("{ tool, definition, targets: [{ format, schema, tokens, strict, changes, reason }] }"),
      handle: (context) => ({ json: kit.toolSchemas(queryOf(context, "tool")) }),
    },
    {
      method: "GET",
      path: "/api/explain",
      role: "operator",
      group: "tools",
      summary: "What the policy says of a tool or call: risk, deciding rule, pins, marks, limits.",
      query: [
        { name: "tool", description: "Name of the tool.", required: true },
        { name: "args", description: "JSON object of arguments." },
        { name: "session", description: "Conversation whose marks count." },
        { name: "client", description: "Caller whose rules count." },
      ],
      answer: jsonAnswer("The explanation."),
      handle(context) {
        const session = context.query.get("session");
        const client = context.query.get("client");
        const args = argsOf(context);
        return { json: kit.explain(queryOf(context, "tool"), { ...(args ? { args } : {}), ...(session ? { session } : {}), ...(client ? { client } : {}) }) };
      },
    },
  ];
}

function argsOf(context: RequestContext): JsonObject | undefined {
  const text = context.query.get("args");
  if (text === null) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value as JsonObject;
  } catch {
    // Not JSON: refused below like any other text that is no object.
  }
  throw new HttpError("BAD_REQUEST", "args must be the JSON text of an object");
}

function exportTools(kit: Kit, context: RequestContext): ReturnType<Route["handle"]> {
  const maxName = countOf(context, "max_name");
  const maxTools = countOf(context, "max_tools");
  const exported = kit.tools(choiceOf(context, "format", FORMATS), {
    client: context.principal.client,
    mode: choiceOf(context, "mode", MODES),
    ...(maxName ? { maxName } : {}),
    ...(maxTools ? { maxTools } : {}),
  });
  const etag = `"${exported.etag.replace(/^W\//, "").replaceAll('"', "")}"`;
  const headers = { ETag: etag, "Cache-Control": "private, no-cache" };
  const known = (context.req.headers["if-none-match"] ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(etag) || known.includes("*")) return { status: 304, headers };
  return { text: exported.text, type: exported.format === "text" ? "text/plain; charset=utf-8" : "application/json", headers };
}

/** An operator sees every row; a caller only what is offered to it: texts of tools that nobody accepted stay away from models. */
function visibleRows(kit: Kit, context: RequestContext): ToolRow[] {
  const rows = kit.toolRows();
  if (context.principal.role === "operator") return rows;
  return rows.filter((row) => (row.state === "exposed" || row.state === "unavailable") && context.principal.sees(row.app, row.tool));
}
