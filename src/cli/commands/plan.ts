import type { ReloadResult } from "../../kit-api.ts";
import { hasErrors } from "../../base/diagnostics.ts";
import { diffPlans } from "../../plan/diff.ts";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { attach, withHost } from "../connect.ts";
import type { Context } from "../context.ts";
import { openWorkspace } from "../open-workspace.ts";
import { planReport, printPlan, printReload, printStart } from "../print-plan.ts";
import { printFindings } from "../print-findings.ts";

/** `plan`: what the files on disk would change. */
export const planCommand = defineCommand({
  usage: "plan",
  summary: "Show what a reload would change on the running host, or what `up` would start.",
  details: "Changes nothing. Exit code 0: no change. 2: changes. 1: the files have errors.",
  examples: ["aurora-mcp plan", "aurora-mcp plan --json"],
  run: async (context, options) => {
    const workspace = await openWorkspace(context, options);
    const host = await attach(context, workspace);
    if (host !== null) {
      const result = await host.plan().finally(() => host.close());
      if (options.json) context.json(result.report);
      else context.out(printPlan(result, context.style));
      if (result.errors.length > 0) return EXIT.problems;
      return result.changes.empty ? EXIT.ok : EXIT.changes;
    }
    if (workspace.plan === null) {
      context.out(printFindings(context, workspace, workspace.diagnostics, options.json ? "json" : "text"));
      return EXIT.problems;
    }
    const changes = diffPlans(null, workspace.plan);
    if (options.json) context.json(planReport(changes));
    else {
      if (workspace.diagnostics.length > 0) context.note(`${printFindings(context, workspace, workspace.diagnostics, "text")}\n`);
      context.note("no host runs here; this is what `aurora-mcp up` would do (tools are known once the apps run)");
      context.out(printStart(workspace.plan, context.style));
    }
    if (hasErrors(workspace.diagnostics)) return EXIT.problems;
    return changes.empty ? EXIT.ok : EXIT.changes;
  },
});

/** `reload`: the running host looks at its files again. */
export const reloadCommand = defineCommand({
  usage: "reload",
  summary: "Make the running host read its files again, as SIGHUP and a saved file do.",
  details: "Exit code 0: applied, unchanged, or waiting for `apply`. 1: rejected or only partly applied.",
  examples: ["aurora-mcp reload", "aurora-mcp reload --json"],
  run: (context, options) => withHost(context, options, "attach", async (host) => told(context, options.json === true, await host.reload())),
});

/** `apply`: lets a change through that waits under `reload: confirm`. */
export const applyCommand = defineCommand({
  usage: "apply",
  summary: "Apply the edits that wait under `reload: confirm`.",
  examples: ["aurora-mcp plan && aurora-mcp apply"],
  run: (context, options) => withHost(context, options, "attach", async (host) => told(context, options.json === true, await host.apply())),
});

function told(context: Context, json: boolean, result: ReloadResult): number {
  if (json) context.json(result);
  else context.out(printReload(result, context.style));
  return result.result === "rejected" || result.result === "partial" ? EXIT.problems : EXIT.ok;
}
