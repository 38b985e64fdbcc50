import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import type { ToolRow } from "../kit-api.ts";
import type { ExportTool } from "../llm/types.ts";
import type { Host } from "./host.ts";

/** The offered tools of a host as the exporter takes them, with their definitions as the servers gave them. */
export async function exportableTools(host: Host): Promise<ExportTool[]> {
  const rows = new Map<string, ToolRow>((await host.toolRows()).map((row) => [row.short_name, row]));
  const { text } = await host.tools("mcp", { maxTools: 1_000_000 });
  return (JSON.parse(text) as JsonObject[]).flatMap((definition) => {
    const row = rows.get(String(own(definition, "name")));
    return row ? [toExportTool(row, definition)] : [];
  });
}

function toExportTool(row: ToolRow, definition: JsonObject): ExportTool {
  const annotations = own(definition, "annotations");
  return {
    full: row.name,
    app: row.app,
    short: row.short_name,
    name: row.tool,
    title: row.title,
    description: row.description,
    inputSchema: own(definition, "inputSchema") as Json,
    outputSchema: own(definition, "outputSchema") as Json | undefined,
    annotations: isObject(annotations) ? (annotations as JsonObject) : undefined,
    definition,
    risk: row.risk,
    appTitle: row.app,
  };
}
