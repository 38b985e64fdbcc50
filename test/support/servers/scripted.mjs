// A raw MCP server over stdio that does what its one argument, a JSON script, says. Nothing of any SDK is in the way, so it can misbehave in every way.
//
//   { "ignoreTerm": true, "ignoreEof": true, "hello": {…members of the initialize result…},
//     "on": { "start": [actions], "tools/list": [actions], "tools/list#2": [actions of the second such request and later ones], "tools/call NAME": [actions of one tool] } }
//
// Actions run in order: {result} {error} {raw} {hex} {stdout,repeat} {stderr,repeat} {notify} {request} {delay} {exit} {kill} {closeStdout} {closeStdin} {silent} {requireFile} (exit code 9 without it) {showFile} (a file's content as the result's text) {resultFile} (a JSON file as the result) {mirror} (the arguments as structuredContent, as they were written); "$id" stands for the request's id,
// "$token" for its progress token, "$cursor" for its cursor.
// `bytewise` beside {result} flushes byte by byte. Without a script for a method it behaves well: two tools, echo and journal; journal gives everything received so far.
import { closeSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const script = JSON.parse(process.argv[2] ?? "{}");
const on = script.on ?? {};
const counts = new Map();
const journal = [];
if (script.ignoreTerm) for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
process.stdout.on("error", () => {});

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const write = (data) => new Promise((resolve) => process.stdout.write(data, () => resolve()));
const line = (message) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function fill(value, request) {
  if (value === "$id") return request.id;
  if (value === "$token") return request.params?._meta?.progressToken;
  if (value === "$cursor") return request.params?.cursor;
  if (Array.isArray(value)) return value.map((item) => fill(item, request));
  if (typeof value === "object" && value !== null) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, request)]));
  return value;
}

async function run(actions, request, text = "") {
  for (const action of actions) {
    if (action.delay !== undefined) await sleep(action.delay);
    if (action.stderr !== undefined) process.stderr.write(action.stderr.repeat(action.repeat ?? 1));
    if (action.stdout !== undefined) await write(action.stdout.repeat(action.repeat ?? 1));
    if (action.raw !== undefined) await write(action.raw.replaceAll("$id", String(request.id)));
    if (action.hex !== undefined) await write(Buffer.from(action.hex, "hex"));
    if (action.notify !== undefined) for (let i = 0; i < (action.repeat ?? 1); i += 1) await line(fill(action.notify, request));
    if (action.request !== undefined) await line(action.request);
    if (action.error !== undefined) await line({ id: request.id, error: fill(action.error, request) });
    if (action.result !== undefined) {
      const text = `${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: fill(action.result, request) })}\n`;
      if (action.bytewise) for (const byte of Buffer.from(text)) await write(Buffer.from([byte]));
      else await write(text);
    }
    if (action.showFile !== undefined) await line({ id: request.id, result: { content: [{ type: "text", text: readFileSync(action.showFile, "utf8") }] } });
    if (action.resultFile !== undefined) await line({ id: request.id, result: JSON.parse(readFileSync(action.resultFile, "utf8")) });
    if (action.mirror)
      await write(`{"jsonrpc":"2.0","id":${request.id},"result":{"content":[],"structuredContent":${/"arguments":(\{.*\}),"_meta"/.exec(text)[1]}}}\n`);
    if (action.closeStdout) closeSync(1);
    if (action.closeStdin) closeSync(0);
    if (action.requireFile !== undefined && !existsSync(action.requireFile)) process.exit(9);
    if (action.exit !== undefined) process.exit(action.exit);
    if (action.kill !== undefined) process.kill(process.pid, action.kill);
  }
}

const tools = [
  { name: "echo", description: "Gives its arguments back.", inputSchema: { type: "object" } },
  { name: "journal", description: "Everything received so far.", inputSchema: { type: "object" } },
];

async function behave(request) {
  const { id, method, params } = request;
  if (id === undefined) return;
  switch (method) {
    case "initialize":
      return await line({
        id,
        result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "scripted", version: "1" }, ...script.hello },
      });
    case "ping":
      return await line({ id, result: {} });
    case "tools/list":
      return await line({ id, result: { tools } });
    case "tools/call": {
      const value = params.name === "journal" ? journal : params.name === "env" ? process.env : (params.arguments ?? {});
      return await line({ id, result: { content: [{ type: "text", text: JSON.stringify(value) }] } });
    }
    default:
      return await line({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  }
}

if (on.start) await run(on.start, {});
const input = createInterface({ input: process.stdin });
input.on("line", (text) => {
  const request = JSON.parse(text);
  journal.push(request);
  if (typeof request.method !== "string") return;
  const count = (counts.get(request.method) ?? 0) + 1;
  counts.set(request.method, count);
  let actions = (request.method === "tools/call" ? on[`tools/call ${request.params?.name}`] : undefined) ?? on[request.method];
  for (let n = 2; n <= count; n += 1) actions = on[`${request.method}#${n}`] ?? actions;
  // The journal stays readable whatever else tools/call is told to do.
  if (actions === undefined || (request.method === "tools/call" && request.params?.name === "journal")) void behave(request);
  else void run(actions, request, text);
});
if (script.ignoreEof) setInterval(() => {}, 1000);
