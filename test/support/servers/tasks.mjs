// An MCP server over stdio whose tools run as tasks (revision 2025-11-25), written with the SDK's own task store.
//
// Its one argument is JSON: { "capability": false } leaves the tasks capability out of initialize.
// Tools: `work` (optional) and `must` (required) take { ms, steps, say, fail, bytes, poll, cancelItself }; `ask` (required) asks for a city;
// `plain` knows no tasks; `seen` gives what became of every task, by its text.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { CallToolRequestSchema, ElicitResultSchema, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js";

const { capability = true } = JSON.parse(process.argv[2] ?? "{}");
const store = new InMemoryTaskStore();
const server = new Server(
  { name: "tasks", version: "1" },
  {
    capabilities: { tools: {}, ...(capability ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : {}) },
    taskStore: store,
    taskMessageQueue: new InMemoryTaskMessageQueue(),
  },
);

/** Text of a task to what became of it: working, cancelled, completed. */
const seen = new Map();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function work(taskId, given, extra) {
  const args = { text: "done", ms: 100, steps: 1, fail: false, bytes: 0, cancelItself: false, ...given };
  seen.set(args.text, { status: "working", ttl: extra.taskRequestedTtl ?? null });
  for (let step = 1; step <= args.steps; step += 1) {
    await sleep(args.ms / args.steps);
    if ((await store.getTask(taskId))?.status === "cancelled") return void seen.set(args.text, { status: "cancelled" });
    const token = extra._meta?.progressToken;
    if (token !== undefined)
      await server.notification({ method: "notifications/progress", params: { progressToken: token, progress: step, total: args.steps } });
    if (args.say !== undefined) await extra.taskStore.updateTaskStatus(taskId, "working", `${args.say} ${step}`);
  }
  seen.set(args.text, { status: "completed" });
  if (args.cancelItself) return await extra.taskStore.updateTaskStatus(taskId, "cancelled", "not today");
  const text = args.bytes > 0 ? "x".repeat(args.bytes) : args.text;
  await extra.taskStore.storeTaskResult(taskId, args.fail ? "failed" : "completed", {
    content: [{ type: "text", text }],
    ...(args.fail ? { isError: true } : {}),
  });
}

async function ask(taskId, _args, extra) {
  await extra.taskStore.updateTaskStatus(taskId, "input_required", "which city?");
  const answer = await extra
    .sendRequest(
      {
        method: "elicitation/create",
        params: { mode: "form", message: "Which city?", requestedSchema: { type: "object", properties: { city: { type: "string" } } } },
      },
      ElicitResultSchema,
      { relatedTask: { taskId } },
    )
    .catch((error) => ({ action: `refused: ${error.message}` }));
  await extra.taskStore.storeTaskResult(taskId, "completed", { content: [{ type: "text", text: JSON.stringify(answer) }] });
}

const RUNS = { work, must: work, ask };
const tool = (name, taskSupport) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: "object" },
  ...(taskSupport === undefined ? {} : { execution: { taskSupport } }),
});

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [tool("work", "optional"), tool("must", "required"), tool("ask", "required"), tool("plain"), tool("seen")],
}));

server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
  const text = (value) => ({ content: [{ type: "text", text: value }] });
  const { name, arguments: args = {} } = params;
  if (name === "plain") return text(params.task === undefined ? "plain" : "a task was wanted");
  if (name === "seen") return text(JSON.stringify(Object.fromEntries(seen)));
  if (params.task === undefined) {
    if (name === "work") return text(`${args.text ?? "done"} without a task`);
    throw new McpError(-32601, `${name} runs only as a task`);
  }
  const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl ?? 60_000, pollInterval: args.poll ?? 50 });
  RUNS[name](task.taskId, args, extra).catch((error) => process.stderr.write(`${name}: ${error.message}\n`));
  return { task, _meta: { "io.modelcontextprotocol/model-immediate-response": `${name} began` } };
});

await server.connect(new StdioServerTransport());
