import { stringifyExact } from "../../base/exact-json.ts";
import type { ApprovalRow, QuestionRow } from "../../kit-api.ts";
import { escapeInvisible, truncate } from "../../base/text.ts";
import { readArguments } from "../arguments.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import { table } from "../table.ts";
import { personName } from "./call.ts";

const list = defineCommand<{ all?: boolean }>({
  usage: "approvals list",
  summary: "List the calls that wait for a person.",
  examples: ["aurora-mcp approvals list", "aurora-mcp approvals list --all --json"],
  options: (command) => command.option("--all", "also the decided and expired ones"),
  run: (context, options) =>
    withHost(context, options, "attach", async (host) => {
      const rows = await host.approvals(options.all === true);
      if (options.json) return context.json(rows);
      if (rows.length === 0) return context.out("nothing waits for an approval");
      const cells = rows.map((row) => [
        row.id,
        row.state,
        row.tool,
        row.risk,
        `${row.client}/${row.session}`,
        row.expires_at,
        truncate(JSON.stringify(row.arguments), 100),
      ]);
      context.out(table(["ID", "STATE", "TOOL", "RISK", "CALLER", "EXPIRES", "ARGUMENTS"], cells, context.style));
      for (const row of rows) if (row.state === "pending" && row.question !== null) for (const line of questionLines(row, row.question)) context.out(line);
    }),
});

/** How a question reads and how it is answered. */
function questionLines({ id, app, answer, decided_by }: ApprovalRow, question: QuestionRow): string[] {
  const said = `  ${escapeInvisible(app)} asks: ${escapeInvisible(question.message)}`;
  if (question.mode === "form" && answer !== null)
    return [
      ``,
      said,
      `  ${escapeInvisible(decided_by.join(", "))} answered: ${escapeInvisible(stringifyExact(answer))}`,
      `  confirm exactly that: aurora-mcp approvals approve ${id}   (or deny, or cancel)`,
    ];
  if (question.mode === "form")
    return [
      ``,
      said,
      `  its form: ${truncate(escapeInvisible(JSON.stringify(question.schema)), 2000)}`,
      `  answer it: aurora-mcp approvals approve ${id} --answer '{…}'   (or deny, or cancel)`,
    ];
  return [
    ``,
    said,
    `  at the site: ${escapeInvisible(question.host)}${question.reads_as === null ? "" : `  (an international name that reads ${escapeInvisible(question.reads_as)})`}`,
    `  whole address: ${escapeInvisible(question.url)}`,
    `  open it only if you know that site, then: aurora-mcp approvals approve ${id}   (or deny, or cancel)`,
  ];
}

const DONE = { approve: "approved", deny: "denied", cancel: "cancelled" } as const;
const SUMMARY = {
  approve: "Approve waiting calls; each runs once, exactly as shown.",
  deny: "Deny waiting calls.",
  cancel: "Close questions of apps without an answer.",
} as const;

function decide(decision: "approve" | "deny" | "cancel") {
  const done = DONE[decision];
  return defineCommand<{ reason?: string; by?: string; answer?: string }>({
    usage: `approvals ${decision} <id...>`,
    summary: SUMMARY[decision],
    examples: [`aurora-mcp approvals ${decision} 0190f3d2-7c1e-7a4b-9d55-4f1c0a8be210${decision === "deny" ? " --reason 'not now'" : ""}`],
    options(command) {
      command.option("--reason <text>", "why; kept in the audit log").option("--by <name>", "who decides; your user name by default");
      return decision === "approve" ? command.option("--answer <json>", "the answer to an app's form: a JSON object, @FILE, or - for stdin") : command;
    },
    async run(context, options, ids) {
      const answer = options.answer === undefined ? undefined : await readArguments(context, options.answer);
      return withHost(context, options, "attach", async (host) => {
        const rows: ApprovalRow[] = [];
        for (const id of ids) rows.push(await host.decideApproval(id, decision, options.by ?? personName(context), options.reason, answer));
        if (options.json) return context.json(rows);
        for (const row of rows) {
          const state = row.state === "pending" ? "noted, a second person must approve it too" : done;
          context.out(`${row.id}  ${escapeInvisible(row.tool)}  ${state}`);
        }
      });
    },
  });
}

const sessionsList = defineCommand({
  usage: "sessions list",
  summary: "List the sessions that have read a low-trust source.",
  examples: ["aurora-mcp sessions list"],
  run: (context, options) =>
    withHost(context, options, "attach", async (host) => {
      const rows = await host.sessions();
      if (options.json) return context.json(rows);
      if (rows.length === 0) return context.out("no session is marked");
      context.out(
        table(
          ["CLIENT", "SESSION", "SOURCE", "SINCE", "EXPIRES"],
          rows.map((row) => [row.client, row.session, row.source, row.since, row.expires_at]),
          context.style,
        ),
      );
    }),
});

const sessionsClear = defineCommand<{ client: string }>({
  usage: "sessions clear <session>",
  summary: "Take the data-flow mark off a session.",
  examples: ["aurora-mcp sessions clear cli", "aurora-mcp sessions clear chat-17 --client bot"],
  options: (command) => command.option("--client <name>", "the caller whose session it is", "caller"),
  run: (context, options, [session]) =>
    withHost(context, options, "attach", async (host) => {
      const cleared = await host.clearSession(options.client, session!);
      if (options.json) context.json({ cleared });
      else context.out(cleared ? "cleared" : `session "${session}" of "${options.client}" has no mark`);
    }),
});

/** `approvals list|approve|deny|cancel` and `sessions list|clear`. */
export const approvalsCommands = [list, decide("approve"), decide("deny"), decide("cancel"), sessionsList, sessionsClear];
