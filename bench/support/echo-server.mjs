// An MCP server over stdio without any SDK, so that whoever calls it is what is measured.
// ECHO_EXTRA=name adds a tool of that name.
const object = (properties) => ({ type: "object", properties, required: Object.keys(properties) });
const TOOLS = [
  { name: "echo", description: "Gives the text back.", inputSchema: object({ text: { type: "string" } }) },
  { name: "blob", description: "Gives a text of so many bytes.", inputSchema: object({ bytes: { type: "integer" } }) },
];
if (process.env.ECHO_EXTRA) TOOLS.push({ name: process.env.ECHO_EXTRA, description: "One more tool.", inputSchema: object({}) });

const text = (value) => ({ content: [{ type: "text", text: value }] });

const METHODS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "bench-echo", version: "1.0.0" } }),
  ping: () => ({}),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": ({ name, arguments: args }) => text(name === "blob" ? "x".repeat(args.bytes) : String(args.text)),
};

function answer(line) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const found = METHODS[method];
  process.stdout.write(
    `${JSON.stringify(found ? { jsonrpc: "2.0", id, result: found(params ?? {}) } : { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } })}\n`,
  );
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) if (line !== "") answer(line);
});
process.stdin.on("end", () => process.exit(0));
