import { InvalidArgumentError } from "commander";
import { escapeInvisible } from "../../base/text.ts";
import { lintTool } from "../../llm/lint.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../llm/types.ts";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import { exportableTools } from "../exportable.ts";
import type { Host } from "../host.ts";
import { requireApp } from "../known-app.ts";

/** One finding about what a server shows. */
interface Finding {
  /** Empty for what belongs to no app, such as a rule. */
  readonly app: string;
  readonly kind: string;
  readonly name: string;
  /** `text`: the lint of texts; otherwise the provider, or `all`. */
  readonly target: string;
  readonly code: string;
  /** Where in the definition; empty for the whole of it. */
  readonly path: string;
  readonly severity: "error" | "warning" | "info";
  readonly message: string;
}

const LOOKS = { error: "red", warning: "yellow", info: "dim" } as const;

/** `lint`: hidden characters and orders in texts, what each provider would choke on, and rules that do not fit what there is. */
export const lintCommand = defineCommand<{ texts?: boolean; schemas?: boolean; target?: ExportFormat[] }>({
  usage: "lint [app]",
  summary: "Look through what servers show: hidden orders in texts, schemas that a provider chokes on, and policy rules that fit nothing of it.",
  details:
    "For authors of servers and for CI: exit code 1 when a finding is an error; info is nothing to mend. Schemas are looked at for the forms that topology.yaml exports and for mcp, or for those of --target. A lint, not a border: no finding does not mean that a text is harmless.",
  examples: ["aurora-mcp lint", "aurora-mcp lint org.example.search --json", "aurora-mcp lint --schemas --target gemini"],
  options: (command) =>
    command
      .option("--texts", "only the texts")
      .option("--schemas", "only the schemas")
      .option("--target <format>", `a form to look at instead, may be given several times: ${EXPORT_FORMATS.join(", ")}`, readTarget),
  run: (context, options, [app]) =>
    withHost(context, options, "start", async (host) => {
      await requireApp(host, app);
      const all = [...(options.schemas ? [] : await textFindings(host)), ...(options.texts ? [] : await schemaFindings(host, options.target))];
      if (!options.texts && !options.schemas) all.push(...(await policyFindings(host)));
      const found = all.filter((finding) => app === undefined || finding.app === app);
      if (options.json) context.json(found);
      else if (found.length === 0) context.out("no findings");
      else
        for (const f of found)
          context.out(
            `${context.style(LOOKS[f.severity], f.severity)} ${escapeInvisible(`${f.app}  ${f.kind} ${f.name}  ${f.path === "" ? "" : `${f.path}: `}${f.message}`)} [${f.target}: ${f.code}]`,
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

/** Rules that do not fit what servers show. */
async function policyFindings(host: Host): Promise<Finding[]> {
  return (await host.status()).policy.warnings.map(({ code, file, line, path, message, help }) => ({
    ...{ app: "", kind: "rule", name: `${file}:${line}`, target: "policy", code, path: path ?? "", severity: "warning" },
    message: [message, ...(help ?? [])].join("; "),
  }));
}

function readTarget(value: string, before: readonly ExportFormat[] | undefined): ExportFormat[] {
  if (!isFormat(value)) throw new InvalidArgumentError(`It is one of ${EXPORT_FORMATS.join(", ")}.`);
  return [...(before ?? []), value];
}

function isFormat(name: string): name is ExportFormat {
  return (EXPORT_FORMATS as readonly string[]).includes(name);
}

async function schemaFindings(host: Host, wanted: readonly ExportFormat[] | undefined): Promise<Finding[]> {
  const { apps, exports } = await host.status();
  const targets = new Set(wanted ?? [...exports.map((entry) => entry.format).filter(isFormat), "mcp" as const]);
  const leftOut = apps.flatMap((app) =>
    app.dropped.map(({ kind, name, reason }): Finding => ({
      app: app.package,
      kind,
      name,
      target: "all",
      code: "left_out",
      path: "",
      severity: "error",
      message: `left out by this host: ${reason}`,
    })),
  );
  const found = (await exportableTools(host)).flatMap((tool) =>
    lintTool(tool, [...targets]).map((f): Finding => ({
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
  return [...leftOut, ...found];
}
