import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { InvalidArgumentError } from "commander";
import type { ExportFormat } from "../../kit-api.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { readCount } from "../arguments.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";

const FORMATS: readonly ExportFormat[] = ["openai", "openai-responses", "openai-strict", "anthropic", "gemini", "gemini-legacy", "litellm", "mcp", "text"];

interface ExportFlags {
  readonly format: ExportFormat;
  readonly out?: string;
  readonly check?: boolean;
  readonly maxName?: number;
  readonly maxTools?: number;
}

/** `export`: the tools in a provider's form. */
export const exportCommand = defineCommand<ExportFlags>({
  usage: "export",
  summary: "Write the tools as an LLM provider wants them: one JSON array.",
  details: "Equal catalogues give equal bytes. --check compares FILE with what would be written and exits 1 when they differ (for CI).",
  examples: [
    "aurora-mcp export --format openai",
    "aurora-mcp export --format anthropic --out tools.json",
    "aurora-mcp export --format openai --out tools.json --check",
  ],
  options: (command) =>
    command
      .option(
        "--format <format>",
        FORMATS.join(", "),
        (value) => {
          if (!(FORMATS as readonly string[]).includes(value)) throw new InvalidArgumentError(`It is one of ${FORMATS.join(", ")}.`);
          return value;
        },
        "openai",
      )
      .option("--out <file>", "write this file instead of stdout")
      .option("--check", "only compare with --out FILE")
      .option("--max-name <length>", "longest tool name", (value) => readCount(value, "--max-name", 16))
      .option("--max-tools <count>", "most tools", (value) => readCount(value, "--max-tools")),
  run: async (context, options) => {
    if (options.check && options.out === undefined) throw new CliError("--check compares with a file: name it with --out FILE");
    const file = options.out === undefined ? null : path.resolve(context.cwd, options.out);
    // Read first: a host started for this command may write the topology's own exports, and FILE may be one of them.
    const before = file !== null && options.check ? await readFile(file, "utf8").catch(() => null) : null;
    return withHost(context, options, "start", async (host) => {
      const exported = await host.tools(options.format, {
        ...(options.maxName === undefined ? {} : { maxName: options.maxName }),
        ...(options.maxTools === undefined ? {} : { maxTools: options.maxTools }),
      });
      for (const warning of exported.warnings ?? []) context.note(`${context.noteStyle("yellow", "warning")}: ${warning}`);
      if (file === null) {
        process.stdout.write(exported.text);
        return EXIT.ok;
      }
      const tools = options.format === "text" ? null : (JSON.parse(exported.text) as unknown[]).length;
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
      else context.note(`wrote ${file}${tools === null ? "" : ` (${tools} tools)`}`);
      return EXIT.ok;
    });
  },
});

/** Replaces a file in one step. */
async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const temp = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);
  await writeFile(temp, text);
  await rename(temp, file);
}
