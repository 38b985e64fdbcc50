import type { CallInput, CallJson } from "../../control/client.ts";
import type { ApprovalRow } from "../../kit-api.ts";
import { own, type JsonObject } from "../../base/json.ts";
import { escapeInvisible } from "../../base/text.ts";
import { readArguments } from "../arguments.ts";
import { askYesNo } from "../ask.ts";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Host } from "../host.ts";
import { printContent, printError } from "../print-result.ts";

interface CallFlags {
  readonly args?: string;
  readonly session: string;
  readonly approval?: string;
}

/** `call`: runs one tool, through policy and audit as any caller. */
export const callCommand = defineCommand<CallFlags>({
  usage: "call <tool>",
  summary: "Call a tool and print its result.",
  details:
    "A call that the policy asks about is shown to you at the terminal, and your answer is the approval. Without a terminal it waits for somebody to run `aurora-mcp approvals approve ID`. Ctrl-C cancels the call.",
  examples: [
    `aurora-mcp call im.polaris.clock.get_time --args '{"timezone": "Asia/Shanghai"}'`,
    "aurora-mcp call get_time --args @arguments.json --json",
    "aurora-mcp call send_message --args - --approval 0190f3d2-…",
  ],
  options: (command) =>
    command
      .option("--args <json>", "the arguments: a JSON object, @FILE, or - for stdin")
      .option("--session <name>", "conversation that the call belongs to", "cli")
      .option("--approval <id>", "an approval given earlier for exactly this call"),
  run: async (context, options, [tool]) => {
    const args = await readArguments(context, options.args);
    return withHost(context, options, "start", async (host) => {
      const call = await callTool(context, host, tool!, args, options);
      if (options.json) context.json(call);
      else printCall(context, call, await pendingApproval(host, call));
      return call.outcome === "succeeded" ? EXIT.ok : EXIT.problems;
    });
  },
});

async function callTool(context: Context, host: Host, tool: string, args: JsonObject, flags: CallFlags): Promise<CallJson> {
  const options: CallInput = { session: flags.session, signal: context.signal, ...(flags.approval === undefined ? {} : { approvalId: flags.approval }) };
  if (!context.interactive || flags.approval !== undefined) return host.call(tool, args, options);
  // No wait: the question comes back at once, with the id under which this person answers it.
  const first = await host.call(tool, args, { ...options, waitMs: 0 });
  const id = own(first.error?.details, "approval_id");
  if (first.error?.error_code !== "APPROVAL_REQUIRED" || typeof id !== "string") return first;
  const asked = (await host.approvals()).find((row) => row.id === id);
  if (asked === undefined) return first;
  const yes = await askApproval(context, asked);
  if (context.signal.aborted) return first;
  const decided = await host.decideApproval(id, yes ? "approve" : "deny", personName(context), "answered at the terminal");
  if (yes && decided.state === "pending") context.note("noted; this approval needs a second person: aurora-mcp approvals approve " + id);
  return host.call(tool, args, { ...options, approvalId: id });
}

/** Shows what exactly would run, every invisible character escaped so that arguments cannot draw over the question, and asks. */
async function askApproval(context: Context, row: ApprovalRow): Promise<boolean> {
  const bold = (text: string): string => context.noteStyle("bold", text);
  context.note(`${bold("Approve this call?")}  ${escapeInvisible(row.tool)}  (${row.risk} risk)`);
  context.note(`  ${escapeInvisible(row.reason)}${row.rule ? `  [rule ${row.rule.id}, ${row.rule.file}:${row.rule.line}]` : ""}`);
  for (const line of JSON.stringify(row.arguments, null, 2).split("\n")) context.note(`  | ${escapeInvisible(line)}`);
  return askYesNo(context, "Run it?");
}

/** The name under which an answer of this terminal is recorded. */
export function personName(context: Context): string {
  return `${context.env["USER"] ?? context.env["LOGNAME"] ?? context.env["USERNAME"] ?? "somebody"} at the terminal`;
}

/** The id of the approval that this call waits for, if a person can still give it; one that is used is refused with the same code. */
async function pendingApproval(host: Host, call: CallJson): Promise<string | null> {
  const id = own(call.error?.details, "approval_id");
  if (typeof id !== "string" || call.error?.error_code !== "APPROVAL_REQUIRED") return null;
  return (await host.approvals()).some((row) => row.id === id && row.state === "pending") ? id : null;
}

function printCall(context: Context, call: CallJson, pending: string | null): void {
  if (call.result !== null) {
    printContent(context, own(call.result, "content"));
    const structured = own(call.result, "structuredContent");
    if (structured !== undefined && !Array.isArray(own(call.result, "content"))) context.out(escapeInvisible(JSON.stringify(structured, null, 2), true));
  }
  for (const note of call.notes) context.note(context.noteStyle("dim", escapeInvisible(note)));
  if (!call.ok) printError(context, call.error);
  if (pending !== null) context.note(`  approve it:  aurora-mcp approvals approve ${pending}\n  then again:  the same command with --approval ${pending}`);
  if (call.outcome === "unknown") context.note("  the app may or may not have done it; it is not sent again by itself");
}
