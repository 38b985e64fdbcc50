// An MCP server over stdio for the agent's scenarios, from its one argument, JSON:
//   { name, log, instructions?, tools, toolsLater?, answers: { TOOL: text | { error: text } }, prompts?, promptText? }
// Every tools/call is written as a line to `log` before it is answered. With `toolsLater` the first call changes the list.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const config = JSON.parse(process.argv[2]);
let tools = config.tools;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => [{ type: "text", text: value }];

function answer(name, args) {
  const given = config.answers?.[name] ?? `${name} done: ${JSON.stringify(args)}`;
  return typeof given === "string" ? { content: text(given) } : { isError: true, content: text(given.error) };
}

const methods = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: { listChanged: true }, ...(config.prompts ? { prompts: {} } : {}) },
    serverInfo: { name: config.name, version: "1" },
    ...(config.instructions ? { instructions: config.instructions } : {}),
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: tools.map((tool) => ({ inputSchema: { type: "object" }, ...tool })) }),
  "prompts/list": () => ({ prompts: config.prompts ?? [] }),
  "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: config.promptText ?? "" } }] }),
  "tools/call": ({ name, arguments: args }) => {
    appendFileSync(config.log, `${JSON.stringify({ server: config.name, tool: name, args: args ?? {} })}\n`);
    if (config.toolsLater && tools !== config.toolsLater) {
      tools = config.toolsLater;
      send({ method: "notifications/tools/list_changed" });
    }
    return answer(name, args ?? {});
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (handle) send({ id, result: handle(params) });
  else send({ id, error: { code: -32601, message: "no such method" } });
});
