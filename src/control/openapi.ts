import type { JsonObject } from "../base/json.ts";
import { setOwn } from "../base/json.ts";
import type { Route } from "./route.ts";

const ERROR_SCHEMA: JsonObject = {
  type: "object",
  required: ["ok", "error_code", "message", "retryable", "source"],
  properties: {
    ok: { const: false },
    error_code: { type: "string" },
    message: { type: "string" },
    retryable: { type: "boolean" },
    source: { enum: ["kit", "app"] },
    details: {},
  },
};

const RPC_ERROR_SCHEMA: JsonObject = {
  type: "object",
  required: ["jsonrpc", "id", "error"],
  properties: {
    jsonrpc: { const: "2.0" },
    id: { type: ["string", "number", "null"] },
    error: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "integer" }, message: { type: "string" }, data: { $ref: "#/components/schemas/Error" } },
    },
  },
};

const ROLE_TEXT = { public: "No token.", caller: "Caller or operator token.", operator: "Operator token." } as const;

/** The OpenAPI 3.1 document of a route table. Equal tables give equal documents. */
export function openApiDocument(routes: readonly Route[], version: string): JsonObject {
  const paths: JsonObject = {};
  for (const route of [...routes].sort((a, b) => (a.path === b.path ? (a.method < b.method ? -1 : 1) : a.path < b.path ? -1 : 1))) {
    const item = (Object.hasOwn(paths, route.path) ? paths[route.path] : {}) as JsonObject;
    item[route.method.toLowerCase()] = operation(route);
    setOwn(paths, route.path, item);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Aurora MCP Kit control API", version, license: { name: "MIT", identifier: "MIT" } },
    tags: [...new Set(routes.map((route) => route.group))].sort().map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "data/run/caller.token, data/run/operator.token, or a named client's token." } },
      schemas: { Error: ERROR_SCHEMA, RpcError: RPC_ERROR_SCHEMA },
    },
  };
}

function operation(route: Route): JsonObject {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => ({ name: match[1]!, in: "path", required: true, schema: { type: "string" } }));
  const inQuery = (route.query ?? []).map((q) => ({
    name: q.name,
    in: "query",
    required: q.required ?? false,
    description: q.description,
    schema: { type: "string", ...(q.values ? { enum: [...q.values] } : {}) },
  }));
  return {
    tags: [route.group],
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[^A-Za-z0-9]+(.)?/g, (_all, next: string | undefined) => next?.toUpperCase() ?? "")}`,
    summary: route.summary,
    description: ROLE_TEXT[route.role],
    security: route.role === "public" ? [] : [{ token: [] }],
    ...(inPath.length + inQuery.length > 0 ? { parameters: [...inPath, ...inQuery] } : {}),
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: { "application/json": { schema: route.body } } } }),
    responses: {
      "200": { description: route.answer.description, content: { [route.answer.type]: { schema: route.answer.schema ?? {} } } },
      default: {
        description: "Any refusal or fault.",
        content: { "application/json": { schema: { $ref: `#/components/schemas/${route.rpc ? "RpcError" : "Error"}` } } },
      },
    },
  };
}
