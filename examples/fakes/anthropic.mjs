// A stand-in for the Anthropic Messages API on this machine: it refuses what the real one is known to refuse, and plays a model
// that asks for two tools at once and then says what they said.
import { checkRoot, isObject, must, Refusal, startFake } from "./server.mjs";

/** Starts it at any free port. `requests` grows with every request that was accepted. */
export function startFakeAnthropic() {
  return startFake({
    base: "",
    read: readRequest,
    answer: (body, number) => ({
      id: `msg_${number}`,
      type: "message",
      role: "assistant",
      model: body.model,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
      ...answer(body, number),
    }),
    refuse: ({ message, status }) => ({ type: "error", error: { type: status === 401 ? "authentication_error" : "invalid_request_error", message } }),
  });
}

function readRequest(request, body) {
  if (request.method !== "POST" || request.url !== "/v1/messages") throw new Refusal("url", "there is only POST /v1/messages", 404);
  if (!request.headers["x-api-key"] && !request.headers.authorization) throw new Refusal("x-api-key", "an API key is needed", 401);
  must(request.headers["anthropic-version"] !== undefined, "anthropic-version", "the header is missing");
  must(typeof body.model === "string" && body.model !== "", "model", "a name is needed");
  must(Number.isInteger(body.max_tokens) && body.max_tokens > 0, "max_tokens", "a number is needed");
  if (body.tools !== undefined) checkTools(body.tools);
  checkMessages(body.messages);
}

function checkTools(tools) {
  must(Array.isArray(tools), "tools", "a list is needed");
  const names = new Set();
  for (const [index, { name, description, input_schema: schema, ...more }] of tools.entries()) {
    const at = `tools[${index}]`;
    must(Object.keys(more).length === 0, at, `unknown members ${Object.keys(more).join(", ")}`);
    must(/^[a-zA-Z0-9_-]{1,64}$/.test(name), `${at}.name`, `${JSON.stringify(name)} is no legal name`);
    must(!names.has(name), `${at}.name`, `${name} is there twice`);
    names.add(name);
    must(description === undefined || typeof description === "string", `${at}.description`, "a text is needed");
    checkRoot(schema, `${at}.input_schema`);
  }
}

/** The turn after tool uses is the user's and begins with exactly one result for each. */
function checkMessages(messages) {
  must(Array.isArray(messages) && messages.length > 0, "messages", "there are none");
  let waiting = [];
  for (const [index, { role, content }] of messages.entries()) {
    const at = `messages[${index}]`;
    must(role === "user" || role === "assistant", `${at}.role`, `${JSON.stringify(role)} is no role`);
    must((typeof content === "string" || Array.isArray(content)) && content.length > 0, `${at}.content`, "it is empty");
    const blocks = typeof content === "string" ? [] : content;
    for (const block of blocks) must(isObject(block) && typeof block.type === "string", `${at}.content`, "a block has a type");
    const results = blocks.filter((block) => block.type === "tool_result");
    const ids = results.map((block) => block.tool_use_id).sort();
    must(
      JSON.stringify(ids) === JSON.stringify([...waiting].sort()),
      `${at}.content`,
      `results for ${JSON.stringify(waiting)} are needed, and there are ${JSON.stringify(ids)}`,
    );
    must(
      blocks.slice(0, results.length).every((block) => block.type === "tool_result"),
      `${at}.content`,
      "tool results come first",
    );
    waiting = role === "assistant" ? blocks.filter((block) => block.type === "tool_use").map((block) => block.id) : [];
  }
  must(waiting.length === 0, "messages", `tool uses without a result: ${waiting.join(", ")}`);
}

/** First both tools, then what they said. */
function answer({ messages, tools = [] }, number) {
  const said = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content)).filter((block) => block.type === "tool_result");
  const wanted = [
    ["get_time", { timezone: "Asia/Shanghai" }],
    ["list_active", {}],
  ];
  const uses = wanted.flatMap(([name, input], index) => {
    const tool = tools.find((each) => each.name.endsWith(name));
    return tool === undefined ? [] : [{ type: "tool_use", id: `toolu_${number}_${index}`, name: tool.name, input }];
  });
  if (said.length === 0 && uses.length > 0) return { stop_reason: "tool_use", content: uses };
  const textOf = (content) => (typeof content === "string" ? content : content.map((part) => part.text ?? `(${part.type})`).join(" "));
  const text = said.map((block) => textOf(block.content)).join(" / ");
  return { stop_reason: "end_turn", content: [{ type: "text", text: said.length > 0 ? `The tools say: ${text}` : "I have no tools for that." }] };
}
