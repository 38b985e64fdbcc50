// The same loop with the `@anthropic-ai/sdk` client. It runs as it is, without an account: a small server on this machine plays
// the model and refuses what the real API would refuse. Set ANTHROPIC_API_KEY to talk to the real one.
// Run it from the repository, after `npm ci`: node examples/anthropic-loop.mjs
import Anthropic from "@anthropic-ai/sdk";
import { createKit, settled } from "aurora-mcp-kit";
import { startFakeAnthropic } from "./fakes/anthropic.mjs";
import { scratchWorkspace } from "./scratch-workspace.mjs";

const workspace = await scratchWorkspace();
const fake = process.env.ANTHROPIC_API_KEY ? null : await startFakeAnthropic();
const client = fake === null ? new Anthropic() : new Anthropic({ baseURL: fake.url, apiKey: "none" });
const kit = createKit({ topology: workspace.topology });
try {
  await kit.start();
  await settled(kit);
  const messages = [{ role: "user", content: "What time is it in Shanghai, and which timers run?" }];
  for (;;) {
    const answer = await client.messages.create({ model: "claude-sonnet-4-5", max_tokens: 1024, messages, tools: kit.tools("anthropic").tools });
    messages.push({ role: "assistant", content: answer.content });
    const calls = answer.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) break;
    for (const call of calls) console.log(`the model calls ${call.name} ${JSON.stringify(call.input)}`);
    // One tool_result block for every call, in order, whatever fails; together they are the user's turn.
    messages.push({ role: "user", content: await kit.executeToolCalls(calls, { session: "demo" }) });
  }
  for (const block of messages.at(-1).content) if (block.type === "text") console.log(block.text);
} finally {
  await kit.close();
  await fake?.close();
  await workspace.remove();
}
