import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import type { LockEntry } from "../kit-api.ts";
import { exportTool } from "../llm/export.ts";
import { describeExportChange } from "../llm/schema-diff.ts";
import { prepareSchema } from "../llm/prepare.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import type { Tool } from "../tools/types.ts";
import { toExportTool } from "./export-tools.ts";

/**
 * The entry of a tool that waits, with, after the changes of its definition, what a model will see differently (in the `openai` form).
 * `accepted` is the pin that holds: a person's, or the one taken at first sight.
 */
export function withModelChange(entry: LockEntry, accepted: string | null, snapshot: Snapshot, definitionOf: (pin: string) => Json | undefined): LockEntry {
  if (entry.kind !== "tool" || entry.state === "accepted" || accepted === null || accepted === entry.pin) return entry;
  const tool = snapshot.catalog.byOwn(entry.app, entry.name);
  const before = definitionOf(accepted);
  if (!tool || !isObject(before)) return entry;
  const lines = describeExportChange(modelView(tool, before as JsonObject, snapshot), modelView(tool, tool.definition, snapshot));
  return { ...entry, diff: [...entry.diff, ...(lines.length === 0 ? ["the model sees the same"] : lines.map((line) => `the model sees: ${line}`))] };
}

function modelView(tool: Tool, definition: JsonObject, snapshot: Snapshot): Json {
  if (prepareSchema(own(definition, "inputSchema")).kind !== "schema") return "not exported";
  return exportTool(toExportTool({ ...tool, definition: { ...definition, name: tool.definition.name } }, snapshot), tool.short, "openai").json;
}
