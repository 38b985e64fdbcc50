import { escapeInvisible } from "../../base/text.ts";
import { formatDuration } from "../../base/durations.ts";
import { readArguments } from "../arguments.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";

/** `explain`: why a tool may or may not be called. */
export const explainCommand = defineCommand<{ args?: string; session?: string; client: string }>({
  usage: "explain <tool>",
  summary: "Say what the policy decides for a tool or a call, by which rule, and why.",
  examples: ["aurora-mcp explain im.polaris.qq.send_message", `aurora-mcp explain send_message --args '{"target": "group:123456"}' --json`],
  options: (command) =>
    command
      .option("--args <json>", "arguments of the call: a JSON object, @FILE, or - for stdin")
      .option("--session <name>", "conversation whose data-flow marks count")
      .option("--client <name>", "name of the caller", "caller"),
  run: async (context, options, [tool]) => {
    const args = options.args === undefined ? undefined : await readArguments(context, options.args);
    return withHost(context, options, "start", async (host) => {
      const said = await host.explain(tool!, {
        client: options.client,
        ...(args ? { args } : {}),
        ...(options.session === undefined ? {} : { session: options.session }),
      });
      if (options.json) return context.json(said);
      const place = said.file === null ? "" : `  (${said.file}:${said.line})`;
      const held = said.state === "quarantined" || said.state === "excluded";
      const lines: [string, string][] = [
        ["tool", `${said.tool}  (${said.short_name})`],
        ["state", said.state],
        ["risk", `${said.risk}, from ${said.risk_source}`],
        ["decision", `${said.decision}: ${said.reason}`],
        ["rule", said.rule === null ? (held ? "none; no rule is asked" : "none; the table of risks decides") : `${said.rule}${place}`],
        ["audit", said.audit],
        ["pin", `${said.pin.state}  ${said.pin.current}`],
        ["timeout", formatDuration(said.timeout_ms)],
        ...said.limits.map((l): [string, string] => [
          "limit",
          `${[l.rate, l.concurrent === null ? null : `${l.concurrent} at a time`].filter(Boolean).join(", ")}  (rule ${l.rule})`,
        ]),
        ...said.warnings.map((w): [string, string] => ["warning", w]),
        ...said.marks.map((m): [string, string] => ["mark", `session ${m.session} has read ${m.source} since ${m.since}`]),
      ];
      for (const [name, text] of lines) context.out(`${context.style("dim", name.padEnd(10))}${escapeInvisible(text)}`);
    });
  },
});
