import type { LockEntry } from "../../kit-api.ts";
import { escapeInvisible, count } from "../../base/text.ts";
import { selector } from "../../tools/pins.ts";
import { askYesNo } from "../ask.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { collect, defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import type { Style } from "../style.ts";

const LOOKS = { new: "green", changed: "yellow", removed: "red", accepted: "dim" } as const;

interface LockFlags {
  readonly accept?: string[] | true;
  readonly yes?: boolean;
  readonly check?: boolean;
}

/** `lock`: what servers show against what a person accepted. */
export const lockCommand = defineCommand<LockFlags>({
  usage: "lock",
  summary: "Show tools that are new or changed since a person accepted them, and accept them.",
  details: "Accepting writes topology/tools.lock.json, which belongs in version control. Invisible characters in the texts are shown escaped.",
  examples: [
    "aurora-mcp lock",
    "aurora-mcp lock --accept im.polaris.weather",
    "aurora-mcp lock --accept im.polaris.qq/send_message --yes",
    "aurora-mcp lock --check",
  ],
  options: (command) =>
    command
      .option("--accept [app|app/tool...]", "accept everything shown, or only these", (value: string, before: string[] | true | undefined) =>
        collect(value, before === true ? undefined : before),
      )
      .option("--yes", "accept without asking")
      .option("--check", "exit 1 when something is not accepted (for CI)"),
  run: (context, options) =>
    withHost(context, options, "start", async (host) => {
      const selection = Array.isArray(options.accept) ? options.accept : undefined;
      const all = await host.lockDiff();
      const open = all.filter((entry) => entry.state !== "accepted" && (selection === undefined || selection.some((word) => selects(word, entry))));
      if (options.accept === undefined) {
        if (options.json) context.json(all);
        else context.out(open.length === 0 ? `all accepted: ${count(all.length, "entry", "entries")}` : printEntries(open, context.style));
        return options.check && open.length > 0 ? EXIT.problems : EXIT.ok;
      }
      const nothing = selection?.filter((word) => !all.some((entry) => selects(word, entry))) ?? [];
      if (nothing.length > 0)
        throw new CliError(
          `nothing to accept is called ${nothing.map((w) => `"${w}"`).join(", ")}; write an app's package, PACKAGE/TOOL, or PACKAGE/prompt:NAME, PACKAGE/resource_template:URI, PACKAGE/resources:, PACKAGE/instructions:`,
          EXIT.problems,
        );
      if (open.length === 0) return options.json ? context.json([]) : context.out("nothing to accept");
      if (!options.json) context.out(printEntries(open, context.style));
      if (!options.yes && !(context.interactive && (await askYesNo(context, `Accept ${open.length === 1 ? "this entry" : `these ${open.length} entries`}?`)))) {
        throw new CliError(
          context.interactive ? "nothing was accepted" : "there is no terminal to ask at; add --yes to accept what is shown above",
          context.interactive ? EXIT.problems : EXIT.couldNotRun,
        );
      }
      // Exactly what was shown: a server may show something else by the time a person has read it.
      const accepted = await host.lockAccept(open.map(({ app, kind, name, pin, accepted: before }) => ({ app, kind, name, pin, accepted: before })));
      if (options.json) context.json(accepted);
      else context.out(context.style("green", `accepted ${count(open.length, "entry", "entries")}`));
    }),
});

function selects(word: string, entry: LockEntry): boolean {
  return word === entry.app || word === selector(entry.app, entry);
}

function printEntries(entries: readonly LockEntry[], style: Style): string {
  return entries
    .flatMap((entry) => [
      `${style(LOOKS[entry.state], entry.state.padEnd(8))} ${escapeInvisible(`${entry.app}  ${entry.kind} ${entry.name}`)}`,
      ...entry.diff.map((line) => `    ${escapeInvisible(line)}`),
      ...entry.findings.map((finding) => `    ${style("red", "lint")}: ${escapeInvisible(finding)}`),
    ])
    .join("\n");
}
