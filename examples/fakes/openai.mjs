// A stand-in for the OpenAI Chat API on this machine: it refuses what the real one is known to refuse, and plays a model that
// asks for two tools at once and then says what they said.
import { checkRoot, isObject, must, Refusal, startFake } from "./server.mjs";

/** Starts it at any free port. `requests` grows with every request that was accepted. */
export function startFakeOpenAI() {
  return startFake({
    base: "/v1",
    read: readRequest,
    answer: (body, number) => ({ id: `chatcmpl-${number}`, object: "chat.completion", created: 0, model: body.model, choices: [answer(body, number)] }),
    refuse: ({ message, param }) => ({ error: { message, type: "invalid_request_error", param, code: null } }),
  });
}

function readRequest(request, body) {
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") throw new Refusal("url", "there is only POST /v1/chat/completions", 404);
  if (!/^Bearer \S+$/.test(request.headers.authorization ?? "")) throw new Refusal("authorization", "an API key is needed", 401);
  must(typeof body.model === "string" && body.model !== "", "model", "a name is needed");
  if (body.tools !== undefined) checkTools(body.tools);
  checkMessages(body.messages);
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
    must(
      description === undefined || (typeof description === "string" && description.length <= 1024),
      `${at}.description`,
      "a text of at most 1024 characters",
    );
    must(strict === undefined || strict === null || typeof strict === "boolean", `${at}.strict`, "true, false or null");
    checkRoot(parameters, `${at}.parameters`);
  }
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
    if (message.role !== "assistant")
      must(typeof message.content === "string" || Array.isArray(message.content), `${at}.content`, "a text or parts are needed");
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
    return {
      index: 0,
      finish_reason: "stop",
      logprobs: null,
      message: { role: "assistant", refusal: null, content: said.length > 0 ? `The tools say: ${said.join(" / ")}` : "I have no tools for that." },
    };
  }
  return { index: 0, finish_reason: "tool_calls", logprobs: null, message: { role: "assistant", refusal: null, content: null, tool_calls: calls } };
}
