import { isObject, own } from "../base/json.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import { indexTools, type SearchableTool, type ToolIndex } from "../tools/search.ts";
import type { Catalog, Tool } from "../tools/types.ts";

const indexes = new WeakMap<Catalog, ToolIndex>();

/** A tool that was found, best first. */
export interface FoundTool {
  readonly tool: Tool;
  readonly score: number;
}

/** Searches among the tools that may be seen. The index is made once per catalogue. */
export function searchCatalog(snapshot: Snapshot, visible: readonly Tool[], query: string, limit: number): FoundTool[] {
  const { catalog } = snapshot;
  let index = indexes.get(catalog);
  if (!index) indexes.set(catalog, (index = indexTools(catalog.tools.map(searchable))));
  const allowed = new Set(visible);
  const found: FoundTool[] = [];
  for (const hit of index.search(query, catalog.tools.length)) {
    const tool = catalog.byFull(hit.name);
    if (tool && allowed.has(tool)) found.push({ tool, score: hit.score });
    if (found.length >= limit) break;
  }
  return found;
}

/** What is searched of a tool: its name, texts, and the names and descriptions of its arguments. */
export function searchable(tool: Tool): SearchableTool {
  const text = (key: string): string | null => {
    const value = own(tool.definition, key);
    return typeof value === "string" ? value : null;
  };
  const properties = own(own(tool.definition, "inputSchema"), "properties");
  const more = isObject(properties) ? Object.entries(properties).flatMap(([name, schema]) => [name, String(own(schema, "description") ?? "")]) : [];
  return { name: tool.full, title: text("title"), description: text("description"), more };
}
