import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { startFakeOpenAI } from "../../examples/fake-openai.mjs";
import { builtApp } from "../support/built-apps.ts";
import { builtCli, projectRoot } from "../support/built-cli.ts";

const run = promisify(execFile);

beforeAll(async () => {
  await builtCli();
  await builtApp("clock");
}, 180_000);

describe("examples/openai-loop.mjs", () => {
  it("runs as it is: both calls are answered, and the model has the last word", { timeout: 120_000 }, async () => {
    const { OPENAI_API_KEY: _, ...env } = process.env;
    const { stdout } = await run(process.execPath, ["examples/openai-loop.mjs"], { cwd: projectRoot, env });
    expect(stdout).toMatch(/^the model calls im_polaris_clock_get_time \{"timezone":"Asia\/Shanghai"\}$/m);
    expect(stdout).toMatch(/^the model calls im_polaris_clock_list_active \{\}$/m);
    expect(stdout).toMatch(/^The tools say: /m);
  });
});

describe("the stand-in for the OpenAI API", () => {
  const call = (id: string) => ({ id, type: "function", function: { name: "a", arguments: "{}" } });
  const user = { role: "user", content: "hi" };
  const asked = { role: "assistant", content: null, tool_calls: [call("1"), call("2")] };
  const answered = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" });
  const tool = (more: object) => ({ type: "function", function: { name: "a", parameters: { type: "object", properties: {} }, ...more } });

  it.each([
    ["a name with a dot", { tools: [tool({ name: "a.b" })] }],
    ["a name of 65 characters", { tools: [tool({ name: "a".repeat(65) })] }],
    ["a name twice", { tools: [tool({}), tool({})] }],
    ["a root that is a union", { tools: [tool({ parameters: { type: "object", properties: {}, anyOf: [] } })] }],
    ["a list without items", { tools: [tool({ parameters: { type: "object", properties: { a: { type: "array" } } } })] }],
    ["an unknown member", { tools: [tool({ outputSchema: {} })] }],
    ["no tools, but a list of them", { tools: [] }],
    ["a call without an answer", { messages: [user, asked, answered("1")] }],
    ["an answer that comes too late", { messages: [user, asked, answered("1"), user, answered("2")] }],
    ["two answers to one call", { messages: [user, asked, answered("1"), answered("1"), answered("2")] }],
    ["an answer that nobody waits for", { messages: [user, answered("1")] }],
  ])("refuses %s", async (_what, body) => {
    const openai = await startFakeOpenAI();
    try {
      const ask = (more: object) => fetch(`${openai.url}/chat/completions`, { method: "POST", headers: { Authorization: "Bearer x" }, body: JSON.stringify({ model: "m", messages: [user], ...more }) });
      expect((await ask(body)).status).toBe(400);
      expect((await ask({ messages: [user, asked, answered("2"), answered("1")], tools: [tool({})] })).status).toBe(200);
    } finally {
      await openai.close();
    }
  });
});
