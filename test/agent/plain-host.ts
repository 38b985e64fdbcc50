import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Host, ServerScript } from "./host.ts";
import { serverArgs } from "./server-args.ts";

/** A host as the SDK's examples make one: every server's tools before the model, every call of the model to its server. */
export async function plainHost(servers: readonly ServerScript[], log: string): Promise<Host> {
  const clients = new Map<string, Client>();
  for (const server of servers) {
    const client = new Client({ name: "plain", version: "1" });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: serverArgs(server, log), stderr: "ignore" }));
    clients.set(server.name, client);
  }
  const textOf = (content: unknown): string => (content as { text?: string }[]).map((block) => block.text ?? "").join("\n");
  return {
    async look() {
      const tools = [];
      const other = [];
      for (const [server, client] of clients) {
        for (const tool of (await client.listTools()).tools)
          tools.push({ name: `${server}__${tool.name}`, texts: JSON.stringify(tool).replaceAll('\\"', '"') });
        other.push(client.getInstructions() ?? "");
      }
      return { tools, other: other.join("\n") };
    },
    async call(name, args) {
      const [server, tool] = name.split("__");
      const client = clients.get(server!);
      if (!client || tool === undefined) return { ok: false, text: "no such tool" };
      const result = await client.callTool({ name: tool, arguments: { ...args } });
      return { ok: result.isError !== true, text: textOf(result.content) };
    },
    async prompt(name) {
      for (const client of clients.values()) {
        if (client.getServerCapabilities()?.prompts) return (await client.getPrompt({ name })).messages.map((m) => textOf([m.content])).join("\n");
      }
      return "";
    },
    ask: () => Promise.resolve(true),
    async close() {
      for (const client of clients.values()) await client.close();
    },
  };
}
