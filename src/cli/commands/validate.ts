import { hasErrors } from "../../base/diagnostics.ts";
import { InvalidArgumentError } from "commander";
import type { Workspace } from "../../workspace.ts";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import type { Style } from "../style.ts";
import { openWorkspace } from "../open-workspace.ts";
import { printFindings } from "../print-findings.ts";
import { table } from "../table.ts";
import { count } from "../../base/text.ts";

type Format = "text" | "compact" | "json";

/** `validate`: checks every file of the workspace without starting anything. */
export const validateCommand = defineCommand<{ format?: Format; strict?: boolean }>({
  usage: "validate",
  summary: "Check topology, manifests, policies and signals; starts nothing.",
  details: "Exit code 0: clean, or warnings only. 1: problems. 2: could not run.",
  examples: ["aurora-mcp validate", "aurora-mcp validate --format compact --strict"],
  options: (command) =>
    command
      .option("--format <format>", "text, compact (one line a finding) or json", (value): Format => {
        if (value !== "text" && value !== "compact" && value !== "json") throw new InvalidArgumentError("It is text, compact or json.");
        return value;
      })
      .option("--strict", "warnings are errors"),
  run: async (context, options) => {
    const workspace = await openWorkspace(context, options);
    const found = options.strict
      ? workspace.diagnostics.map((d) => (d.severity === "warning" ? { ...d, severity: "error" as const } : d))
      : workspace.diagnostics;
    const format = options.format ?? (options.json ? "json" : "text");
    if (format === "json" || found.length > 0) context.out(printFindings(context, workspace, found, format));
    const failed = hasErrors(found);
    if (format === "text" && !failed) context.out(`${found.length > 0 ? "\n" : ""}${printSummary(workspace, context.style)}`);
    return failed ? EXIT.problems : EXIT.ok;
  },
});

/** What the files mean, with every path resolved and every secret masked. */
function printSummary({ plan, texts, topologyFile, masker }: Workspace, style: Style): string {
  if (plan === null) return "";
  const rows: string[][] = [
    ...[...plan.apps.values()].map((app) => [
      app.package,
      app.trust,
      app.connect.transport === "http" ? app.connect.url : [app.connect.command, ...app.connect.args].join(" "),
      app.connect.transport === "http" ? "-" : app.connect.cwd,
    ]),
    ...[...plan.parked.values()].map((app) => [app.package, "-", `${app.state}: ${app.reason}`, "-"]),
  ];
  const mask = masker.text;
  const lines = [
    `${style("green", "ok")}  ${topologyFile}  (${count(texts.size, "file")}, ${count(rows.length, "app")})`,
    `data   ${mask(plan.dataDir)}`,
    `inbox  ${plan.inbox.sink === "off" ? "off" : mask(plan.inbox.dir)}`,
  ];
  for (const entry of plan.exports) lines.push(`export ${entry.format}  ${mask(entry.file)}`);
  if (rows.length > 0)
    lines.push(
      "",
      table(
        ["APP", "TRUST", "RUNS", "IN"],
        rows.map((row) => row.map(mask)),
        style,
      ),
    );
  return lines.join("\n");
}
