import { existsSync } from "node:fs";
import path from "node:path";
import { InvalidArgumentError } from "commander";
import type { Diagnostic } from "../../base/diagnostics.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import { escapeInvisible, listWords } from "../../base/text.ts";
import { waitsForPerson } from "../../tools/pins.ts";
import type { Trust } from "../../tools/types.ts";
import { readGiven, readPairs } from "../arguments.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { collect, defineCommand } from "../command.ts";
import type { Context, GlobalOptions } from "../context.ts";
import { addApps, writeEdit, type TopologyEdit } from "../edit-topology.ts";
import { openWorkspace } from "../open-workspace.ts";
import { printFindings } from "../print-findings.ts";
import type { Workspace } from "../../workspace.ts";

interface AddFlags {
  readonly url?: string;
  readonly header?: string[];
  readonly env?: string[];
  readonly trust?: string;
  readonly dryRun?: boolean;
}

const PACKAGE = /^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9][A-Za-z0-9_-]*)*$/;

/** `apps add`: a few lines of YAML for any MCP server. */
export const appsAddCommand = defineCommand<AddFlags>({
  usage: "apps add <package> [command...]",
  summary: "Add an MCP server to topology.yaml: a command after --, or a URL.",
  details:
    "Comments and order of the file stay. A running host starts the app by itself. Write secrets as '${NAME}', which the host reads from its environment.",
  examples: [
    `aurora-mcp apps add org.example.everything --trust medium -- npx -y @modelcontextprotocol/server-everything`,
    `aurora-mcp apps add org.example.search --url https://mcp.example.org/mcp --header 'Authorization=Bearer \${SEARCH_TOKEN}'`,
  ],
  options: (command) =>
    command
      .option("--url <url>", "the endpoint of a server that runs elsewhere (Streamable HTTP)")
      .option("--header <name=value>", "an HTTP header; may be given several times", collect)
      .option("--env <name=value>", "an environment variable of the server; may be given several times", collect)
      .option("--trust <trust>", "high, medium or low; low by default", (value) => {
        if (!["high", "medium", "low"].includes(value)) throw new InvalidArgumentError("It is high, medium or low.");
        return value;
      })
      .option("--dry-run", "only show the lines"),
  run: async (context, options, [name, ...command]) => {
    if (!PACKAGE.test(name!))
      throw new CliError(`"${name}" cannot be a package: use letters, digits, _ and - in parts with dots between, such as org.example.search`);
    if ((options.url === undefined) === (command.length === 0)) throw new CliError("say how the server is reached: either --url URL, or -- COMMAND ARGUMENTS");
    const mcp: JsonObject =
      options.url === undefined
        ? { command: command.slice(0, 1), ...(command.length > 1 ? { args: command.slice(1) } : {}) }
        : { transport: "http", url: options.url, ...map("headers", options.header, "--header") };
    const entry: JsonObject = { mcp, ...map("env", options.env, "--env"), ...(options.trust === undefined ? {} : { trust: options.trust }) };
    return edit(context, options, [{ package: name!, entry }], { dryRun: options.dryRun === true, more: {} });
  },
});

/** `import`: the servers of another program's configuration. */
export const importCommand = defineCommand<{ prefix: string; dryRun?: boolean }>({
  usage: "import <file>",
  summary: "Take over the MCP servers of Claude Desktop, Claude Code, Cursor or VS Code (mcpServers JSON).",
  details:
    "Comments and order of topology.yaml stay. Tokens in the file become ${NAME}; the variables to set are listed. Imported apps have low trust until you say otherwise.",
  examples: ["aurora-mcp import ~/.cursor/mcp.json", "aurora-mcp import .vscode/mcp.json --prefix org.example --dry-run"],
  options: (command) =>
    command.option("--prefix <prefix>", "put in front of the names to make packages", "imported").option("--dry-run", "only show the lines"),
  run: async (context, options, [given]) => {
    const file = path.resolve(context.cwd, given!);
    const text = await readGiven(context, file, "servers");
    if (!PACKAGE.test(options.prefix)) throw new CliError(`--prefix ${options.prefix}: use letters, digits, _ and - in parts with dots between`);
    const [{ importServers }, { referredNames }, workspace] = await Promise.all([
      import("../../config/import-servers.ts"),
      import("../../config/import-variables.ts"),
      openWorkspace(context, options),
    ]);
    const imported = importServers(text, {
      prefix: options.prefix,
      exists: (name) => existsSync(path.resolve(context.cwd, name)),
      environment: context.env,
      taken: referredNames([...workspace.texts.values()].join("\n")),
    });
    if (!imported.ok) throw new CliError(`${file}: ${imported.reason}`, EXIT.problems);
    const { apps, variables, notes } = imported.value;
    if (!options.json || apps.length === 0) for (const note of notes) context.note(`${context.noteStyle("yellow", "note")}: ${escapeInvisible(note)}`);
    if (apps.length === 0) throw new CliError(`${file}: no server in it could be taken over; nothing was changed`, EXIT.problems);
    if (!options.json) {
      for (const { name, why } of variables) context.note(`${context.noteStyle("yellow", "set")}:  ${escapeInvisible(`${name}  (${why})`)}`);
    }
    return edit(context, options, apps, { dryRun: options.dryRun === true, more: { variables: variables as unknown as Json, notes: [...notes] } });
  },
});

/** What the host's environment lacks here may be there where the host runs. */
const ENVIRONMENT = new Set(["unset-variable", "secret-file"]);

/** Prints the errors that an edit would bring, and throws a {@link CliError}. */
function refuseErrors(context: Context, options: GlobalOptions, before: Workspace, now: Workspace): void {
  const name = ({ code, path: at, message }: Diagnostic): string => JSON.stringify([code, at, message]);
  const known = new Set(before.diagnostics.map(name));
  const errors = now.diagnostics.filter((d) => d.severity === "error" && !ENVIRONMENT.has(d.code) && !known.has(name(d)));
  if (errors.length === 0) return;
  if (options.json) context.out(printFindings(context, now, errors, "json"));
  else context.note(printFindings(context, now, errors, "text"));
  throw new CliError(`with these lines topology.yaml would have errors; nothing was changed`, EXIT.problems);
}

/** Shows the new lines with secrets masked, writes them, and says what validate thinks of the file then. Lines that bring errors are refused. */
async function edit(
  context: Context,
  options: GlobalOptions,
  apps: readonly { readonly package: string; readonly entry: JsonObject }[],
  how: { readonly dryRun: boolean; readonly more: JsonObject },
): Promise<number> {
  const before = await openWorkspace(context, options);
  const { topologyFile } = before;
  const change: TopologyEdit = await addApps(topologyFile, apps);
  const now = await openWorkspace(context, options, change.after);
  refuseErrors(context, options, before, now);
  if (!how.dryRun) await writeEdit(change);
  const { createMasker } = await import("../../base/masking.ts");
  const { findSecrets } = await import("../../config/secrets.ts");
  const masker = createMasker(apps.flatMap((app) => findSecrets(app.entry, []).values.filter((value) => !value.includes("${"))));
  // A line with a variable is shown as it is but for whole secrets: `Bearer ${TOKEN}` only has the shape of one.
  const added = change.added.map((line) => (line.includes("${") ? masker.known(line) : masker.text(line)));
  const waiting = apps.filter(({ package: name, entry }) => waitsAtFirst(now, name, entry)).map((app) => app.package);
  if (options.json) context.json({ file: topologyFile, written: !how.dryRun, added, apps: apps.map((app) => app.package), waiting, ...how.more });
  else
    context.out(
      `${how.dryRun ? "would add to" : "added to"} ${topologyFile}:\n${added.map((line) => context.style("green", `+ ${escapeInvisible(line)}`)).join("\n")}`,
    );
  if (waiting.length > 0 && !options.json)
    context.note(
      `\n${context.noteStyle("yellow", "next")}: no tool of ${listWords(waiting)} is shown or can be called before a person has accepted it ` +
        `(${now.plan?.pins === "enforce" ? "pins: enforce" : "its trust is low; with trust: medium in its entry each is taken as it is first seen"}). Once it runs, look and accept:\n` +
        waiting.map((name) => `  aurora-mcp lock --accept ${name}`).join("\n"),
    );
  if (how.dryRun) return EXIT.ok;
  if (now.diagnostics.length > 0) context.note(`\n${printFindings(context, now, now.diagnostics, "text")}`);
  return EXIT.ok;
}

/** Whether what a new app shows waits for a person; by its own lines where the rest has errors, such as variables that are set elsewhere. */
function waitsAtFirst({ plan }: Workspace, name: string, entry: JsonObject): boolean {
  if (entry["enabled"] === false) return false;
  return waitsForPerson(plan?.pins ?? "first_use", plan?.apps.get(name)?.trust ?? ((entry["trust"] ?? "low") as Trust));
}

function map(key: string, words: readonly string[] | undefined, option: string): JsonObject {
  return words === undefined ? {} : { [key]: readPairs(words, option) };
}
