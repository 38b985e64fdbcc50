import { isObject, own, type JsonObject } from "../base/json.ts";
import { startSpan, type TraceSpan } from "../base/tracing.ts";
import type { RpcId } from "./gateway-rpc.ts";

/** Longest name of a method or tool that a span is given; clients choose them. */
const MAX_NAME = 128;

/** Begins the span of a gateway client's request, by the MCP conventions of OpenTelemetry; null where nobody traces. */
export function startRequestSpan(
  id: RpcId,
  method: string,
  params: JsonObject,
  parent: JsonObject,
  client: { readonly session: string; readonly protocol: string; readonly transport: "tcp" | "pipe" },
): TraceSpan | null {
  const name = method === "tools/call" || method === "prompts/get" ? own(params, "name") : undefined;
  const called = typeof name === "string" ? name.slice(0, MAX_NAME) : null;
  const shown = method.slice(0, MAX_NAME);
  const span = startSpan(called === null ? shown : `${shown} ${called}`, "server", parent, {
    "mcp.method.name": shown,
    "mcp.session.id": client.session,
    "mcp.protocol.version": client.protocol,
    "network.transport": client.transport,
    "jsonrpc.request.id": String(id),
    ...(called === null
      ? {}
      : method === "tools/call"
        ? { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": called }
        : { "gen_ai.prompt.name": called }),
  });
  return span.meta["traceparent"] === undefined ? null : span;
}

/** The error of a response for a span: the kit's code, `tool_error` for an app's own failure, the JSON-RPC code, `cancelled` for no response; null for success. */
export function faultOf(response: JsonObject | null): string | null {
  if (response === null) return "cancelled";
  const error = own(response, "error");
  if (isObject(error)) {
    const data = own(error, "data");
    return String((isObject(data) ? own(data, "error_code") : undefined) ?? own(error, "code"));
  }
  const result = own(response, "result");
  if (!isObject(result) || own(result, "isError") !== true) return null;
  const meta = own(result, "_meta");
  const body = isObject(meta) ? own(meta, "aurora/error") : undefined;
  return isObject(body) ? String(own(body, "error_code")) : "tool_error";
}
