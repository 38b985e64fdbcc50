// A stand-in for the OpenAI Chat API on this machine: it refuses what the real one is known to refuse, and plays a model that
// asks for two tools at once and then says what they said.
import http from "node:http";

/** Starts it at any free port. `requests` grows with every request that was accepted. */
export async function startFakeOpenAI() {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    const reply = (status, body) => response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    let text = "";
    for await (const chunk of request) text += chunk;
    try {
      const body = readRequest(request, text);
      requests.push(body);
      reply(200, { id: `chatcmpl-${requests.length}`, object: "chat.completion", created: 0, model: body.model, choices: [answer(body, requests.length)] });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reply(error.status, { error: { message: error.message, type: "invalid_request_error", param: error.param, code: null } });
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}/v1`, requests, close };
}

class Refusal extends Error {
  constructor(param, message, status = 400) {
    super(message);
    this.param = param;
    this.status = status;
  }
}

function must(holds, param, message) {
  if (!holds) throw new Refusal(param, `${param}: ${message}`);
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function readRequest(request, text) {
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") throw new Refusal("url", "there is only POST /v1/chat/completions", 404);
  if (!/^Bearer \S+$/.test(request.headers.authorization ?? "")) throw new Refusal("authorization", "an API key is needed", 401);
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refusal("body", "the body is not JSON");
  }
  must(typeof body.model === "string" && body.model !== "", "model", "a name is needed");
  if (body.tools !== undefined) checkTools(body.tools);
  checkMessages(body.messages);
  return body;
}

function checkTools(tools) {
  must(Array.isArray(tools) && tools.length > 0 && tools.length <= 128, "tools", "1 to 128 tools are taken");
  const names = new Set();
  for (const [index, tool] of tools.entries()) {
    const at = `tools[${index}].function`;
    must(tool.type === "function" && isObject(tool.function), at, "a tool has the type function");
    const { name, description, parameters, strict, ...more } = tool.function;
    must(Object.keys(more).length === 0, at, `unknown members ${Object.keys(more).join(", ")}`);
    must(/^[a-zA-Z0-9_-]{1,64}$/.test(name), `${at}.name`, `${JSON.stringify(name)} is no legal name`);
    must(!names.has(name), `${at}.name`, `${name} is there twice`);
    names.add(name);
    must(description === undefined || (typeof description === "string" && description.length <= 1024), `${at}.description`, "a text of at most 1024 characters");
    must(strict === undefined || strict === null || typeof strict === "boolean", `${at}.strict`, "true, false or null");
    must(isObject(parameters) && parameters.type === "object" && isObject(parameters.properties), `${at}.parameters`, "the root is an object with properties");
    for (const keyword of ["oneOf", "anyOf", "allOf", "enum", "not"]) must(!Object.hasOwn(parameters, keyword), `${at}.parameters`, `${keyword} is not taken at the root`);
    checkSchema(parameters, `${at}.parameters`);
  }
}

/** What is refused in any place of a schema: lists that do not say of what, and objects or branches that are none. */
function checkSchema(schema, at) {
  if (typeof schema === "boolean") return;
  must(isObject(schema), at, "a schema is an object");
  const types = [schema.type].flat();
  if (types.includes("array")) must(isObject(schema.items), at, "an array says what its items are");
  for (const key of ["properties", "$defs"]) for (const [name, inner] of Object.entries(schema[key] ?? {})) checkSchema(inner, `${at}.${key}.${name}`);
  for (const key of ["items", "additionalProperties", "not"]) if (schema[key] !== undefined) checkSchema(schema[key], `${at}.${key}`);
  for (const key of ["anyOf", "oneOf", "allOf"]) for (const [index, inner] of (schema[key] ?? []).entries()) checkSchema(inner, `${at}.${key}[${index}]`);
}

/** Every call of a model is answered by exactly one tool message, and before anybody else speaks. */
function checkMessages(messages) {
  must(Array.isArray(messages) && messages.length > 0, "messages", "there are none");
  let waiting = new Set();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    must(["system", "developer", "user", "assistant", "tool"].includes(message.role), `${at}.role`, `${JSON.stringify(message.role)} is no role`);
    if (message.role === "tool") {
      must(waiting.delete(message.tool_call_id), `${at}.tool_call_id`, `no call ${JSON.stringify(message.tool_call_id)} waits for an answer`);
      must(typeof message.content === "string" || Array.isArray(message.content), `${at}.content`, "a tool message has a content");
      continue;
    }
    must(waiting.size === 0, at, `calls without an answer: ${[...waiting].join(", ")}`);
    if (message.role !== "assistant") must(typeof message.content === "string" || Array.isArray(message.content), `${at}.content`, "a text or parts are needed");
    waiting = new Set((message.tool_calls ?? []).map((call) => call.id));
    must(waiting.size === (message.tool_calls ?? []).length, `${at}.tool_calls`, "two calls have one id");
  }
  must(waiting.size === 0, "messages", `calls without an answer: ${[...waiting].join(", ")}`);
}

/** First both tools, then what they said. Calls come as the real API gives them: arguments as JSON text. */
function answer({ messages, tools = [] }, number) {
  const said = messages.filter((message) => message.role === "tool").map((message) => message.content);
  const wanted = [
    ["get_time", '{"timezone":"Asia/Shanghai"}'],
    ["list_active", "{}"],
  ];
  const calls = wanted.flatMap(([name, args], index) => {
    const tool = tools.find((each) => each.function.name.endsWith(name));
    return tool === undefined ? [] : [{ id: `call_${number}_${index}`, type: "function", function: { name: tool.function.name, arguments: args } }];
  });
  if (said.length > 0 || calls.length === 0) {
    return { index: 0, finish_reason: "stop", logprobs: null, message: { role: "assistant", refusal: null, content: said.length > 0 ? `The tools say: ${said.join(" / ")}` : "I have no tools for that." } };
  }
  return { index: 0, finish_reason: "tool_calls", logprobs: null, message: { role: "assistant", refusal: null, content: null, tool_calls: calls } };
}
