// Tools of your servers in a chat loop with the `openai` client. It runs as it is, without an account: a small server on this
// machine plays the model and refuses what the real API would refuse. Set OPENAI_API_KEY to talk to the real one.
// Run it from the repository, after `npm ci`: node examples/openai-loop.mjs
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import OpenAI from "openai";
import { createKit, settled } from "aurora-mcp-kit";
import { startFakeOpenAI } from "./fake-openai.mjs";

// A copy of the workspace, so that the files under data/ of a host that runs meanwhile are left alone.
const repository = fileURLToPath(new URL("..", import.meta.url));
const root = await mkdtemp(path.join(tmpdir(), "aurora-openai-loop-"));
for (const folder of ["topology", "apps"]) await cp(path.join(repository, folder), path.join(root, folder), { recursive: true });
for (const folder of ["dist", "node_modules"]) await symlink(path.join(repository, folder), path.join(root, folder), "junction");

const fake = process.env.OPENAI_API_KEY ? null : await startFakeOpenAI();
const client = fake === null ? new OpenAI() : new OpenAI({ baseURL: fake.url, apiKey: "none" });
const kit = createKit({ topology: path.join(root, "topology/topology.yaml") });
try {
  await kit.start();
  await settled(kit);
  const messages = [{ role: "user", content: "What time is it in Shanghai, and which timers run?" }];
  for (;;) {
    const answer = await client.chat.completions.create({ model: "gpt-4.1", messages, tools: kit.tools("openai").tools });
    const message = answer.choices[0].message;
    messages.push(message);
    if (!message.tool_calls) break;
    for (const call of message.tool_calls) console.log(`the model calls ${call.function.name} ${call.function.arguments}`);
    // Policy, approvals and audit happen in here. There is exactly one message for every call, whatever fails.
    messages.push(...(await kit.executeToolCalls(message.tool_calls, { session: "demo" })));
  }
  console.log(messages.at(-1).content);
} finally {
  await kit.close();
  await fake?.close();
  await rm(root, { recursive: true, force: true });
}
