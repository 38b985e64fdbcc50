import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../src/base/json.ts";
import { dearestParts, estimateTokens } from "../../src/llm/cost.ts";
import { exportTools } from "../../src/llm/export.ts";
import { lintTool } from "../../src/llm/lint.ts";
import { liteLlmConfig } from "../../src/llm/litellm-config.ts";
import { exportPermissions, type PermissionRow } from "../../src/llm/permissions.ts";
import { describeExportChange } from "../../src/llm/schema-diff.ts";
import { exportTypeScript } from "../../src/llm/typescript.ts";
import { projectRoot } from "../support/built-cli.ts";
import { toolWith } from "./support/export-one.ts";

describe("lint", () => {
  const codes = (schema: unknown, more = {}): string[] =>
    lintTool(toolWith(schema, more)).map((finding) => `${finding.target} ${finding.code} ${finding.pointer}`);

  test("a clean tool has no findings", () => {
    expect(
      lintTool(
        toolWith(
          { type: "object", properties: { q: { type: "string", description: "Words" } }, required: ["q"], additionalProperties: false },
          { description: "Searches." },
        ),
      ),
    ).toEqual([]);
  });

  test("says which provider breaks, where and why", () => {
    const found = codes({
      type: "object",
      properties: { $top: { type: "integer" }, key: { type: "string", pattern: "^(?!x)" }, free: { type: "object" } },
      anyOf: [{ required: ["key"] }],
    });
    expect(found).toContain("openai pattern.dropped /inputSchema/properties/key/pattern");
    expect(found).toContain("all root.anyOf_required /inputSchema/anyOf");
    expect(found.some((line) => line.startsWith("anthropic property.renamed"))).toBe(true);
    expect(found.some((line) => line.startsWith("gemini-legacy object.as_text"))).toBe(true);
    expect(found.some((line) => line.startsWith("openai-strict strict.impossible"))).toBe(true);
  });

  test("a keyword that a target never takes is told once, as information, with the true reason", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", pattern: "\\S", minLength: 1 }, b: { type: "string", pattern: "^[1-9][0-9]{0,14}$" } },
      additionalProperties: false,
    };
    const found = lintTool(toolWith(schema, { description: "Counts." }), ["openai", "gemini", "gemini-legacy", "litellm", "openai-strict"]);
    expect(found.map(({ target, code, severity }) => [target, code, severity])).toEqual([
      ["gemini", "keyword.in_words", "info"],
      ["gemini-legacy", "keyword.in_words", "info"],
      ["litellm", "keyword.in_words", "info"],
    ]);
    expect(found[0]!.message).toMatch(/^`minLength` and `pattern` are said in words, for gemini does not take those keywords/);
    const odd = lintTool(toolWith({ type: "object", properties: { a: { type: "string", pattern: "^(?!x)" } } }, { description: "Counts." }), ["openai"]);
    expect(odd).toMatchObject([{ code: "pattern.dropped", severity: "warning", message: expect.stringContaining("uses syntax") }]);
  });

  test("only the targets that are asked for are looked at", () => {
    expect(lintTool(toolWith({ type: "object" }, { description: "x".repeat(1025) }), ["gemini"])).toEqual([]);
  });

  test("what no provider can be given is one error", () => {
    expect(codes({ $schema: "https://example.com/mine", type: "object" })).toEqual(["all schema.unknown_dialect /inputSchema"]);
    expect(codes({ type: "array" })).toEqual(["all schema.not_object /inputSchema"]);
    expect(lintTool(toolWith(undefined))[0]).toMatchObject({ code: "schema.missing", severity: "error" });
  });

  test("names and descriptions are looked at", () => {
    expect(codes({ type: "object" }, { name: "bad name", description: "" })).toEqual(["all name.illegal /name", "all description.missing /description"]);
    expect(codes({ type: "object" }, { description: "x".repeat(1025) })).toEqual(["openai description.long /description"]);
  });
});

describe("what a model sees differently", () => {
  const tool = (schema: unknown, more = {}): JsonObject => exportTools([toolWith(schema, more)], "openai").tools[0] as JsonObject;
  const base = { type: "object", properties: { q: { type: "string" }, limit: { type: "integer" }, state: { enum: ["a", "b"] } }, required: ["q"] };

  test.each<[string, unknown, string[]]>([
    ["nothing", structuredClone(base), []],
    ["required", { ...base, required: ["q", "limit"] }, ["`limit` now required"]],
    [
      "a new and a lost property",
      { ...base, properties: { q: { type: "string" }, limit: { type: "integer" }, path: { type: "string" } }, required: ["q", "path"] },
      ["`state` is gone", "`path` is new and required"],
    ],
    ["a type", { ...base, properties: { ...base.properties, limit: { type: "string" } } }, ['`limit`: type changed from "integer" to "string"']],
    ["enum values", { ...base, properties: { ...base.properties, state: { enum: ["b", "c"] } } }, ['`state`: now also "c"; no longer "a"']],
  ])("%s", (_case, schema, words) => {
    expect(describeExportChange(tool(base), tool(schema))).toEqual(words);
  });

  test("invisible characters of a description are shown", () => {
    expect(describeExportChange(tool(base), tool(base, { description: "Probe.\u200b\u202e" }))).toEqual([
      'description changed from "Probe." to "Probe.\\u{200b}\\u{202e}"',
    ]);
  });
});

test("permissions in the words of other hosts", () => {
  const rows: PermissionRow[] = [
    { app: "a", tool: "get", short: "a_get", decision: "allow" },
    { app: "a", tool: "send", short: "a_send", decision: "ask" },
    { app: "a", tool: "wipe", short: "a_wipe", decision: "deny" },
  ];
  expect(exportPermissions(rows, "claude-code-permissions", "aurora")).toEqual({
    permissions: { allow: ["mcp__aurora__a_get"], ask: ["mcp__aurora__a_send"], deny: ["mcp__aurora__a_wipe"] },
  });
  expect(exportPermissions(rows, "vscode", "aurora")).toEqual({
    "chat.tools.eligibleForAutoApproval": { mcp_aurora_a_get: true, mcp_aurora_a_send: false, mcp_aurora_a_wipe: false },
  });
  expect(exportPermissions(rows, "openai-require-approval", "aurora")).toEqual({
    type: "mcp",
    server_label: "aurora",
    allowed_tools: ["a_get", "a_send"],
    require_approval: { always: { tool_names: ["a_send"] }, never: { tool_names: ["a_get"] } },
  });
});

test("the LiteLLM section is YAML that names the token's variable only", () => {
  const text = liteLlmConfig({ name: "aurora-kit", url: "http://127.0.0.1:7800/mcp", tokenVariable: "AURORA_TOKEN", description: 'All "tools"' });
  expect(parse(text)).toEqual({
    mcp_servers: {
      aurora_kit: {
        url: "http://127.0.0.1:7800/mcp",
        transport: "http",
        description: 'All "tools"',
        auth_type: "bearer_token",
        auth_value: "os.environ/AURORA_TOKEN",
      },
    },
  });
});

describe("TypeScript", () => {
  const tools = [
    {
      full: "im.x.send",
      short: "im_x_send",
      description: "Sends */ text",
      inputSchema: {
        type: "object",
        properties: {
          to: { type: "string", description: "Who" },
          kind: { enum: ["a", 1, null] },
          tree: { $ref: "#/$defs/Tree" },
          pair: { type: "array", items: [{ type: "string" }, { type: "integer" }], additionalItems: false, minItems: 1 },
        },
        required: ["to"],
        additionalProperties: false,
        $defs: { Tree: { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/Tree" } } } } },
      },
      outputSchema: { type: "object", additionalProperties: { type: "number" } },
    },
    { full: "a.list", short: "a_list", inputSchema: undefined },
    { full: "a.far", short: "a_far", inputSchema: { type: "object", properties: { x: { $ref: "file:///etc/hostname" } } } },
  ];

  test("types, results and a typed call, the same each time", () => {
    const { text, untyped } = exportTypeScript(tools);
    expect(exportTypeScript([...tools].reverse()).text).toBe(text);
    expect(text).toContain('"to": string;');
    expect(text).toContain('"kind"?: "a" | 1 | null;');
    expect(text).toContain('"pair"?: [(string), (number)?];');
    expect(text).toContain("export type ImXSendArgumentsTree = {");
    expect(text).toContain("(ImXSendArgumentsTree)[]");
    expect(text).toContain("Sends *\\/ text");
    expect(text).toContain('"im_x_send": { arguments: ImXSendArguments; result: ImXSendResult };');
    expect(text).toContain('"a_list": { arguments: AListArguments; result: unknown };');
    expect(untyped).toEqual([{ full: "a.far", reason: "Arguments: the schema refers outside itself: file:///etc/hostname" }]);
  });
});

test("the TypeScript example of docs/tool-schemas.md compiles, and a wrong argument does not", { timeout: 120_000 }, async () => {
  const page = await readFile(path.join(projectRoot, "docs/tool-schemas.md"), "utf8");
  const example = /^```ts\n([\s\S]*?)^```$/m.exec(page)![1]!;
  const inputSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false };
  const { text } = exportTypeScript([{ full: "org.example.hello.greet", short: "org_example_hello_greet", inputSchema }]);
  // Beside the project's own tests, where the types of Node are found.
  const folder = await mkdtemp(path.join(projectRoot, "test/llm/.example-"));
  try {
    const compile = async (source: string): Promise<string> => {
      await writeFile(path.join(folder, "tools.ts"), text);
      await writeFile(path.join(folder, "example.ts"), source);
      const options = [
        "--noEmit",
        "--strict",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--allowImportingTsExtensions",
        "--types",
        "node",
        "--ignoreConfig",
      ];
      const tsc = path.join(projectRoot, "node_modules/typescript/bin/tsc");
      return promisify(execFile)(process.execPath, [tsc, ...options, path.join(folder, "example.ts")], { cwd: projectRoot }).then(
        () => "",
        (error: { stdout: string }) => error.stdout,
      );
    };
    expect(await compile(example)).toBe("");
    expect(await compile(example.replace('name: "Ada"', "name: 7"))).toContain("TS2322");
    expect(await compile(example.replace("hello_greet", "hello_great"))).toContain("TS2345");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("tokens: a quarter of ASCII, one for every other character", () => {
  expect(estimateTokens("abcdefgh")).toBe(2);
  expect(estimateTokens("天气🙂")).toBe(3);
  expect(estimateTokens("")).toBe(0);
  expect(dearestParts({ name: "t", description: "long ".repeat(50), parameters: { properties: { a: { description: "short" } } } }, 1)).toEqual([
    { pointer: "/description", tokens: 63 },
  ]);
});
