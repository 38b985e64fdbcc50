import type { ToolRow } from "../../kit-api.ts";
import { own, type JsonObject } from "../../base/json.ts";
import { escapeInvisible, nearest, truncate, count } from "../../base/text.ts";
import { wholeNumber } from "../arguments.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import type { Host } from "../host.ts";
import { requireApp } from "../known-app.ts";
import { searchTools } from "../search-tools.ts";
import type { Style } from "../style.ts";
import { table } from "../table.ts";

function printTools(rows: readonly ToolRow[], style: Style): string {
  if (rows.length === 0) return "no tools";
  const cells = rows.map((row) => [
    row.name,
    row.short_name,
    row.risk,
    row.action,
    row.state,
    String(row.tokens),
    truncate(row.reason ?? row.description ?? "", 70),
  ]);
  return table(["TOOL", "SHORT NAME", "RISK", "ACTION", "STATE", "TOKENS", "ABOUT"], cells, style, (row, column) =>
    column === 4 && rows[row]!.state !== "exposed" ? "yellow" : null,
  );
}

const list = defineCommand<{ app?: string; cost?: boolean }>({
  usage: "tools list",
  summary: "List the tools of all apps, with risk, decision and token cost.",
  examples: ["aurora-mcp tools list", "aurora-mcp tools list --app im.polaris.clock --json", "aurora-mcp tools list --cost"],
  options: (command) =>
    command.option("--app <package>", "only this app's tools").option("--cost", "dearest first, with the sum per app (estimated tokens in every request)"),
  run: (context, options) =>
    withHost(context, options, "start", async (host) => {
      await requireApp(host, options.app);
      const rows = (await host.toolRows()).filter((row) => options.app === undefined || row.app === options.app);
      if (options.cost) rows.sort((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1));
      if (options.json) context.json(rows);
      else context.out(printTools(rows, context.style) + (options.cost ? `\n\n${costLines(rows)}` : ""));
    }),
});

/** What the offered tools of each app, and all together, cost in every request. */
function costLines(rows: readonly ToolRow[]): string {
  const offered = rows.filter((row) => row.state === "exposed" || row.state === "unavailable");
  const sums = new Map<string, number>();
  for (const row of offered) sums.set(row.app, (sums.get(row.app) ?? 0) + row.tokens);
  const lines = [...sums].sort(([, a], [, b]) => b - a).map(([app, tokens]) => `${app}  about ${count(tokens, "token")}`);
  return [
    ...lines,
    `all ${count(offered.length, "offered tool")}: about ${count(
      offered.reduce((sum, row) => sum + row.tokens, 0),
      "token",
    )} in every request (an estimate)`,
  ].join("\n");
}

const search = defineCommand<{ limit: number }>({
  usage: "tools search <words...>",
  summary: "Find tools by words in their names and descriptions, best first.",
  examples: ["aurora-mcp tools search weather forecast"],
  options: (command) => command.option("--limit <count>", "most tools shown", wholeNumber(), 10),
  run: (context, options, words) =>
    withHost(context, options, "start", async (host) => {
      const found = searchTools(await host.toolRows(), words.join(" ")).slice(0, options.limit);
      if (options.json) context.json(found);
      else context.out(printTools(found, context.style));
      return found.length > 0 ? EXIT.ok : EXIT.problems;
    }),
});

const show = defineCommand({
  usage: "tools show <tool>",
  summary: "Show one tool whole: its schemas, risk and pin.",
  examples: ["aurora-mcp tools show im.polaris.clock.get_time"],
  run: (context, options, [name]) =>
    withHost(context, options, "start", async (host) => {
      const row = await findTool(host, name!);
      const definition = await definitionOf(host, row);
      if (options.json) return context.json({ ...row, definition });
      const { bold, plain } = { bold: (text: string) => context.style("bold", text), plain: (text: string | null) => escapeInvisible(text ?? "-") };
      context.out(bold(row.name) + (row.title ? `  ${plain(row.title)}` : ""));
      context.out(escapeInvisible(row.description ?? "no description", true));
      context.out(
        `\nshort name  ${row.short_name}\napp         ${row.app}\nrisk        ${row.risk} (${plain(row.risk_source)})\naction      ${row.action}\nstate       ${row.state}${row.reason ? `: ${plain(row.reason)}` : ""}\ntokens      ${row.tokens}`,
      );
      for (const part of ["inputSchema", "outputSchema", "annotations"]) {
        const value = own(definition, part);
        if (value !== undefined) context.out(`\n${bold(part)}\n${escapeInvisible(JSON.stringify(value, null, 2), true)}`);
      }
    }),
});

/** The row of a tool by full, short or own name. Throws a {@link CliError} that names near tools, all that are meant, or why it was left out. */
async function findTool(host: Host, name: string): Promise<ToolRow> {
  const rows = await host.toolRows();
  const exact = rows.find((row) => row.name === name) ?? rows.find((row) => row.short_name === name);
  if (exact) return exact;
  const same = rows.filter((row) => row.tool === name);
  if (same.length === 1) return same[0]!;
  if (same.length > 1) throw new CliError(`"${name}" is the name of several tools; write one of: ${same.map((row) => row.name).join(", ")}`, EXIT.problems);
  for (const app of (await host.status()).apps) {
    const dropped = app.dropped.find((item) => item.kind === "tool" && (item.name === name || `${app.package}.${item.name}` === name));
    if (dropped) throw new CliError(`${app.package} lists "${dropped.name}", but it was left out: ${dropped.reason}`, EXIT.problems);
  }
  const near = nearest(
    name,
    rows.flatMap((row) => [row.name, row.tool]),
  );
  throw new CliError(`no tool is called "${name}"${near.length > 0 ? `; near: ${near.join(", ")}` : "; aurora-mcp tools list shows all"}`, EXIT.problems);
}

/** The definition as the server gave it; null for a tool that is not offered at the moment. */
async function definitionOf(host: Host, row: ToolRow): Promise<JsonObject | null> {
  const { text } = await host.tools("mcp");
  const tools = JSON.parse(text) as JsonObject[];
  return tools.find((tool) => own(tool, "name") === row.short_name) ?? null;
}

/** `tools list`, `tools search`, `tools show`. */
export const toolsCommands = [list, search, show];
