import { exportTypeScript } from "../llm/typescript.ts";
import { liteLlmConfig } from "../llm/litellm-config.ts";
import { exportPermissions, PERMISSION_FORMATS, type PermissionFormat, type PermissionRow } from "../llm/permissions.ts";
import { exportTools, type ExportOptions } from "../llm/export.ts";
import { EXPORT_FORMATS, type ExportFormat, type Relaxation } from "../llm/types.ts";
import type { Json } from "../base/json.ts";
import { exportableTools } from "./exportable.ts";
import type { Host } from "./host.ts";
import { count, truncate } from "../base/text.ts";

/** Forms of `export` that are no provider's tool list: types for a program, and settings for other hosts. */
export const OTHER_FORMATS = ["ts", "litellm-proxy", ...PERMISSION_FORMATS] as const;
export type OtherFormat = (typeof OTHER_FORMATS)[number];

/** Everything that `export --format` takes. */
export const ALL_FORMATS: readonly string[] = [...EXPORT_FORMATS, ...OTHER_FORMATS];

/** An export's text, with what could not be said in it. */
export interface ExportText {
  readonly text: string;
  readonly warnings: readonly string[];
}

/** Writes the tools in a form that is no provider's tool list. `server` is the name that another host knows the gateway by. */
export async function otherExport(host: Host, format: OtherFormat, server: string): Promise<ExportText> {
  switch (format) {
    case "ts": {
      const { text, untyped } = exportTypeScript(await exportableTools(host));
      return { text, warnings: untyped.map((t) => `${t.full} has no types: ${t.reason}`) };
    }
    case "litellm-proxy": {
      const { gateway, name } = await host.status();
      const url = gateway.url === null ? "http://127.0.0.1:7800/mcp" : gateway.url;
      return {
        text: liteLlmConfig({ name: server, url, tokenVariable: "AURORA_CALLER_TOKEN", description: `All apps of ${name}` }),
        warnings: gateway.url === null ? ["no gateway is open; the default address was written"] : [],
      };
    }
    default:
      return { text: `${JSON.stringify(exportPermissions(await permissionRows(host), format satisfies PermissionFormat, server), null, 2)}\n`, warnings: [] };
  }
}

async function permissionRows(host: Host): Promise<PermissionRow[]> {
  const rows = (await host.toolRows()).filter((row) => row.state === "exposed" || row.state === "denied" || row.state === "unavailable");
  return rows.map((row) => ({ app: row.app, tool: row.tool, short: row.short_name, decision: row.action as PermissionRow["decision"] }));
}

/** What a provider's form had to change of each tool, for people and programs. */
export interface ExportReport {
  readonly format: ExportFormat;
  readonly tokens: number;
  readonly tools: readonly {
    readonly tool: string;
    readonly name: string;
    readonly strict: boolean;
    readonly fallback: readonly string[];
    readonly tokens: number;
    readonly changes: readonly Relaxation[];
  }[];
  readonly left_out: readonly { readonly tool: string; readonly reason: string }[];
  readonly warnings: readonly string[];
}

/** The report of an export: per tool what was widened, narrowed, renamed or moved into words (docs/tool-schemas.md). */
export async function exportReport(host: Host, format: ExportFormat, options: ExportOptions): Promise<ExportReport> {
  const made = exportTools(await exportableTools(host), format, options);
  return {
    format,
    tokens: made.tokens,
    tools: made.report.map((row) => ({
      tool: row.full,
      name: row.name,
      strict: row.strict,
      fallback: row.fallback,
      tokens: row.tokens,
      changes: row.relaxations,
    })),
    left_out: made.leftOut.map((l) => ({ tool: l.full, reason: l.reason })),
    warnings: made.warnings,
  };
}

/** Longest text of a value before and after in a report line. */
const VALUE_CHARS = 60;

/** Why a change is told: what it means for the calls that a model may write. */
const EFFECTS: Readonly<Record<Relaxation["effect"], string>> = {
  widened: "the model may say more than the tool takes; the host refuses that",
  narrowed: "something legal can no longer be asked for",
  annotated: "only words or form changed",
  renamed: "the provider refuses the name; calls come back under the tool's own",
};

/** One change: effect, code and place (of a property its name), what was there and what the provider is shown instead, and why it matters. */
function changeLine({ effect, code, pointer, before, after }: Relaxation): string {
  const shown = (value: Json): string => (value === null ? "nothing" : truncate(JSON.stringify(value), VALUE_CHARS));
  const place = code === "property.renamed" ? `property ${JSON.stringify(before)}` : pointer === "" ? "(root)" : pointer;
  const change = before === null && after === null ? "" : `: ${shown(before)} -> ${shown(after)}`;
  return `    ${effect.padEnd(9)} ${code}  ${place}${change}  (${EFFECTS[effect]})`;
}

/** The report as text: a line per tool, a line per change. */
export function reportLines(report: ExportReport): string[] {
  const lines = report.tools.flatMap((tool) => [
    `${tool.tool}  as ${tool.name}, ${count(tool.tokens, "token")}${tool.strict ? ", strict" : ""}${tool.fallback.length > 0 ? `, not strict: ${tool.fallback.join("; ")}` : ""}`,
    ...tool.changes.map(changeLine),
  ]);
  return [
    ...lines,
    ...report.left_out.map((l) => `${l.tool}  left out: ${l.reason}`),
    `${count(report.tools.length, "tool")}, about ${count(report.tokens, "token")} in every request`,
  ];
}
