// Tools of your servers in a chat loop with the `openai` client. It runs as it is, without an account: a small server on this
// machine plays the model and refuses what the real API would refuse. Set OPENAI_API_KEY to talk to the real one.
// Run it from the repository, after `npm ci`: node examples/openai-loop.mjs
import OpenAI from "openai";
import { createKit, settled } from "aurora-mcp-kit";
import { startFakeOpenAI } from "./fakes/openai.mjs";
import { scratchWorkspace } from "./scratch-workspace.mjs";

const workspace = await scratchWorkspace();
const fake = process.env.OPENAI_API_KEY ? null : await startFakeOpenAI();
const client = fake === null ? new OpenAI() : new OpenAI({ baseURL: fake.url, apiKey: "none" });
const kit = createKit({ topology: workspace.topology });
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
  await workspace.remove();
}
