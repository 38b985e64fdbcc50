// Tools of a running host in a chat loop with the `openai` client. The model is played by a small local server, so that
// this runs without an account: set OPENAI_BASE_URL and OPENAI_API_KEY to talk to a real one.
// Run it from the repository, while `aurora-mcp up` runs: node examples/openai-loop.mjs
import { readFile } from "node:fs/promises";
import http from "node:http";
import OpenAI from "openai";

const dataDir = process.env.AURORA_DATA ?? "data";
const host = JSON.parse(await readFile(`${dataDir}/run/host.json`, "utf8"));
const token = (await readFile(`${dataDir}/run/caller.token`, "utf8")).trim();
const api = async (path, body) => {
  const response = await fetch(`${host.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};

const model = process.env.OPENAI_BASE_URL === undefined ? await playModel() : null;
const openai = new OpenAI(model === null ? {} : { baseURL: model.url, apiKey: "none" });

const tools = await api("/api/tools?format=openai");
const messages = [{ role: "user", content: "What time is it in Shanghai?" }];
for (let turn = 0; turn < 5; turn += 1) {
  const { choices } = await openai.chat.completions.create({ model: process.env.OPENAI_MODEL ?? "played", messages, tools });
  const { message } = choices[0];
  messages.push(message);
  if (!message.tool_calls?.length) break;
  // Policy, approvals and audit happen in the host; exactly one tool message comes back for every call.
  const ran = await api("/api/tool-calls", { tool_calls: message.tool_calls, session: "example", turn: String(turn) });
  messages.push(...ran.messages);
}
for (const message of messages) console.log(`${message.role}: ${message.content ?? message.tool_calls.map((call) => `${call.function.name}(${call.function.arguments})`).join(", ")}`);
model?.server.close();

/** A model that asks for the time once, and then repeats what the tool said. */
async function playModel() {
  const server = http.createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { messages: said, tools: offered } = JSON.parse(text);
    const last = said.at(-1);
    const tool = offered.find(({ function: f }) => f.name.endsWith("get_time"));
    const message =
      last.role === "tool" || tool === undefined
        ? { role: "assistant", content: `The tool says: ${last.content}` }
        : { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: tool.function.name, arguments: '{"timezone":"Asia/Shanghai"}' } }] };
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ id: "1", object: "chat.completion", created: 0, model: "played", choices: [{ index: 0, finish_reason: message.tool_calls ? "tool_calls" : "stop", message }] }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/v1` };
}
