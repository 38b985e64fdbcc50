import type { Kit } from "../kit-api.ts";
import { jsonAnswer } from "./input.ts";
import type { Metrics } from "./metrics.ts";
import { openApiDocument } from "./openapi.ts";
import type { RequestContext, Route } from "./route.ts";
import { appRoutes } from "./routes-apps.ts";
import { eventRoutes } from "./routes-events.ts";
import { healthRoutes } from "./routes-health.ts";
import { operatorRoutes } from "./routes-operator.ts";
import { resourceRoutes } from "./routes-resources.ts";
import { toolRoutes } from "./routes-tools.ts";

/** The aggregate MCP server as the route table needs it; it writes the answers itself. */
export interface McpEndpoint {
  handle(context: Pick<RequestContext, "req" | "res" | "body" | "principal" | "closing">): Promise<undefined> | undefined;
}

export interface RouteOptions {
  readonly kit: Kit;
  readonly mcp: McpEndpoint;
  readonly metrics: Metrics;
  /** Version of the kit, for the OpenAPI document. */
  readonly version: string;
  /** More rows, such as the web page. */
  readonly extra?: readonly Route[];
}

/** The whole route table of a host (contracts 11). */
export function createRoutes(options: RouteOptions): Route[] {
  const { kit, metrics } = options;
  const routes: Route[] = [
    ...toolRoutes(kit),
    ...appRoutes(kit),
    ...resourceRoutes(kit),
    ...operatorRoutes(kit),
    ...eventRoutes(kit),
    ...healthRoutes(kit),
    {
      method: "GET",
      path: "/metrics",
      role: "caller",
      group: "health",
      summary: "Prometheus metrics.",
      answer: { type: "text/plain", description: "Prometheus text format 0.0.4." },
      handle: async () => ({ text: await metrics.text(), type: metrics.contentType }),
    },
    ...mcpRoutes(options.mcp),
    ...(options.extra ?? []),
  ];
  const document = (): string => JSON.stringify(openApiDocument(routes, options.version), null, 2);
  routes.push({
    method: "GET",
    path: "/openapi.json",
    role: "public",
    group: "health",
    summary: "This API as an OpenAPI 3.1 document.",
    answer: jsonAnswer("The document."),
    handle: () => ({ text: document(), type: "application/json" }),
  });
  return routes;
}

function mcpRoutes(mcp: McpEndpoint): Route[] {
  const row = (method: Route["method"], summary: string, body?: Route["body"]): Route => ({
    method,
    path: "/mcp",
    role: "caller",
    group: "mcp",
    rpc: true,
    summary,
    ...(body ? { body } : {}),
    answer: { type: method === "GET" ? "text/event-stream" : "application/json", description: "MCP Streamable HTTP, revision 2025-11-25." },
    handle: (context) => mcp.handle(context),
  });
  return [
    row("POST", "One JSON-RPC message of the aggregate MCP server; the answer is JSON, or an event stream where something streams.", { type: "object" }),
    row("GET", "The event stream of an MCP session."),
    row("DELETE", "Ends an MCP session."),
  ];
}
