import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { greet, readConfig } from "../service.mjs";

const config = readConfig("there-is-no-such-file.json");

test("greets in the language asked for", () => {
  assert.deepEqual(greet({ name: "Ada", language: "zh" }, config), { greeting: "你好，Ada！", language: "zh" });
});

test("says which languages it has when it lacks one", () => {
  assert.throws(() => greet({ name: "Ada", language: "xx" }, config), { errorCode: "LANGUAGE_UNKNOWN", message: /en, zh/ });
});

test("the server answers, and puts only JSON-RPC on stdout", async () => {
  const child = spawn(process.execPath, [fileURLToPath(new URL("../mcp-server.mjs", import.meta.url))], { stdio: ["pipe", "pipe", "ignore"] });
  const messages = [];
  createInterface({ input: child.stdout }).on("line", (line) => messages.push(JSON.parse(line)));
  const requests = [
    { method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } } },
    { method: "tools/list" },
    { method: "tools/call", params: { name: "org.example.hello.greet", arguments: { name: "Ada" } } },
    { method: "tools/call", params: { name: "org.example.hello.greet", arguments: { name: "Ada", language: "xx" } } },
    { method: "tools/call", params: { name: "org.example.hello.greet", arguments: {} } },
    { method: "tools/call", params: { name: "org.example.hello.nothing", arguments: {} } },
  ];
  requests.forEach((request, id) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...request })}\n`));
  child.stdin.end();
  assert.equal(await new Promise((resolve) => child.once("close", resolve)), 0);
  const answer = (id) => messages.find((message) => message.id === id);
  assert.equal(answer(0).result.protocolVersion, "2025-11-25");
  assert.deepEqual(
    answer(1).result.tools.map((tool) => tool.name),
    ["org.example.hello.greet"],
  );
  assert.deepEqual(answer(2).result.structuredContent, { ok: true, data: { greeting: "Hello, Ada!", language: "en" } });
  assert.equal(answer(3).result.isError, true);
  assert.equal(answer(3).result.structuredContent.error_code, "LANGUAGE_UNKNOWN");
  assert.equal(answer(4).error.code, -32602);
  assert.equal(answer(5).error.code, -32602);
  assert.equal(messages.filter((message) => message.method === "aurora/event").length, 1);
});
