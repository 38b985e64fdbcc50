import { Command, CommanderError } from "commander";
import { KitError, messageOf } from "../base/errors.ts";
import { escapeInvisible } from "../base/text.ts";
import { ControlError } from "../control/client-http.ts";
import { NoWorkspaceError } from "../locate-workspace.ts";
import { CliError, EXIT } from "./cli-error.ts";
import type { AnyCommandSpec } from "./command.ts";
import { commands } from "./commands.ts";
import { signalExitCode, type GlobalOptions, type ProcessContext } from "./context.ts";
import { printError } from "./print-result.ts";

/** Words that group commands, with what `--help` says of them. */
const GROUPS: Readonly<Record<string, string>> = {
  apps: "Apps of the workspace.",
  tools: "Tools of all apps.",
  resources: "Resources of all apps.",
  prompts: "Prompts of all apps.",
  approvals: "Calls that wait for a person.",
  sessions: "Conversations with a data-flow mark.",
  events: "Events on their way to the inbox.",
  policy: "Policies, tried out offline.",
  audit: "The audit log.",
  signals: "Signal mappings, tried out offline.",
};

/** Runs one command line and gives its exit code. Faults become sentences on stderr; nothing is thrown. */
export async function runCli(argv: readonly string[], context: ProcessContext, version: string): Promise<number> {
  let code: number = EXIT.ok;
  const program = createProgram(version, async (spec, options, args) => {
    code = await runCommand(spec, options, args, context);
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has printed help or what is wrong with the words already.
    code = error.exitCode === 0 ? EXIT.ok : EXIT.couldNotRun;
  }
  return context.received === null ? code : signalExitCode(context.received);
}

type Run = (spec: AnyCommandSpec, options: GlobalOptions, args: readonly string[]) => Promise<void>;

/** The tree of all commands; `run` does one. */
export function createProgram(version: string, run: Run): Command {
  const program = dress(new Command("aurora-mcp"))
    .description("A declarative host for MCP servers: YAML in, a running, policed, hot-reloaded graph of servers out.")
    .version(version)
    .option("--topology <file>", "the topology file; by default topology/topology.yaml here or in a parent folder")
    .option("--json", "print the result as JSON");
  const groups = new Map<string, Command>();
  for (const spec of commands) {
    const [first, ...rest] = spec.usage.split(" ") as [string, ...string[]];
    let parent = program;
    let usage = spec.usage;
    if (Object.hasOwn(GROUPS, first)) {
      parent = groups.get(first) ?? dress(program.command(first)).description(GROUPS[first]!);
      groups.set(first, parent);
      usage = rest.join(" ");
    }
    const command = dress(parent.command(usage)).description([spec.summary, spec.details].filter(Boolean).join("\n\n")).summary(spec.summary);
    spec.options?.(command);
    command.addHelpText("after", `\nExamples:\n${spec.examples.map((line) => `  $ ${line}`).join("\n")}`);
    command.action(() =>
      run(
        spec,
        command.optsWithGlobals<GlobalOptions>(),
        command.processedArgs.flat().filter((arg): arg is string => typeof arg === "string"),
      ),
    );
  }
  return program;
}

function dress(command: Command): Command {
  return command
    .exitOverride()
    .showHelpAfterError("(add --help for more)")
    .configureHelp({ showGlobalOptions: true })
    .helpOption("-h, --help", "show this help");
}

async function runCommand(spec: AnyCommandSpec, options: GlobalOptions, args: readonly string[], context: ProcessContext): Promise<number> {
  try {
    // The spec was checked against its own option type where it was defined.
    return (await spec.run(context, options as never, args)) ?? EXIT.ok;
  } catch (error) {
    if (context.signal.aborted) return EXIT.interrupted;
    if (error instanceof CliError) return complain(context, error.message, error.exitCode);
    if (error instanceof NoWorkspaceError) return complain(context, error.message, EXIT.couldNotRun);
    if (error instanceof KitError || error instanceof ControlError) {
      const body = error instanceof KitError ? error.toBody() : error.body;
      if (options.json) context.json(body);
      else printError(context, body);
      return EXIT.problems;
    }
    return complain(context, messageOf(error), EXIT.couldNotRun);
  }
}

function complain(context: ProcessContext, message: string, exitCode: number): number {
  context.note(`${context.noteStyle("red", "error")}: ${escapeInvisible(message, true)}`);
  return exitCode;
}
