import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import { toStrictJsonSchema } from "openai/lib/transform";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { ExportFormat } from "../../src/llm/types.ts";
import { exportOne } from "./support/export-one.ts";
import { brokenRules, rulesOf } from "./support/target-rules.ts";

const SERVERS = [
  ["@modelcontextprotocol/server-everything/dist/index.js", []],
  ["@modelcontextprotocol/server-filesystem/dist/index.js", [tmpdir()]],
] as const;
const TARGETS: readonly ExportFormat[] = ["openai", "openai-responses", "openai-strict", "anthropic", "anthropic-strict", "gemini", "gemini-legacy", "litellm"];

/** The tools of a published server, read over stdio as it sends them. */
async function listTools(script: string, args: readonly string[]): Promise<JsonObject[]> {
  const child = spawn(process.execPath, [createRequire(import.meta.url).resolve(script), ...args], { stdio: ["pipe", "pipe", "ignore"] });
  const send = (message: JsonObject): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  try {
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "probe", version: "0" } } });
    for await (const line of createInterface({ input: child.stdout })) {
      const message = JSON.parse(line) as JsonObject;
      if (message["id"] === 1) {
        send({ method: "notifications/initialized" });
        send({ id: 2, method: "tools/list" });
      }
      if (message["id"] === 2) return (message["result"] as JsonObject)["tools"] as JsonObject[];
    }
    throw new Error(`${script} ended without a list of tools`);
  } finally {
    child.kill("SIGKILL");
  }
}

describe.each(SERVERS)("%s", (script, args) => {
  test("all its tools keep every provider's rules", async () => {
    const tools = await listTools(script, args);
    expect(tools.length).toBeGreaterThan(5);
    for (const tool of tools) {
      for (const target of TARGETS) {
        const made = exportOne(target, tool["inputSchema"], {}, { name: String(tool["name"]), description: String(tool["description"]) })!;
        if (!made.schema) continue;
        expect([tool["name"], target, brokenRules(rulesOf(target, made.strict === true), made.schema)]).toEqual([tool["name"], target, []]);
        if (made.strict === true && target === "anthropic-strict") expect(transformJSONSchema(made.schema as never)).toEqual(made.schema);
        else if (made.strict === true) expect(toStrictJsonSchema(structuredClone(made.schema) as never)).toEqual(made.schema);
      }
    }
  });
});
