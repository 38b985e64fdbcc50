import { escapeInvisible, count } from "../../base/text.ts";
import { readArguments } from "../arguments.ts";
import { defineCommand, type CommandSpec } from "../command.ts";
import { openRunnable } from "../open-workspace.ts";
import type { Style } from "../style.ts";
import { table } from "../table.ts";
import { tryFixtures } from "../try-fixtures.ts";
import type { ExplainedSignal } from "../what-if.ts";

const signalsTest = defineCommand({
  usage: "signals test <file>",
  summary: "Run signal fixtures offline: { tests: [{ signal: { app, method, params }, expect: [envelope, …] }] }.",
  details: "expect lists the envelopes in order, each with the members to compare; an empty list is a drop. No event is written.",
  examples: ["aurora-mcp signals test signal-tests.yaml --json"],
  run: (context, options, [file]) =>
    tryFixtures(context, options, file!, async ({ plan }, text) => (await import("../what-if.ts")).trySignals(plan, file!, text)),
});

const explaining: Omit<CommandSpec, "usage" | "examples"> = {
  summary: "Say which mapping rule takes a signal, why the others do not, and which events it becomes; offline.",
  details:
    "The signal is { app, method, params?, kind?, session?, instance? } as in signal fixtures: JSON, @FILE, or - for stdin. No event is written; sample lets pass and at_most counts from nothing.",
  run: async (context, options, [given]) => {
    const { plan } = await openRunnable(context, options);
    const written = await readArguments(context, given, { what: "signal", example: `'{"app": "org.example.git", "method": "notifications/progress"}'` });
    const { explainWritten } = await import("../what-if.ts");
    const explained = explainWritten(plan, written);
    if (options.json) context.json(explained);
    else context.out(printExplained(explained, context.style));
  },
};

const EXAMPLE = `'{"app": "org.example.git", "method": "notifications/resources/updated", "params": {"uri": "repo://main"}}'`;
const signalsExplain = defineCommand({
  ...explaining,
  usage: "signals explain <signal>",
  examples: [`aurora-mcp signals explain ${EXAMPLE}`, "aurora-mcp signals explain @signal.json --json"],
});
/** The same under the name that stands beside `explain`. */
const explainSignal = defineCommand({ ...explaining, usage: "explain-signal <signal>", examples: [`aurora-mcp explain-signal ${EXAMPLE}`] });

/** Rules that decide or match first, then the workspace's own that do not match; of the built-in ones that do not, only how many. */
function printExplained({ rules, dropped, refused, events }: ExplainedSignal, style: Style): string {
  const order = { decides: 0, covered: 1, no: 2 };
  const shown = rules.filter((rule) => rule.verdict !== "no" || rule.set === "user").sort((a, b) => order[a.verdict] - order[b.verdict]);
  const place = (file: string | null, line: number | null, set: string): string => (file === null || set === "built_in" ? "built in" : `${file}:${line}`);
  const lines: string[] = [];
  if (shown.length > 0)
    lines.push(
      table(
        ["VERDICT", "RULE", "WHERE", "WHY"],
        shown.map((rule) => [rule.verdict, rule.rule, place(rule.file, rule.line, rule.set), rule.reason]),
        style,
        (row, column) => (column === 0 ? ({ decides: "green", covered: "yellow", no: "dim" } as const)[shown[row]!.verdict] : null),
      ),
    );
  const others = rules.length - shown.length;
  if (others > 0) lines.push(style("dim", `${count(others, "built-in rule does", "built-in rules do")} not match (--json has them)`));
  if (refused !== null) lines.push(`${style("red", "refused")}: ${escapeInvisible(refused)}`);
  else if (events.length === 0) lines.push(dropped ? "dropped: no event" : "no event");
  for (const event of events)
    lines.push(`${style("green", "event")}  ${escapeInvisible([event.type, event.summary ?? ""].join("  ").trimEnd())}  (rule ${event.rule})`);
  return lines.join("\n");
}

/** `signals test|explain` and `explain-signal`. */
export const signalsCommands = [signalsTest, signalsExplain, explainSignal];
