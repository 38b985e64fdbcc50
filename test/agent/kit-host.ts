import type { Json } from "../../src/base/json.ts";
import { own } from "../../src/base/json.ts";
import { startKit, topologyText } from "../support/kit.ts";
import { isWanted } from "./agent.ts";
import type { Host, ServerScript, Step } from "./host.ts";
import { serverArgs } from "./server-args.ts";

/**
 * The kit with its default policy: no policy file, only what the operator says of each app. The person answers what is asked for what
 * the user wants, and nothing else.
 */
export async function kitHost(servers: readonly ServerScript[], log: string, wanted: readonly Step[]): Promise<Host> {
  const apps = Object.fromEntries(
    servers.map((server) => [
      `org.agent.${server.name}`,
      {
        trust: server.trust,
        commands: Object.entries(server.risks ?? {}).map(([name, risk]) => ({ name, risk })),
        mcp: { command: [process.execPath], args: serverArgs(server, log) },
      },
    ]),
  );
  const { kit, stop } = await startKit({ "topology/topology.yaml": topologyText(apps) });
  await kit.lockAccept(servers.filter((s) => s.trust === "low" && s.accepted !== false).map((s) => `org.agent.${s.name}`));
  const session = "talk";
  return {
    async look() {
      // A changed list comes a moment after the call that changed it; the agent gets every chance to see it.
      await new Promise((resolve) => setTimeout(resolve, servers.some((s) => s.toolsLater) ? 700 : 0));
      const tools = (kit.tools("mcp").tools as { name: string }[]).map((tool) => ({ name: tool.name, texts: JSON.stringify(tool).replaceAll('\\"', '"') }));
      return {
        tools,
        other: kit.instructions!()
          .map((i) => i.text)
          .join("\n"),
      };
    },
    async call(name, args, approvalId) {
      const call = await kit.callTool(name, args as Json, { session, waitMs: 0, ...(approvalId === undefined ? {} : { approvalId }) });
      const id = own(call.error?.details, "approval_id");
      const text = ((call.result?.["content"] ?? []) as { text?: string }[]).map((block) => block.text ?? "").join("\n");
      const waits = call.error?.error_code === "APPROVAL_REQUIRED" && approvalId === undefined && typeof id === "string";
      return { ok: call.ok, text: `${text}\n${call.error?.message ?? ""}`, ...(waits ? { approvalId: id } : {}) };
    },
    async prompt(name) {
      const read = await kit.getPrompt(name, {}, { session });
      return ((read.result?.["messages"] ?? []) as { content: { text: string } }[]).map((m) => m.content.text).join("\n");
    },
    async ask(id) {
      const row = kit.listApprovals().find((a) => a.id === id);
      if (!row) return false;
      const yes = isWanted(wanted, row.tool, row.arguments);
      await kit.decideApproval(id, yes ? "approve" : "deny", "the person");
      return yes;
    },
    close: stop,
  };
}
