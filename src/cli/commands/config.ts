import { escapeInvisible } from "../../base/text.ts";
import { defineCommand } from "../command.ts";
import { openWorkspace, requireRunnable } from "../open-workspace.ts";

/** `config`: what the files mean, with every value's origin. */
export const configCommand = defineCommand({
  usage: "config",
  summary: "Show the configuration as the host sees it: variables filled in, paths absolute, secrets masked, and where each value comes from.",
  examples: ["aurora-mcp config", "aurora-mcp config --json"],
  run: async (context, options) => {
    const workspace = await openWorkspace(context, options);
    if (workspace.config === null) requireRunnable(context, workspace);
    const { effectiveConfig, effectiveYaml } = await import("../../config/effective.ts");
    const effective = effectiveConfig(workspace.config!);
    if (options.json) context.json({ config: effective.value, sources: Object.fromEntries(effective.sources) });
    else context.out(escapeInvisible(effectiveYaml(effective).trimEnd(), true));
  },
});
