import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { readListing } from "../../src/mcp/listing.ts";
import { LinkError } from "../../src/runtime/ports.ts";
import { scripted } from "../support/app-plan.ts";
import { open, textOf } from "./support.ts";

const tool = (name: string, more: object = {}): JsonObject => ({ name, inputSchema: { type: "object" }, ...more }) as JsonObject;

/** Lists a server that answers `pages` in turn (the last one for ever); gives the listing and how often it was asked. */
async function list(
  pages: (JsonObject | LinkError)[] | ((cursor: unknown, n: number) => JsonObject),
  capabilities: JsonObject = { tools: {} },
  limits = { pages: 200, items: 10_000 },
) {
  let asked = 0;
  const listing = await readListing(
    "app",
    { protocolVersion: "2025-11-25", serverInfo: { name: "s", version: "1" }, capabilities, instructions: null },
    limits,
    async (method, params) => {
      if (method !== "tools/list") throw new LinkError("rpc", "Method not found", { code: -32601 });
      asked += 1;
      const page = typeof pages === "function" ? pages(params["cursor"], asked) : pages[Math.min(asked, pages.length) - 1]!;
      if (page instanceof LinkError) throw page;
      return page;
    },
  );
  return { listing, asked, names: listing.tools.map((item) => item.name) };
}

it("members of _meta that only the kit gives are taken out of what a server lists", async () => {
  const { listing } = await list([{ tools: [tool("a", { _meta: { "aurora/app": "org.forged", own: 1 } }), tool("b", { _meta: { "AURORA/error": {} } })] }]);
  expect(listing.tools).toEqual([tool("a", { _meta: { own: 1 } }), tool("b")]);
});

describe("paging", () => {
  const eight = Array.from({ length: 8 }, (_, i) => tool(`t${i}`));

  it.each([
    ["a cursor that never changes (codebase-memory-mcp#1247)", "8"],
    ["an empty cursor on every page (cccc#50)", ""],
  ])("ends with %s after two requests", async (_name, nextCursor) => {
    const { listing, asked, names } = await list([{ tools: eight, nextCursor }]);
    expect(asked).toBe(2);
    expect(names).toEqual(eight.map((item) => item["name"]));
    expect(listing.warnings.join()).toContain("pagination does not advance");
    expect(listing.conflicts).toEqual([]);
  });

  it("ends with ever new cursors that bring nothing new (mcp-proxy#233)", async () => {
    const { asked, names } = await list((_cursor, n) => ({ tools: eight, nextCursor: String(n) }));
    expect(asked).toBeLessThanOrEqual(5);
    expect(names).toHaveLength(8);
  });

  it("follows an empty string as a cursor, and pages that are empty in between", async () => {
    const { names } = await list([{ tools: [tool("a")], nextCursor: "" }, { tools: [], nextCursor: "x" }, { tools: [tool("b")] }]);
    expect(names).toEqual(["a", "b"]);
  });

  it("reads 5,000 tools in 50 pages, in order", async () => {
    const { names, asked } = await list((cursor) => {
      const from = Number(cursor ?? 0);
      return { tools: Array.from({ length: 100 }, (_, i) => tool(`t${from + i}`)), ...(from < 4900 ? { nextCursor: String(from + 100) } : {}) };
    });
    expect([names.length, names[4999], asked]).toEqual([5000, "t4999", 50]);
  });

  it("stops at the page cap and at the item cap, and names the limit", async () => {
    const endless = (cursor: unknown): JsonObject => ({ tools: [tool(`t${Number(cursor ?? 0)}`)], nextCursor: String(Number(cursor ?? 0) + 1) });
    const pages = await list(endless, { tools: {} }, { pages: 20, items: 10_000 });
    expect([pages.asked, pages.names.length]).toEqual([20, 20]);
    expect(pages.listing.warnings.join()).toContain("limits.list_pages");
    const items = await list(endless, { tools: {} }, { pages: 200, items: 5 });
    expect(items.names).toHaveLength(5);
    expect(items.listing.warnings.join()).toContain("limits.tools_per_app");
  });

  it.each([
    [null, []],
    [7, ["nextCursor is not a string"]],
    [{}, ["nextCursor is not a string"]],
  ])("takes nextCursor %j for the end", async (nextCursor, warnings) => {
    const { listing, asked } = await list([{ tools: [tool("a")], nextCursor: nextCursor as never }]);
    expect(asked).toBe(1);
    for (const warning of warnings) expect(listing.warnings.join()).toContain(warning);
  });

  it.each([[{}], [{ tools: null }], [{ tools: { a: 1 } }]])("takes %j for an empty list, with a warning", async (page) => {
    const { listing } = await list([page as JsonObject]);
    expect(listing.tools).toEqual([]);
    expect(listing.warnings.join()).toContain('has no list "tools"');
  });
});

describe("one bad tool costs one tool", () => {
  it.each([
    ["absent", undefined],
    ["null", null],
    ["true", true],
    ["{}", {}],
    ["only annotations", { $schema: "x", title: "t" }],
    ["a type list with object", { type: ["object", "null"] }],
    ["null properties", { type: "object", properties: null, required: null }],
    ["boolean properties", { type: "object", properties: { x: true } }],
    ["no type", { properties: { a: {} } }],
    ["null type", { type: null }],
    ["a root combinator", { anyOf: [{ type: "object" }] }],
  ])("an inputSchema that is %s is kept as it came", async (_name, inputSchema) => {
    const item = { name: "t", ...(inputSchema === undefined ? {} : { inputSchema }) } as JsonObject;
    const { listing } = await list([{ tools: [item] }]);
    expect(listing.tools).toEqual([item]);
    expect(listing.dropped).toEqual([]);
  });

  it.each([
    ["false", false],
    ["text", "object"],
    ["a list", []],
    ["a number", 5],
    ["type string", { type: "string" }],
    ["type array", { type: "array" }],
    ["a type list without object", { type: ["string", "null"] }],
    ["an unknown type", { type: "any" }],
  ])("an inputSchema that is %s drops its tool alone (atlas-ui-3#727)", async (_name, inputSchema) => {
    const { listing, names } = await list([{ tools: [{ name: "lookup", inputSchema: inputSchema as never }, tool("healthy"), { name: "none" }] }]);
    expect(names).toEqual(["healthy", "none"]);
    expect(listing.dropped).toMatchObject([{ kind: "tool", name: "lookup", reason: expect.stringContaining("inputSchema") }]);
  });

  it("names outside A-Z a-z 0-9 _ . - are dropped with the reason; legal ones are kept raw", async () => {
    const { listing, names } = await list([
      {
        tools: [
          ..."t.name t_name --- im.polaris.qq.send __proto__ constructor".split(" ").map((n) => tool(n)),
          ...["日本語", "a b", "user/update", "", "x".repeat(129), "tool\u0430\u200b", "a\u001b[31m"].map((n) => tool(n)),
          { inputSchema: {} },
          null,
          "text",
          [1],
        ] as never,
      },
    ]);
    expect(names).toEqual(["t.name", "t_name", "---", "im.polaris.qq.send", "__proto__", "constructor"]);
    expect(listing.dropped).toHaveLength(11);
    expect(listing.dropped.map((item) => item.name)).toContain("#14");
    expect(JSON.stringify(listing.dropped)).not.toMatch(/\u001b|\u200b/);
  });

  it("null for optional members and odd output schemas stay as they are", async () => {
    const item = tool("t", { description: null, outputSchema: { $ref: "#/nowhere" }, annotations: null, _meta: null });
    expect((await list([{ tools: [item] }])).listing.tools).toEqual([item]);
  });

  it("a tool nested beyond reason is dropped", async () => {
    let schema: JsonObject = { type: "object" };
    for (let i = 0; i < 2000; i += 1) schema = { type: "object", properties: { a: schema } };
    const { listing, names } = await list([{ tools: [tool("deep", { inputSchema: schema }), tool("ok")] }]);
    expect(names).toEqual(["ok"]);
    expect(listing.dropped[0]!.reason).toContain("nested deeper");
  });
});

describe("the same name again", () => {
  it("is listed once when identical, key order aside", async () => {
    const { listing, names } = await list([
      { tools: [tool("x", { description: "d" }), { description: "d", inputSchema: { type: "object" }, name: "x" }, tool("y")] },
    ]);
    expect(names).toEqual(["x", "y"]);
    expect(listing.conflicts).toEqual([]);
    expect(listing.warnings.join()).toContain("1 tool is listed more than once");
  });

  it("is a conflict when different, with both positions (openai-agents-python#4086)", async () => {
    const { listing, names } = await list([
      { tools: [tool("x", { description: "A" }), tool("x", { description: "B" }), tool("y"), tool("x", { description: "A" })] },
    ]);
    expect(names).toEqual(["x", "y"]);
    expect(listing.tools[0]!["description"]).toBe("A");
    expect(listing.conflicts).toMatchObject([{ name: "x" }]);
    expect(listing.conflicts[0]!.digests).toHaveLength(2);
    expect(listing.warnings.join()).toContain("tool x is listed twice with different content (positions 1 and 2)");
  });
});

describe("what is asked for", () => {
  it("is only what the server declares (qwen-code#12496)", async () => {
    const { connection } = await open(scripted({}));
    const listing = await connection.list();
    expect(listing.tools.map((t) => t.name)).toEqual(["echo", "journal"]);
    const journal = JSON.parse(textOf(await connection.request("tools/call", { name: "journal" }))) as { method: string }[];
    expect(journal.map((m) => m.method)).toEqual(["initialize", "notifications/initialized", "tools/list", "tools/call"]);
  });

  it("is tools once, when it declares nothing (codebase-memory-mcp#1185)", async () => {
    const found = await list([{ tools: [tool("a")] }], {});
    expect(found.names).toEqual(["a"]);
    expect(found.listing.warnings).toEqual(["the server has tools but does not declare the capability"]);
    const none = await list([new LinkError("rpc", "Method not found", { code: -32601 })], {});
    expect(none.listing).toMatchObject({ tools: [], warnings: [] });
  });

  it("may be refused without harm to the rest", async () => {
    const { listing, names } = await list([{ tools: [tool("a")] }], { tools: {}, prompts: {}, resources: {} });
    expect(names).toEqual(["a"]);
    expect(listing.warnings).toEqual([
      "the server declares prompts but does not know prompts/list",
      "the server declares resources but does not know resources/list",
    ]);
  });

  it("fails as a whole only for tools", async () => {
    await expect(list([new LinkError("timeout", "no answer", { sent: true })])).rejects.toMatchObject({ kind: "timeout" });
  });

  it("over a real wire ends for a cursor that is ignored", async () => {
    const { connection } = await open(scripted({ on: { "tools/list": [{ result: { tools: [tool("a")], nextCursor: "8" } }] } }));
    const listing = await connection.list();
    expect(listing.tools.map((t) => t.name)).toEqual(["a"]);
    expect(listing).toMatchObject({ app: "org.example.app", serverInfo: { name: "scripted", version: "1" }, instructions: null });
  });
});

describe("prompts, resources and templates", () => {
  it("are judged one by one too", async () => {
    const { connection } = await open(
      scripted({
        hello: { capabilities: { prompts: {}, resources: {} } },
        on: {
          "prompts/list": [{ result: { prompts: [{ name: "日本" }, { name: "" }, {}, { name: "p", description: null }] } }],
          "resources/list": [{ result: { resources: [{ uri: "a://b", name: null }, { name: "x" }, { uri: 7 }] } }],
          "resources/templates/list": [{ result: { resourceTemplates: [{ uriTemplate: "a://{x}" }, null] } }],
        },
      }),
    );
    const listing = await connection.list();
    expect(listing.prompts.map((p) => p.name)).toEqual(["日本", "p"]);
    expect(listing.resources.map((r) => r.uri)).toEqual(["a://b"]);
    expect(listing.templates.map((t) => t.uriTemplate)).toEqual(["a://{x}"]);
    expect(listing.dropped.map((d) => d.kind)).toEqual(["prompt", "prompt", "resource", "resource", "template"]);
  });
});
