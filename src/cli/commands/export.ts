import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { makeFolder } from "../../base/make-folder.ts";
import type { ExportFormat } from "../../kit-api.ts";
import { exportedOrder } from "../../llm/export-order.ts";
import { exportTools, type ExportOptions } from "../../llm/export.ts";
import { messageOf } from "../../base/errors.ts";
import { escapeInvisible, nearest, count } from "../../base/text.ts";
import { writeFileAtomic } from "../../files/atomic-write.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { wholeNumber } from "../arguments.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import { ALL_FORMATS, exportReport, OTHER_FORMATS, otherExport, reportLines, type OtherFormat } from "../export-texts.ts";
import { exportableTools } from "../exportable.ts";
import type { Host } from "../host.ts";

interface ExportFlags {
  readonly format: ExportFormat | OtherFormat;
  readonly report?: boolean;
  readonly server: string;
  readonly out?: string;
  readonly check?: boolean;
  readonly append?: boolean;
  readonly maxName?: number;
  readonly maxTools?: number;
  readonly mode: "all" | "search";
}

/** `export`: the tools in a provider's form. */
export const exportCommand = defineCommand<ExportFlags>({
  usage: "export",
  summary: "Write the tools as an LLM provider wants them: one JSON array.",
  details:
    "Equal catalogues give equal bytes. --check compares FILE with what would be written and exits 1 when they differ (for CI).\n--append keeps the tools that FILE has in their order and puts new ones at the end, so that a provider's prompt cache keeps its prefix.\n--report tells what a provider's form had to change of each tool, and why.\nOther forms: ts (types and a typed call), litellm-proxy (mcp_servers of a LiteLLM proxy), claude-code-permissions, vscode, openai-require-approval (the policy in other hosts' words).",
  examples: [
    "aurora-mcp export --format openai",
    "aurora-mcp export --format anthropic --out tools.json",
    "aurora-mcp export --format openai --out tools.json --check",
    "aurora-mcp export --format openai-strict --report",
    "aurora-mcp export --format ts --out tools.ts",
  ],
  options: (command) =>
    command
      .option(
        "--format <format>",
        ALL_FORMATS.join(", "),
        (value) => {
          if (ALL_FORMATS.includes(value)) return value;
          const near = nearest(value, ALL_FORMATS, 1).map((format) => `Did you mean ${format}? `);
          throw new InvalidArgumentError(`${near.join("")}It is one of ${ALL_FORMATS.join(", ")}.`);
        },
        "openai",
      )
      .option("--out <file>", "write this file instead of stdout")
      .option("--check", "only compare with --out FILE")
      .option("--append", "keep the order of --out FILE and add new tools at the end")
      .option("--report", "print what the form changes of each tool instead of the tools")
      .option("--server <name>", "name that another host knows the gateway by", "aurora")
      .option("--max-name <length>", "longest tool name", wholeNumber(16))
      .option("--max-tools <count>", "most tools", wholeNumber())
      .addOption(
        new Option("--mode <mode>", "all tools, or only search_tools and call_tool, through which a model reaches them")
          .choices(["all", "search"])
          .default("all"),
      ),
  run: async (context, options) => {
    if (options.check && options.out === undefined) throw new CliError("--check compares with a file: name it with --out FILE");
    if (options.append && (options.out === undefined || options.report || isOther(options.format)))
      throw new CliError("--append keeps the order of a provider's tools in a file: name it with --out FILE");
    if (options.mode === "search" && isOther(options.format)) throw new CliError(`--mode search is for the forms of providers, not for ${options.format}`);
    const file = options.out === undefined ? null : path.resolve(context.cwd, options.out);
    if (file !== null && (await isFolder(file))) throw new CliError(`${file} is a folder; name a file: --out ${path.join(options.out ?? "", "tools.json")}`);
    // Read first: a host started for this command may write the topology's own exports, and FILE may be one of them.
    const before = file !== null && (options.check || options.append) ? await readFile(file, "utf8").catch(() => null) : null;
    return withHost(context, options, "start", async (host) => {
      const limits: ExportOptions = {
        ...(options.maxName === undefined ? {} : { maxName: options.maxName }),
        ...(options.maxTools === undefined ? {} : { maxTools: options.maxTools }),
        ...(options.mode === "search" ? { mode: options.mode } : {}),
      };
      if (options.report) {
        if (isOther(options.format)) throw new CliError(`--report is for the forms of providers, not for ${options.format}`);
        const report = await exportReport(host, options.format, limits);
        if (options.json) context.json(report);
        else for (const line of reportLines(report)) context.out(escapeInvisible(line));
        return EXIT.ok;
      }
      const exported = options.append
        ? await appendedText(host, options.format as ExportFormat, { ...limits, earlier: exportedOrder(before ?? "", options.format as ExportFormat) })
        : await textOf(host, options, limits);
      for (const warning of exported.warnings) context.note(`${context.noteStyle("yellow", "warning")}: ${warning}`);
      if (file === null) {
        process.stdout.write(exported.text);
        return EXIT.ok;
      }
      const tools = options.format === "text" || isOther(options.format) ? null : (JSON.parse(exported.text) as unknown[]).length;
      const report = { file, tools, etag: exported.etag };
      if (options.check) {
        const same = before === exported.text;
        if (options.json) context.json({ ...report, same });
        else
          context.out(
            same
              ? `${file} is up to date`
              : `${file} ${before === null ? "does not exist" : "differs from the running tools"}; write it with: aurora-mcp export --format ${options.format} --out ${options.out}`,
          );
        return same ? EXIT.ok : EXIT.problems;
      }
      await writeWhole(file, exported.text);
      if (options.json) context.json(report);
      else context.note(`wrote ${file}${tools === null ? "" : ` (${count(tools, "tool")})`}`);
      return EXIT.ok;
    });
  },
});

function isOther(format: string): format is OtherFormat {
  return (OTHER_FORMATS as readonly string[]).includes(format);
}

async function textOf(
  host: Host,
  { format, server }: ExportFlags,
  limits: ExportOptions,
): Promise<{ text: string; etag: string | null; warnings: readonly string[] }> {
  if (isOther(format)) return { ...(await otherExport(host, format, server)), etag: null };
  const exported = await host.tools(format, limits);
  return { ...exported, warnings: exported.warnings ?? [] };
}

/** The export in an earlier order. The host's own texts are sorted, so this one is made here. */
async function appendedText(host: Host, format: ExportFormat, options: ExportOptions): Promise<{ text: string; etag: null; warnings: readonly string[] }> {
  const made = exportTools(await exportableTools(host), format, options);
  return { text: made.text, etag: null, warnings: made.warnings };
}

/** Replaces a file in one step, readable as any file that this user makes. */
async function writeWhole(file: string, text: string): Promise<void> {
  try {
    await makeFolder(path.dirname(file));
    await writeFileAtomic(file, text, { mode: 0o666 });
  } catch (error) {
    throw new CliError(`cannot write ${file}: ${messageOf(error)}`);
  }
}

async function isFolder(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
