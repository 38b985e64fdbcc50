import { digest, isObject, own, type JsonObject } from "../base/json.ts";
import type { ExportedTools, ExportFormat } from "../kit-api.ts";
import { exportTools, type ExportOptions } from "../llm/export.ts";
import type { ExportTool } from "../llm/types.ts";
import { decide } from "../policy/decide.ts";
import { toolSubject } from "../runtime/build-catalog.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import type { Tool } from "../tools/types.ts";
import { clientSelection } from "./client-selection.ts";

/** Tools that a client is shown: not quarantined, not denied, in its own selection. Tools of an app that is down for a moment stay (contracts 4). */
export function visibleTools(snapshot: Snapshot, client: string | undefined): Tool[] {
  const shown = snapshot.catalog.tools.filter((t) => t.listed);
  if (client === undefined) return shown;
  const sees = clientSelection(snapshot.plan, client);
  return shown.filter((tool) => {
    const plan = snapshot.plan.apps.get(tool.app);
    return (
      plan !== undefined &&
      sees(tool.app, tool.tool) &&
      decide(snapshot.plan.policy, toolSubject(plan, tool.tool, tool.definition), { client, args: null }, false).action !== "deny"
    );
  });
}

/** A tool as the exporter takes it. */
export function toExportTool(tool: Tool, snapshot: Snapshot): ExportTool {
  const text = (key: string): string | null => {
    const value = own(tool.definition, key);
    return typeof value === "string" ? value : null;
  };
  const annotations = own(tool.definition, "annotations");
  return {
    full: tool.full,
    app: tool.app,
    short: tool.short,
    name: tool.tool,
    title: text("title"),
    description: text("description"),
    inputSchema: own(tool.definition, "inputSchema"),
    outputSchema: own(tool.definition, "outputSchema"),
    annotations: isObject(annotations) ? (annotations as JsonObject) : undefined,
    definition: tool.definition,
    risk: tool.risk,
    appTitle: snapshot.plan.apps.get(tool.app)?.name ?? tool.app,
  };
}

const costs = new WeakMap<Tool["definition"], number>();

/** Estimated tokens of a tool in every request that carries it, in the `openai` form; 0 for one that cannot be exported. */
export function tokensOf(tool: Tool, snapshot: Snapshot): number {
  let cost = costs.get(tool.definition);
  if (cost === undefined) {
    cost = exportTools([toExportTool(tool, snapshot)], "openai").tokens;
    costs.set(tool.definition, cost);
  }
  return cost;
}

/** Exports what a client may see in one provider's form. Equal catalogues give equal bytes. */
export function exportSnapshot(snapshot: Snapshot, format: ExportFormat, client: string | undefined, options: ExportOptions): ExportedTools {
  const made = exportTools(
    visibleTools(snapshot, client).map((tool) => toExportTool(tool, snapshot)),
    format,
    options,
  );
  return {
    format,
    tools: made.tools,
    text: made.text,
    etag: digest([made.text], "export"),
    names: Object.fromEntries(made.names),
    warnings: made.warnings,
  };
}
