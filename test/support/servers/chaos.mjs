// A raw MCP server over stdio for the chaos test: `echo` gives its arguments back after a short while; `act` makes it misbehave in the way that its argument names.
import { createInterface } from "node:readline";

process.stdout.on("error", () => {});
const line = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (id, value) => line({ id, result: { content: [{ type: "text", text: value }] } });
const changed = { method: "notifications/tools/list_changed" };
let more = 0;

const acts = {
  die: () => process.exit(3),
  abort: () => process.abort(),
  hang: () => void (deaf = true),
  spin: () => {
    for (const end = Date.now() + 1500; Date.now() < end;);
  },
  stderr: () => process.stderr.write("noise on stderr \u001b[31m\r".repeat(20_000)),
  logs: () => {
    for (let i = 0; i < 2_000; i += 1) line({ method: "notifications/message", params: { level: "error", data: `trouble ${i}` } });
  },
  changes: () => {
    more = (more + 1) % 5;
    for (let i = 0; i < 200; i += 1) line(changed);
  },
  garbage: () =>
    process.stdout.write(
      `}{\nnull\n{"jsonrpc":"2.0"}\n\u0000\u0001\n[1,2\n{"jsonrpc":"2.0","id":"x","result":{}}\n{"jsonrpc":"2.0","id":99999999,"result":{}}\n${"y".repeat(100_000)}\n`,
    ),
  bytes: () => process.stdout.write(Buffer.concat([Buffer.from([0xc7, 0xd1, 0xff, 0xfe]), Buffer.from("\n")])),
  huge: () => process.stdout.write(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${"z".repeat(3_000_000)}"}]}}\n`),
  half: () => process.stdout.write('{"jsonrpc":"2.0","id":5,"result":'),
  twice: () => {
    for (let id = 0; id < 50; id += 1) line({ id, result: { content: [{ type: "text", text: "not yours" }] } });
  },
  grandchild: async () =>
    void (await import("node:child_process")).spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", ...process.argv.slice(2)], { stdio: "inherit" }),
};
let deaf = false;

createInterface({ input: process.stdin }).on("line", (written) => {
  const { id, method, params } = JSON.parse(written);
  if (deaf || id === undefined) return;
  if (method === "initialize")
    return line({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true }, logging: {} },
        serverInfo: { name: "chaos", version: "1" },
      },
    });
  if (method === "ping") return line({ id, result: {} });
  if (method === "tools/list")
    return line({
      id,
      result: { tools: ["echo", "act", ...Array.from({ length: more }, (_, i) => `more${i}`)].map((name) => ({ name, inputSchema: { type: "object" } })) },
    });
  if (method !== "tools/call") return line({ id, error: { code: -32601, message: "Method not found" } });
  if (params.name === "echo") return void setTimeout(() => text(id, JSON.stringify(params.arguments)), 5);
  acts[params.arguments.how]();
  text(id, "done");
});
