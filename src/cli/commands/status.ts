import { withHost } from "../connect.ts";
import { defineCommand } from "../command.ts";
import { printStatus } from "../print-status.ts";

/** `status`: what the running host does right now. */
export const statusCommand = defineCommand({
  usage: "status",
  summary: "Show what the running host does: apps, tools, gateway, inbox, exports, last edit.",
  examples: ["aurora-mcp status", "aurora-mcp status --json"],
  run: (context, options) =>
    withHost(context, options, "attach", async (host) => {
      const status = await host.status();
      if (options.json) context.json(status);
      else context.out(printStatus(status, context.style));
    }),
});
