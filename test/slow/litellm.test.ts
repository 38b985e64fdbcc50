import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import { exportOne } from "../llm/support/export-one.ts";
import { projectRoot } from "../support/built-cli.ts";
import { builtApp } from "../support/built-apps.ts";
import { fakeOpenAI, type FakeProvider } from "../support/fake-providers.ts";
import { startHost, type Host } from "./support/host.ts";
import { INSTALL_MS, pythonWith } from "./support/python.ts";

const python = await pythonWith(["litellm==1.110.2"]);
const everything = path.join(path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json")), "dist/index.js");
const cases = JSON.parse(readFileSync(new URL("../llm/fixtures/schema-cases.json", import.meta.url), "utf8")) as { inputSchema: Json }[];

const BUNDLED = ["im.polaris.clock", "im.polaris.diary", "im.polaris.weather", "im.polaris.qq"];

interface Report {
  readonly litellm: string;
  readonly tools: number;
  readonly properties: number;
  readonly problems: Readonly<Record<string, readonly string[]>>;
}

describe.skipIf(python === null)("LiteLLM", { timeout: INSTALL_MS }, () => {
  let host: Host;
  let provider: FakeProvider;
  beforeAll(async () => {
    await builtApp("clock");
    host = await startHost({
      "topology/topology.yaml": `
topology: 1
data_dir: ../data
discover: [{ glob: ${JSON.stringify(path.join(projectRoot, "apps/*/manifest.yaml"))}, trusted: true }]
apps:
${BUNDLED.map((app) => `  ${app}: { mcp: { cwd: ${JSON.stringify(projectRoot)} } }`).join("\n")}
  org.example.everything: { trust: medium, mcp: { command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(everything)}, stdio] } }
gateway: { listen: "127.0.0.1:0" }
`,
    });
    provider = await fakeOpenAI([
      { name: "org_example_everything_echo", arguments: { message: "hello from LiteLLM" } },
      { name: "org_example_everything_get-sum", arguments: '{"a": 40, "b": "2"}' },
      { name: "org_example_everything_ecko", arguments: {} },
    ]);
  });
  afterAll(async () => {
    await provider?.close();
    await host?.stop();
  });

  test("takes every exported tool through five providers' request transformations, and loses nothing", async () => {
    const answer = await fetch(`${host.origin}/api/tools?format=litellm`, { headers: { authorization: `Bearer ${host.token}` } });
    const running = (await answer.json()) as unknown[];
    const fixtures = cases.flatMap(({ inputSchema }, i) => exportOne("litellm", inputSchema, {}, { name: `case_${i}` })?.tool ?? []);
    expect(running.length).toBeGreaterThan(20);
    const report = (await python!.json("litellm_transforms.py", { stdin: JSON.stringify({ running, fixtures }), timeoutMs: 240_000 })) as Report;
    process.stdout.write(
      `  LiteLLM ${report.litellm}: ${report.tools} tools with ${report.properties} properties through ${Object.keys(report.problems).join(", ")}\n`,
    );
    expect(report.tools).toBe(running.length + fixtures.length);
    expect(report.problems).toEqual({ openai: [], anthropic: [], gemini: [], bedrock: [], vertex_ai: [] });
  });

  test("notices what a transformation loses", async () => {
    // No name that the kit exports has a dot: LiteLLM writes it anew for Anthropic.
    const unportable = {
      type: "function",
      function: { name: "has.dot", description: "x", parameters: { type: "object", properties: { a: { enum: [1, 2] } } } },
    };
    const report = (await python!.json("litellm_transforms.py", { stdin: JSON.stringify({ unportable: [unportable] }), timeoutMs: 240_000 })) as Report;
    expect(report.problems["anthropic"]).toEqual(["unportable: has.dot is called has_dot"]);
  });

  test("runs a whole turn: tool calls to POST /api/tool-calls, tool messages back, an answer", async () => {
    const turn = (await python!.json("litellm_loop.py", { args: [provider.url, host.origin, host.token], timeoutMs: 240_000 })) as {
      tools: number;
      roles: string[];
      answer: string;
    };
    expect(turn.roles).toEqual(["user", "assistant", "tool", "tool", "tool", "assistant"]);
    expect(turn.answer).toContain("hello from LiteLLM");
    expect(turn.answer).toContain("42");
    expect(turn.answer).toContain("TOOL_NOT_FOUND");
    expect(provider.requests).toHaveLength(2);
  });
});
