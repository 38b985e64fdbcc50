import type { AppFinding } from "../check-app.ts";
import { silentLogger } from "../../kit/silent-logger.ts";
import { count, escapeInvisible } from "../../base/text.ts";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { unknownApp } from "../known-app.ts";
import { openRunnable } from "../open-workspace.ts";
import { version } from "../../kit/version.ts";

/** `apps check`: each app against its manifest and the guide's rules. */
export const appsCheckCommand = defineCommand({
  usage: "apps check [package...]",
  summary: "Compare apps with their manifests and the rules for apps; exit 1 on drift (for CI).",
  details: [
    "Starts each app by itself, beside a running host, and looks at: commands against tools/list, stdout (protocol messages only), tool names, schemas, result shapes.",
    "Only tools that say they only read and need no arguments are called. Warnings leave the exit code 0.",
  ].join("\n"),
  examples: ["aurora-mcp apps check", "aurora-mcp apps check im.polaris.clock --json"],
  run: async (context, options, packages) => {
    const { plan, masker } = await openRunnable(context, options);
    const unknown = packages.filter((name) => !plan.apps.has(name));
    if (unknown.length > 0) throw unknownApp(unknown, [...plan.apps.keys()]);
    const { checkApp } = await import("../check-app.ts");
    const findings: AppFinding[] = [];
    let checked = 0;
    for (const app of plan.apps.values()) {
      if (packages.length > 0 && !packages.includes(app.package)) continue;
      const found = await checkApp(app, plan, context.env, version(), silentLogger, context.signal);
      context.signal.throwIfAborted();
      findings.push(
        ...found.map((finding) => ({ ...finding, message: masker.text(finding.message), details: finding.details.map((line) => masker.text(line)) })),
      );
      checked += 1;
      if (!options.json && found.length === 0) context.out(`${context.style("green", "ok")}       ${app.package}`);
      for (const { severity, rule, tool, message, details } of options.json ? [] : found) {
        context.out(
          `${context.style(severity === "error" ? "red" : "yellow", severity.padEnd(7))}  ${escapeInvisible(`${app.package}${tool === null ? "" : `/${tool}`}  ${rule}: ${masker.text(message)}`)}`,
        );
        for (const line of details) context.out(`         | ${escapeInvisible(masker.text(line))}`);
      }
    }
    const errors = findings.filter((finding) => finding.severity === "error").length;
    if (options.json) context.json(findings);
    else context.out(`${count(checked, "app")} checked: ${count(errors, "error")}, ${count(findings.length - errors, "warning")}`);
    return errors > 0 ? EXIT.problems : EXIT.ok;
  },
});
