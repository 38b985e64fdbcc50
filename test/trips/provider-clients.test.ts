import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fakeAnthropic, fakeOpenAI, type FakeProvider, type ScriptedCall } from "../support/fake-providers.ts";
import { scriptedApp, startKit, topologyText, type TestKit } from "../support/kit.ts";

/** Tools as servers really have them, with what providers stumble over. */
const TOOLS = [
  {
    name: "search.notes",
    description: "Searches notes.",
    inputSchema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { query: { type: "string", pattern: "^(?!x).*$" }, tags: { type: "array" }, limit: { type: ["integer", "null"] } },
      required: ["query"],
    },
  },
  {
    name: "either",
    description: "Takes a or b.",
    inputSchema: { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
  },
  { name: "nothing", inputSchema: {} },
  { name: "picture", description: "Gives a picture.", inputSchema: { type: "object" } },
];
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const SCRIPT = {
  on: {
    "tools/list": [{ result: { tools: TOOLS } }],
    "tools/call search.notes": [{ result: { content: [{ type: "text", text: "two notes about tea" }] } }],
    "tools/call picture": [{ result: { content: [{ type: "image", data: PIXEL, mimeType: "image/png" }] } }],
  },
};
/** A good call, one with wrong arguments, a picture, and a tool that is not there. */
const CALLS: readonly ScriptedCall[] = [
  { name: "org_example_notes_search_notes", arguments: { query: "tea", limit: 3 } },
  { name: "org_example_notes_search_notes", arguments: { limit: "many" } },
  { name: "org_example_notes_picture", arguments: {} },
  { name: "not_there", arguments: {} },
];

let host: TestKit;
const fakes: FakeProvider[] = [];
beforeAll(async () => {
  host = await startKit({ "topology/topology.yaml": topologyText({ "org.example.notes": scriptedApp(SCRIPT) }) });
});
afterAll(async () => {
  await Promise.all(fakes.map((fake) => fake.close()));
  await host?.stop();
});

async function started(fake: Promise<FakeProvider>): Promise<FakeProvider> {
  fakes.push(await fake);
  return fake;
}

describe("a whole turn with a provider's own client", () => {
  test.each(["openai", "openai-strict", "litellm"] as const)("openai, tools as %s", async (format) => {
    const fake = await started(fakeOpenAI(CALLS));
    const client = new OpenAI({ apiKey: "unused", baseURL: `${fake.url}/v1`, maxRetries: 0 });
    const tools = host.kit.tools(format).tools as unknown as OpenAI.ChatCompletionTool[];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "What about tea?" }];
    for (;;) {
      const { message } = (await client.chat.completions.create({ model: "fake", messages, tools })).choices[0]!;
      messages.push(message);
      if (message.tool_calls === undefined) break;
      messages.push(...((await host.kit.executeToolCalls(message.tool_calls as never, { session: `openai-${format}`, turn: "1" })) as never[]));
    }
    expect(fake.requests).toHaveLength(2);
    expect(messages.filter((m) => m.role === "tool").map((m) => m.tool_call_id)).toEqual(["call_0", "call_1", "call_2", "call_3"]);
    const answer = String(messages.at(-1)!.content);
    expect(answer).toContain("two notes about tea");
    expect(answer).toContain("INVALID_ARGUMENTS");
    expect(answer).toContain("TOOL_NOT_FOUND");
    expect(answer).not.toContain(PIXEL);
  });

  test.each(["anthropic", "anthropic-strict"] as const)("anthropic, tools as %s", async (format) => {
    const fake = await started(fakeAnthropic(CALLS));
    const client = new Anthropic({ apiKey: "unused", baseURL: fake.url, maxRetries: 0 });
    const tools = host.kit.tools(format).tools as unknown as Anthropic.ToolUnion[];
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "What about tea?" }];
    for (;;) {
      const { content, stop_reason } = await client.messages.create({ model: "fake", max_tokens: 100, messages, tools });
      messages.push({ role: "assistant", content });
      if (stop_reason !== "tool_use") break;
      const uses = content.filter((block) => block.type === "tool_use");
      messages.push({ role: "user", content: (await host.kit.executeToolCalls(uses as never, { session: format, turn: "1" })) as never });
    }
    expect(fake.requests).toHaveLength(2);
    const results = messages[2]!.content as Anthropic.ToolResultBlockParam[];
    expect(results.map((block) => [block.tool_use_id, block.is_error === true])).toEqual([
      ["toolu_0", false],
      ["toolu_1", true],
      ["toolu_2", false],
      ["toolu_3", true],
    ]);
    expect(JSON.stringify(results[0])).toContain("two notes about tea");
    expect(JSON.stringify(results[2])).toContain(PIXEL);
  });
});

describe("the fakes refuse what the providers refuse", () => {
  const tool = (parameters: object): OpenAI.ChatCompletionTool => ({
    type: "function",
    function: { name: "t", parameters: parameters as Record<string, unknown> },
  });
  const good = tool({ type: "object", properties: {} });

  test.each([
    ["a root without properties", { type: "object" }, /schema/],
    ["a combinator at the root", { type: "object", properties: {}, anyOf: [{ required: ["a"] }] }, /schema/],
    ["an array without items", { type: "object", properties: { a: { type: "array" } } }, /schema/],
    ["a lookaround", { type: "object", properties: { a: { type: "string", pattern: "(?!x)" } } }, /schema/],
  ])("openai: %s", async (_what, parameters, message) => {
    const fake = await started(fakeOpenAI([]));
    const client = new OpenAI({ apiKey: "unused", baseURL: `${fake.url}/v1`, maxRetries: 0 });
    await expect(client.chat.completions.create({ model: "fake", messages: [{ role: "user", content: "x" }], tools: [tool(parameters)] })).rejects.toThrow(
      message,
    );
  });

  test("openai: a call without its tool message", async () => {
    const fake = await started(fakeOpenAI([]));
    const client = new OpenAI({ apiKey: "unused", baseURL: `${fake.url}/v1`, maxRetries: 0 });
    const call: OpenAI.ChatCompletionMessageParam = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "t", arguments: "{}" } }],
    };
    await expect(client.chat.completions.create({ model: "fake", messages: [call, { role: "user", content: "x" }], tools: [good] })).rejects.toThrow(
      "did not have response messages",
    );
  });

  test("anthropic: a root combinator, and a tool_use without its result", async () => {
    const fake = await started(fakeAnthropic([]));
    const client = new Anthropic({ apiKey: "unused", baseURL: fake.url, maxRetries: 0 });
    const ask = (schema: object, messages: Anthropic.MessageParam[]): Promise<unknown> =>
      client.messages.create({ model: "fake", max_tokens: 1, messages, tools: [{ name: "t", input_schema: schema as never }] });
    await expect(ask({ type: "object", oneOf: [] }, [{ role: "user", content: "x" }])).rejects.toThrow("input_schema");
    const used: Anthropic.MessageParam = { role: "assistant", content: [{ type: "tool_use", id: "u", name: "t", input: {} }] };
    await expect(ask({ type: "object", properties: {} }, [used, { role: "user", content: "x" }])).rejects.toThrow("tool_result");
  });
});
