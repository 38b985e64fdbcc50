import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { startFakeAnthropic } from "../../examples/fakes/anthropic.mjs";
import { startFakeOpenAI } from "../../examples/fakes/openai.mjs";
import { builtApp } from "../support/built-apps.ts";
import { builtCli, projectRoot } from "../support/built-cli.ts";

const run = promisify(execFile);

beforeAll(async () => {
  await builtCli();
  await builtApp("clock");
}, 180_000);

describe.each(["openai-loop", "anthropic-loop"])("examples/%s.mjs", (name) => {
  it("runs as it is: both calls are answered, and the model has the last word", { timeout: 120_000 }, async () => {
    const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
    const { stdout } = await run(process.execPath, [`examples/${name}.mjs`], { cwd: projectRoot, env });
    expect(stdout).toMatch(/^the model calls im_polaris_clock_get_time \{"timezone":"Asia\/Shanghai"\}$/m);
    expect(stdout).toMatch(/^the model calls im_polaris_clock_list_active \{\}$/m);
    expect(stdout).toMatch(/^The tools say: .*Asia\/Shanghai/ms);
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
      const ask = (more: object) =>
        fetch(`${openai.url}/chat/completions`, {
          method: "POST",
          headers: { Authorization: "Bearer x" },
          body: JSON.stringify({ model: "m", messages: [user], ...more }),
        });
      expect((await ask(body)).status).toBe(400);
      expect((await ask({ messages: [user, asked, answered("2"), answered("1")], tools: [tool({})] })).status).toBe(200);
    } finally {
      await openai.close();
    }
  });
});

describe("the stand-in for the Anthropic API", () => {
  const use = (id: string) => ({ type: "tool_use", id, name: "a", input: {} });
  const user = { role: "user", content: "hi" };
  const asked = { role: "assistant", content: [use("1"), use("2")] };
  const results = (...ids: string[]) => ({ role: "user", content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "ok" })) });
  const tool = (more: object) => ({ name: "a", input_schema: { type: "object", properties: {} }, ...more });

  it.each([
    ["a name with a dot", { tools: [tool({ name: "a.b" })] }],
    ["a name twice", { tools: [tool({}), tool({})] }],
    ["a root that is a union", { tools: [tool({ input_schema: { type: "object", properties: {}, oneOf: [] } })] }],
    ["an unknown member", { tools: [tool({ parameters: {} })] }],
    ["a missing result", { messages: [user, asked, results("1")] }],
    ["a result too many", { messages: [user, asked, results("1", "2", "3")] }],
    ["a result that nobody waits for", { messages: [results("1")] }],
    ["words before the results", { messages: [user, asked, { role: "user", content: [{ type: "text", text: "so" }, ...results("1", "2").content] }] }],
  ])("refuses %s", async (_what, body) => {
    const anthropic = await startFakeAnthropic();
    try {
      const headers = { "x-api-key": "x", "anthropic-version": "2023-06-01" };
      const ask = (more: object) =>
        fetch(`${anthropic.url}/v1/messages`, { method: "POST", headers, body: JSON.stringify({ model: "m", max_tokens: 1, messages: [user], ...more }) });
      expect((await ask(body)).status).toBe(400);
      expect(
        (
          await ask({
            messages: [
              user,
              asked,
              { ...results("2", "1"), content: [...results("2", "1").content, { type: "text", text: "so" }] },
              { role: "assistant", content: "fine" },
              user,
            ],
            tools: [tool({})],
          })
        ).status,
      ).toBe(200);
    } finally {
      await anthropic.close();
    }
  });
});
