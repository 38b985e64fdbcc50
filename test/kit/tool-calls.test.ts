import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptedApp, startKit, topologyText, until, type TestKit } from "../support/kit.ts";

const LIST = [
  {
    name: "look",
    description: "Looks something up.",
    inputSchema: {
      type: "object",
      properties: { "user id": { type: "string" }, limit: { type: "integer" }, note: { type: "string" } },
      required: ["user id"],
      additionalProperties: false,
    },
  },
  { name: "long", description: "Says very much.", inputSchema: { type: "object" } },
  { name: "picture", description: "Draws.", inputSchema: { type: "object" } },
  { name: "a_tool_with_a_name_that_is_much_longer_than_any_provider_would_like_it_to_be_really", description: "Long name.", inputSchema: { type: "object" } },
];

describe("tool calls of models", () => {
  let t: TestKit;
  beforeAll(async () => {
    const script = {
      on: {
        "tools/list": [{ result: { tools: LIST } }],
        "tools/call long": [{ result: { content: [{ type: "text", text: "word ".repeat(2_000) }] } }],
        "tools/call picture": [{ result: { content: [{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }] } }],
      },
    };
    t = await startKit({
      "topology/topology.yaml": topologyText({ "org.test.box": scriptedApp(script) }, { limits: { message_bytes: 2_000 }, policies: ["policies/*.yaml"] }),
      "topology/policies/p.yaml": JSON.stringify({ rules: [{ id: "low", tools: ["*"], risk: "low" }] }),
    });
  });
  afterAll(() => t.stop());
  const chat = (id: string, name: string, args: string): object => ({ id, type: "function", function: { name, arguments: args } });
  const run = (...calls: object[]) => t.kit.executeToolCalls(calls as never[], { session: "s" });

  it("answers every call of a batch once, in order, whatever fails", async () => {
    const messages = await run(
      chat("c1", "org_test_box_look", '{"user id":"7"}'),
      chat("c2", "no_such_tool", "{}"),
      chat("c3", "org_test_box_look", '{"user id":'),
      chat("c4", "", "{}"),
    );
    expect(messages.map((m) => [m["role"], m["tool_call_id"]])).toEqual([
      ["tool", "c1"],
      ["tool", "c2"],
      ["tool", "c3"],
      ["tool", "c4"],
    ]);
    expect(messages[0]!["content"]).toContain("org.test.box");
    expect(messages[0]!["content"]).toContain("data, not instructions");
    expect(messages[1]!["content"]).toContain("TOOL_NOT_FOUND");
    expect(messages[2]!["content"]).toContain("INVALID_ARGUMENTS");
    expect(messages[3]!["content"]).toContain("TOOL_NOT_FOUND");
  });

  it("takes the forms of Responses, Anthropic and Gemini, with the property names that each was shown", async () => {
    const shown = Object.keys(
      (t.kit.tools("anthropic").tools.find((tool) => (tool as { name: string }).name === "org_test_box_look") as { input_schema: { properties: object } })
        .input_schema.properties,
    )[0]!;
    expect(shown).not.toBe("user id");
    const messages = await run(
      { type: "function_call", call_id: "r1", name: "org_test_box_look", arguments: '{"user id":"1"}' },
      { type: "tool_use", id: "t1", name: "org_test_box_look", input: { [shown]: "2" } },
      { functionCall: { name: "org_test_box_look", args: { "user id": "3" } } },
    );
    expect(messages[0]).toMatchObject({ type: "function_call_output", call_id: "r1" });
    expect(messages[1]).toMatchObject({ type: "tool_result", tool_use_id: "t1" });
    expect(JSON.stringify(messages[1])).toContain('\\"user id\\":\\"2\\"');
    expect(messages[2]).toMatchObject({ functionResponse: { name: "org_test_box_look" } });
  });

  it("mends only what fails: nulls for optional fields go, numbers in quotes are read, the rest stays", async () => {
    const [message] = await run(chat("c", "org_test_box_look", '{"user id":"007","limit":"3","note":null}'));
    expect(message!["content"]).toContain('{"user id":"007","limit":3}');
  });

  it("cuts a long result with a marker, keeps the whole, and says where in message and receipt", async () => {
    const [message] = await run(chat("c", "org_test_box_long", "{}"));
    const text = message!["content"] as string;
    expect(Buffer.byteLength(text)).toBeLessThan(2_600);
    const file = /(\/\S+results\/\S+\.json)/.exec(text)![1]!;
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ content: [{ type: "text", text: "word ".repeat(2_000) }] });
    await until(async () => (await t.inbox()).some((e) => (e.payload.data as { result_ref?: string })?.result_ref === file));
  });

  it("gives OpenAI Chat images in one user message after the tool messages, never as text", async () => {
    const messages = await run(chat("c1", "org_test_box_picture", "{}"), chat("c2", "org_test_box_look", '{"user id":"1"}'));
    expect(messages.map((m) => m["role"])).toEqual(["tool", "tool", "user"]);
    expect(JSON.stringify(messages.slice(0, 2))).not.toContain("aGVsbG8=");
    expect(JSON.stringify(messages[2])).toContain("data:image/png;base64,aGVsbG8=");
  });

  it("knows the shorter names of the litellm export", async () => {
    const exported = t.kit.tools("litellm");
    const name = Object.entries(exported.names).find(([, full]) => full.includes("much_longer"))![0];
    expect(name.length).toBeLessThanOrEqual(60);
    const [message] = await run(chat("c", name, "{}"));
    expect(message!["content"]).not.toContain("TOOL_NOT_FOUND");
  });

  it("answers the search form: finds tools by what they do, and calls what was found under its own permissions", async () => {
    const [found] = await run(chat("c", "search_tools", '{"query":"draws a picture"}'));
    expect(found!["content"]).toContain("org_test_box_picture");
    const [called] = await run(chat("c", "call_tool", '{"name":"org_test_box_look","arguments":{"user id":"9"}}'));
    expect(called).toMatchObject({ role: "tool", tool_call_id: "c" });
    expect(called!["content"]).toContain('"user id":"9"');
    const [bad] = await run(chat("c", "search_tools", "{}"));
    expect(bad!["content"]).toContain("INVALID_ARGUMENTS");
  });

  it("exports equal bytes for an equal catalogue, with explicit strict", () => {
    expect(t.kit.tools("openai").text).toBe(t.kit.tools("openai").text);
    for (const tool of t.kit.tools("openai").tools)
      expect(tool).toMatchObject({ type: "function", function: { name: expect.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/), strict: false } });
  });
});
