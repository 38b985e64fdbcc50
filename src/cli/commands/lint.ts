import { escapeInvisible } from "../../base/text.ts";
import { lintTool } from "../../llm/lint.ts";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import { exportableTools } from "../exportable.ts";
import type { Host } from "../host.ts";

/** One finding about what a server shows. */
interface Finding {
  readonly app: string;
  readonly kind: string;
  readonly name: string;
  /** `text`: the lint of texts; otherwise the provider, or `all`. */
  readonly target: string;
  readonly code: string;
  /** Where in the definition. */
  readonly path: string;
  readonly severity: "error" | "warning";
  readonly message: string;
}

/** `lint`: hidden characters and orders in texts, and what each provider would choke on. */
export const lintCommand = defineCommand<{ texts?: boolean; schemas?: boolean }>({
  usage: "lint [app]",
  summary: "Look through what servers show: hidden orders in texts, and schemas that a provider chokes on.",
  details: "For authors of servers and for CI: exit code 1 when a finding is an error. A lint, not a border: no finding does not mean that a text is harmless.",
  examples: ["aurora-mcp lint", "aurora-mcp lint org.example.search --json", "aurora-mcp lint --schemas"],
  options: (command) => command.option("--texts", "only the texts").option("--schemas", "only the schemas"),
  run: (context, options, [app]) =>
    withHost(context, options, "start", async (host) => {
      const all = [...(options.schemas ? [] : await textFindings(host)), ...(options.texts ? [] : await schemaFindings(host))];
      const found = all.filter((finding) => app === undefined || finding.app === app);
      if (options.json) context.json(found);
      else if (found.length === 0) context.out("no findings");
      else
        for (const f of found)
          context.out(
            `${context.style(f.severity === "error" ? "red" : "yellow", f.severity)} ${escapeInvisible(`${f.app}  ${f.kind} ${f.name}  ${f.path}: ${f.message}`)} [${f.target}: ${f.code}]`,
          );
      return found.some((f) => f.severity === "error") ? EXIT.problems : EXIT.ok;
    }),
});

async function textFindings(host: Host): Promise<Finding[]> {
  return (await host.lockDiff()).flatMap((entry) =>
    entry.findings.map((finding): Finding => {
      const [, code, path, message] = /^(\S+) at (\S+): ([\s\S]*)$/.exec(finding) ?? [null, "text", "", finding];
      return { app: entry.app, kind: entry.kind, name: entry.name, target: "text", code: code!, path: path!, severity: "error", message: message! };
    }),
  );
}

async function schemaFindings(host: Host): Promise<Finding[]> {
  return (await exportableTools(host)).flatMap((tool) =>
    lintTool(tool).map((f): Finding => ({
      app: tool.app,
      kind: "tool",
      name: tool.name,
      target: f.target,
      code: f.code,
      path: f.pointer,
      severity: f.severity,
      message: f.message,
    })),
  );
}
