import { KitError, messageOf } from "../base/errors.ts";
import type { ToolSchema, ToolSchemas } from "../kit-api.ts";
import { exportTool } from "../llm/export.ts";
import { EXPORT_FORMATS, type ExportFormat, type ExportTool } from "../llm/types.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import { toExportTool } from "./export-tools.ts";

/** What every provider would be shown of one tool, and what that costs, whether it is offered now or not. Throws TOOL_NOT_FOUND. */
export function toolSchemas(snapshot: Snapshot, full: string): ToolSchemas {
  const tool = snapshot.catalog.byFull(full);
  if (!tool) throw new KitError("TOOL_NOT_FOUND", `no tool has the full name "${full}"`);
  const source = toExportTool(tool, snapshot);
  return { tool: tool.full, definition: tool.definition, targets: EXPORT_FORMATS.map((format) => oneTarget(source, format)) };
}

function oneTarget(tool: ExportTool, format: ExportFormat): ToolSchema {
  try {
    const { json, report } = exportTool(tool, tool.short, format);
    const changes = report.relaxations.map(({ code, pointer, effect }) => ({ code, pointer, effect }));
    return { format, schema: json, tokens: report.tokens, strict: report.strict, changes, reason: report.fallback.join("; ") || null };
  } catch (error) {
    return { format, schema: null, tokens: 0, strict: false, changes: [], reason: messageOf(error) };
  }
}
