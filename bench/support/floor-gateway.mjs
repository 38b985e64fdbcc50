// The least an aggregator in plain Node can be, as the floor for the gateway: node:http on one side, JSON lines to the servers on
// the other, names with a prefix. No checks, no tokens, no policy, no audit, no streams. Arguments: how many echo servers.
// Sends its port to the parent process.
import http from "node:http";
import { BareStdioClient } from "./stdio-client.mjs";
import { ECHO_COMMAND } from "./workspace.mjs";

const servers = new Map();
const tools = [];
for (let i = 0; i < Number(process.argv[2]); i += 1) {
  const server = new BareStdioClient(ECHO_COMMAND);
  servers.set(`app${i}`, server);
  for (const tool of await server.connect()) tools.push({ ...tool, name: `app${i}_${tool.name}` });
}

function resultOf({ method, params }) {
  if (method === "initialize") return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "floor", version: "1.0.0" } };
  if (method === "tools/list") return { tools };
  const at = params.name.indexOf("_");
  return servers.get(params.name.slice(0, at)).request("tools/call", { ...params, name: params.name.slice(at + 1) });
}

const server = http.createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", async () => {
    const message = JSON.parse(Buffer.concat(chunks).toString());
    if (message.id === undefined) return response.writeHead(202).end();
    const body = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: await resultOf(message) });
    return response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body), "mcp-session-id": "one" }).end(body);
  });
});
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit(0));
