import { hasErrors } from "../../base/diagnostics.ts";
import { escapeInvisible } from "../../base/text.ts";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { openWorkspace, requireRunnable } from "../open-workspace.ts";
import { printFindings } from "../print-findings.ts";

/** `config`: what the files mean, with every value's origin. */
export const configCommand = defineCommand({
  usage: "config",
  summary: "Show the configuration as the host sees it: variables filled in, paths absolute, secrets masked, and where each value comes from.",
  details: "Exit code 1: the files have errors; what is wrong in them is told on stderr and left out.",
  examples: ["aurora-mcp config", "aurora-mcp config --json"],
  run: async (context, options) => {
    const workspace = await openWorkspace(context, options);
    if (workspace.config === null) requireRunnable(context, options, workspace);
    const broken = hasErrors(workspace.diagnostics);
    if (broken) context.note(`${printFindings(context, workspace, workspace.diagnostics, "text")}\n`);
    const { effectiveConfig, effectiveYaml } = await import("../../config/effective.ts");
    const effective = effectiveConfig(workspace.config!);
    if (options.json) context.json({ config: effective.value, sources: Object.fromEntries(effective.sources) });
    else context.out(escapeInvisible(effectiveYaml(effective).trimEnd(), true));
    return broken ? EXIT.problems : EXIT.ok;
  },
});
