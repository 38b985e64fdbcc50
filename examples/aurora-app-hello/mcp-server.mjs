// The protocol side of the app: JSON-RPC lines in on stdin, out on stdout. Logs go to stderr, never to stdout.
// It needs nothing but Node. A larger app may use the `Server` class of @modelcontextprotocol/sdk in the same place.
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { ServiceError, greet, readConfig } from "./service.mjs";

const PACKAGE = "org.example.hello";
const VERSION = "0.1.0";
const PROTOCOLS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const config = readConfig(process.env.AURORA_APP_CONFIG ?? fileURLToPath(new URL("config.json", import.meta.url)));

const tools = [
  {
    name: `${PACKAGE}.greet`,
    title: "Greet",
    description: "Greet somebody by name.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "Who is greeted." },
        language: { type: "string", description: "Language code, for example en or zh." },
      },
      required: ["name"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        ok: { type: "boolean" },
        data: { type: "object", properties: { greeting: { type: "string" }, language: { type: "string" } } },
        error_code: { type: "string" },
        message: { type: "string" },
        retryable: { type: "boolean" },
      },
      required: ["ok"],
    },
    annotations: { readOnlyHint: true },
  },
];

const handlers = {
  [`${PACKAGE}.greet`](args) {
    const data = greet(args, config);
    // An event of the app's own; the host files it for the brain.
    notify("aurora/event", { type: "greeting.given", summary: `Greeted ${args.name}`, data });
    return { text: data.greeting, data };
  },
};

class RpcError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: PROTOCOLS.includes(protocolVersion) ? protocolVersion : PROTOCOLS[0],
    capabilities: { tools: {} },
    serverInfo: { name: PACKAGE, title: "Hello", version: VERSION },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": callTool,
};

function callTool({ name, arguments: args = {} }) {
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) throw new RpcError(-32602, `Unknown tool: ${name}`);
  checkArguments(tool.inputSchema, args);
  try {
    const { text, data } = handlers[tool.name](args);
    return result(text, { ok: true, data }, false);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return result(error.message, { ok: false, error_code: error.errorCode, message: error.message, retryable: error.retryable }, true);
  }
}

const result = (text, structuredContent, isError) => ({ content: [{ type: "text", text }], structuredContent, isError });

/** The part of JSON Schema that the tools above use. */
function checkArguments(schema, args) {
  if (typeof args !== "object" || args === null || Array.isArray(args)) throw new RpcError(-32602, "arguments must be an object");
  for (const key of schema.required) if (!Object.hasOwn(args, key)) throw new RpcError(-32602, `arguments.${key} is missing`);
  for (const [key, value] of Object.entries(args)) {
    if (!Object.hasOwn(schema.properties, key)) throw new RpcError(-32602, `arguments.${key} is not known`);
    if (typeof value !== schema.properties[key].type) throw new RpcError(-32602, `arguments.${key} must be a ${schema.properties[key].type}`);
  }
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const notify = (method, params) => send({ method, params });
const log = (text) => process.stderr.write(`${text}\n`);

function receive(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return send({ id: null, error: { code: -32700, message: "Not JSON" } });
  }
  // Notifications and answers have nothing to say to this server.
  if (message?.id === undefined || typeof message.method !== "string") return;
  try {
    if (!Object.hasOwn(methods, message.method)) throw new RpcError(-32601, `Unknown method: ${message.method}`);
    send({ id: message.id, result: methods[message.method](message.params ?? {}) });
  } catch (error) {
    if (!(error instanceof RpcError)) log(`${message.method} failed: ${error.stack}`);
    send({ id: message.id, error: { code: error.code ?? -32603, message: error instanceof RpcError ? error.message : "Internal error" } });
  }
}

log(`${PACKAGE} ${VERSION} is up`);
// The host closes stdin to end the app; with it the last thing that keeps this process alive is gone.
createInterface({ input: process.stdin }).on("line", receive);
