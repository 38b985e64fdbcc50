// A server with every tool, prompt and resource that the suite's server scenarios name. Over stdio, or with `--http` on a free
// loopback port, whose URL is then the first line of stdout.
import { randomUUID } from "node:crypto";
import http from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as mcp from "@modelcontextprotocol/sdk/types.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const NO_ARGUMENTS = { type: "object", properties: {} };

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const says = (text) => ({ content: [{ type: "text", text }] });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const embedded = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });
const oneText = (key) => ({ type: "object", properties: { [key]: { type: "string", description: `the ${key}` } }, required: [key] });
const titled = (...names) => names.map(([value, title]) => ({ const: value, title }));

async function askForm(extra, message, properties, required) {
  const requestedSchema = { type: "object", properties, ...(required ? { required } : {}) };
  const { action, content } = await extra.sendRequest({ method: "elicitation/create", params: { message, requestedSchema } }, mcp.ElicitResultSchema);
  return says(`action=${action} content=${JSON.stringify(content ?? {})}`);
}

/** Tools by name: input schema, and what a call does. */
const TOOLS = {
  test_simple_text: [NO_ARGUMENTS, () => says("This is a simple text response for testing.")],
  test_image_content: [NO_ARGUMENTS, () => ({ content: [image] })],
  test_audio_content: [NO_ARGUMENTS, () => ({ content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }] })],
  test_embedded_resource: [NO_ARGUMENTS, () => ({ content: [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")] })],
  test_multiple_content_types: [
    NO_ARGUMENTS,
    () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        image,
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
      ],
    }),
  ],
  test_tool_with_logging: [
    NO_ARGUMENTS,
    async (_args, extra) => {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await extra.sendNotification({ method: "notifications/message", params: { level: "info", data } });
        await pause(50);
      }
      return says("done, with three log messages");
    },
  ],
  test_tool_with_progress: [
    NO_ARGUMENTS,
    async (_args, extra) => {
      const progressToken = extra._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
        await pause(50);
      }
      return says("done, with three steps");
    },
  ],
  test_error_handling: [NO_ARGUMENTS, () => ({ ...says("This tool intentionally returns an error for testing"), isError: true })],
  test_sampling: [
    oneText("prompt"),
    async ({ prompt }, extra) => {
      const params = { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens: 100 };
      const answer = await extra.sendRequest({ method: "sampling/createMessage", params }, mcp.CreateMessageResultSchema);
      return says(`LLM response: ${answer.content.text}`);
    },
  ],
  test_elicitation: [
    oneText("message"),
    ({ message }, extra) =>
      askForm(
        extra,
        message,
        { username: { type: "string", description: "User's response" }, email: { type: "string", description: "User's email address" } },
        ["username", "email"],
      ),
  ],
  test_elicitation_sep1034_defaults: [
    NO_ARGUMENTS,
    (_args, extra) =>
      askForm(extra, "Please review and update the form fields with defaults", {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      }),
  ],
  test_elicitation_sep1330_enums: [
    NO_ARGUMENTS,
    (_args, extra) =>
      askForm(extra, "Please select options from the enum fields", {
        untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
        titledSingle: { type: "string", oneOf: titled(["value1", "First Option"], ["value2", "Second Option"], ["value3", "Third Option"]) },
        legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
        untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
        titledMulti: { type: "array", items: { anyOf: titled(["value1", "First Choice"], ["value2", "Second Choice"], ["value3", "Third Choice"]) } },
      }),
  ],
  test_reconnection: [
    NO_ARGUMENTS,
    async (_args, extra) => {
      await pause(100);
      extra.closeSSEStream?.();
      await pause(300);
      return says("Reconnection test completed successfully.");
    },
  ],
  json_schema_2020_12_tool: [
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    (args) => says(JSON.stringify(args)),
  ],
};

const userSays = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });

/** Prompts by name: names of arguments, and the messages. */
const PROMPTS = {
  test_simple_prompt: [[], () => userSays({ type: "text", text: "This is a simple prompt for testing." })],
  test_prompt_with_arguments: [["arg1", "arg2"], ({ arg1, arg2 }) => userSays({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
  test_prompt_with_embedded_resource: [
    ["resourceUri"],
    ({ resourceUri }) =>
      userSays(embedded(resourceUri, "text/plain", "Embedded resource content for testing."), {
        type: "text",
        text: "Please process the embedded resource above.",
      }),
  ],
  test_prompt_with_image: [[], () => userSays(image, { type: "text", text: "Please analyze the image above." })],
};

/** Resources by URI. */
const RESOURCES = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PIXEL },
  "test://watched-resource": { mimeType: "text/plain", text: "This resource is watched." },
};

function readResource(uri) {
  if (Object.hasOwn(RESOURCES, uri)) return { contents: [{ uri, ...RESOURCES[uri] }] };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) throw new mcp.McpError(-32002, "Resource not found", { uri });
  return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }] };
}

function own(table, name, kind) {
  if (!Object.hasOwn(table, name)) throw new mcp.McpError(mcp.ErrorCode.InvalidParams, `there is no ${kind} ${name}`);
  return table[name][1];
}

function makeServer() {
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    logging: {},
    completions: {},
  };
  const server = new Server({ name: "conformance-fixture", version: "1.0.0" }, { capabilities });
  server.setRequestHandler(mcp.ListToolsRequestSchema, () => ({
    tools: Object.entries(TOOLS).map(([name, [inputSchema]]) => ({ name, description: `Fixture of ${name}`, inputSchema })),
  }));
  server.setRequestHandler(mcp.CallToolRequestSchema, ({ params }, extra) => own(TOOLS, params.name, "tool")(params.arguments ?? {}, extra));
  server.setRequestHandler(mcp.ListPromptsRequestSchema, () => ({
    prompts: Object.entries(PROMPTS).map(([name, [args]]) => ({
      name,
      description: `Fixture of ${name}`,
      arguments: args.map((arg) => ({ name: arg, description: `the ${arg}`, required: true })),
    })),
  }));
  server.setRequestHandler(mcp.GetPromptRequestSchema, ({ params }) => own(PROMPTS, params.name, "prompt")(params.arguments ?? {}));
  server.setRequestHandler(mcp.ListResourcesRequestSchema, () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri.replace("test://", ""), description: `Fixture of ${uri}`, mimeType })),
  }));
  server.setRequestHandler(mcp.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", description: "Fixture of a template", mimeType: "application/json" }],
  }));
  server.setRequestHandler(mcp.ReadResourceRequestSchema, ({ params }) => readResource(params.uri));
  for (const schema of [mcp.SubscribeRequestSchema, mcp.UnsubscribeRequestSchema, mcp.SetLevelRequestSchema]) server.setRequestHandler(schema, () => ({}));
  server.setRequestHandler(mcp.CompleteRequestSchema, () => ({ completion: { values: [], total: 0, hasMore: false } }));
  return server;
}

/** One server for each session, as long as the session lives. */
function serveHttp() {
  const sessions = new Map();
  const listener = http.createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    let transport = sessions.get(id);
    if (transport === undefined) {
      if (id !== undefined) return response.writeHead(404).end();
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (made) => sessions.set(made, transport),
        onsessionclosed: (gone) => sessions.delete(gone),
      });
      await makeServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  listener.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${listener.address().port}/mcp\n`));
}

if (process.argv.includes("--http")) serveHttp();
else await makeServer().connect(new StdioServerTransport());
