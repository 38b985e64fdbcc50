import { InvalidArgumentError } from "commander";
import { HostRunningError } from "../../control/run-file.ts";
import type { LogLevel } from "../../daemon.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { runningHost } from "../connect.ts";
import type { ProcessContext } from "../context.ts";
import { openBootable } from "../open-workspace.ts";
import { version } from "../../kit/version.ts";
import { printFindings } from "../print-findings.ts";
import { printStatus } from "../print-status.ts";
import { letYoungHeapGrow } from "../young-heap.ts";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

interface UpFlags {
  readonly once?: boolean;
  readonly logLevel?: LogLevel;
  readonly logFormat?: "text" | "json";
}

/** `up`: runs the host in this terminal, or under a service manager. */
export const upCommand = defineCommand<UpFlags>({
  usage: "up",
  summary: "Run the host: start the apps, open the gateway, follow edits, until Ctrl-C.",
  details: [
    "Prints a table when it is ready, with the apps that are healthy by then. Logs go to stderr.",
    "Ctrl-C or TERM stops everything in order; a second one kills what still runs (exit code 130 or 143).",
    "HUP: where a terminal holds the process, it is the terminal closing, and the host stops. Without a terminal (service, nohup) it reloads.",
    "With errors in policies or signals alone it starts and denies every call until they are mended.",
    "Exit code 0: stopped as asked. 1: topology.yaml has errors, another host took the workspace, or an unexpected error. 2: could not run (no workspace, port busy, already running).",
  ].join("\n"),
  examples: ["aurora-mcp up", "aurora-mcp up --once", "aurora-mcp up --log-level debug --log-format json 2> host.log"],
  options: (command) =>
    command
      .option("--once", "start, print the table and stop")
      .option("--log-level <level>", `${LEVELS.join(", ")}; log.level of topology.yaml by default`, (value) => oneOf(LEVELS, value))
      .option("--log-format <format>", "text or json; text on a terminal, json elsewhere", (value) => oneOf(["text", "json"], value)),
  run: async (context, options) => {
    const workspace = await openBootable(context, options);
    if (workspace.diagnostics.length > 0) context.note(`${printFindings(context, workspace, workspace.diagnostics, "text")}\n`);
    const { CollisionError, createLogger, runHost } = await import("../../daemon.ts");
    const log = createLogger({
      level: options.logLevel ?? workspace.boot.log.level,
      format: options.logFormat ?? (process.stderr.isTTY ? "text" : "json"),
      masker: workspace.masker,
    });
    try {
      // A command with a kit of its own is soon done; a host stays, also one that still has another data_dir.
      const running = await runningHost(workspace);
      if (running !== null) throw new HostRunningError(running);
      // The signal was for this command, and the host would never hear of it.
      if (context.signal.aborted) return EXIT.interrupted;
      (context as ProcessContext).release();
      return await runHost({
        workspace,
        log,
        env: context.env,
        version: version(),
        once: options.once === true,
        fixedLevel: options.logLevel !== undefined,
        terminal: [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY),
        onReady(kit) {
          letYoungHeapGrow();
          if (options.json) context.json(kit.status());
          else context.out(`${printStatus(kit.status(), context.style)}\n`);
        },
        onStopping: (apps) => context.note(`still stopping: ${apps.join(", ")}  (Ctrl-C again kills ${apps.length === 1 ? "it" : "them"})`),
      });
    } catch (error) {
      if (error instanceof HostRunningError) throw new CliError(`${error.message}\n  aurora-mcp status shows it; stop it with: kill ${error.host.pid}`);
      if (error instanceof CollisionError) throw new CliError(error.message, EXIT.problems);
      throw error;
    }
  },
});

function oneOf<T extends string>(words: readonly T[], value: string): T {
  const found = words.find((word) => word === value);
  if (found === undefined) throw new InvalidArgumentError(`It is one of ${words.join(", ")}.`);
  return found;
}
