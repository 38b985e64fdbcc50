import { digest } from "../base/json.ts";
import type { Catalog, Tool } from "./types.ts";

/** An index over tools. Names are looked up in maps, never split; equal tools give an equal digest. */
export function createCatalog(tools: readonly Tool[]): Catalog {
  const sorted = [...tools].sort((a, b) => (a.full < b.full ? -1 : a.full > b.full ? 1 : 0));
  const full = new Map<string, Tool>();
  const short = new Map<string, Tool>();
  const own = new Map<string, Map<string, Tool>>();
  const byTool = new Map<string, Tool[]>();
  for (const tool of sorted) {
    if (!full.has(tool.full)) full.set(tool.full, tool);
    if (!short.has(tool.short)) short.set(tool.short, tool);
    let names = own.get(tool.app);
    if (!names) own.set(tool.app, (names = new Map()));
    names.set(tool.tool, tool);
    const same = byTool.get(tool.tool);
    if (same) same.push(tool);
    else byTool.set(tool.tool, [tool]);
  }
  return {
    tools: sorted,
    digest: digest(
      sorted.filter((t) => t.listed).map((t) => [t.full, t.short, t.pin]),
      "catalog",
    ),
    byFull: (name) => full.get(name),
    byShort: (name) => short.get(name),
    byOwn: (app, tool) => own.get(app)?.get(tool),
    find(name) {
      const exact = full.get(name) ?? short.get(name);
      if (exact) return { tool: exact, ambiguous: [] };
      const same = byTool.get(name) ?? [];
      return same.length === 1 ? { tool: same[0], ambiguous: [] } : { tool: undefined, ambiguous: same };
    },
  };
}

/** The catalogue of a host without apps. */
export const EMPTY_CATALOG: Catalog = createCatalog([]);
