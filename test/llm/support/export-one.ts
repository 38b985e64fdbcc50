import type { Json, JsonObject } from "../../../src/base/json.ts";
import { exportTools, type ExportOptions } from "../../../src/llm/export.ts";
import type { ExportFormat, ExportTool, ToolReport } from "../../../src/llm/types.ts";

/** A tool with nothing but a schema. */
export function toolWith(inputSchema: unknown, more: Partial<ExportTool> = {}): ExportTool {
  const name = more.name ?? "probe";
  return { full: name, app: "", short: name, name, description: "Probe.", inputSchema, risk: "low", appTitle: "Test", ...more };
}

export interface ExportedOne {
  readonly tool: JsonObject;
  /** The schema part, wherever the target keeps it. */
  readonly schema: JsonObject | undefined;
  readonly description: string;
  readonly strict: Json | undefined;
  readonly report: ToolReport;
}

/** Exports one tool; undefined when it was left out. */
export function exportOne(target: ExportFormat, inputSchema: unknown, options: ExportOptions = {}, more: Partial<ExportTool> = {}): ExportedOne | undefined {
  const made = exportTools([toolWith(inputSchema, more)], target, options);
  const tool = made.tools[0] as JsonObject | undefined;
  if (!tool) return undefined;
  const body = (tool["function"] ?? tool) as JsonObject;
  const schema = (body["parameters"] ?? body["input_schema"] ?? body["parametersJsonSchema"] ?? body["inputSchema"]) as JsonObject | undefined;
  return { tool, schema, description: String(body["description"]), strict: body["strict"], report: made.report[0]! };
}
