import type { Snapshot } from "../runtime/snapshot.ts";
import { shortNames } from "../tools/names.ts";
import type { Catalog } from "../tools/types.ts";

/** Names at most 60 long, as the `litellm` export and others ask for (contracts 4). */
const USUAL_LIMITS = [60];

const maps = new WeakMap<Catalog, Map<string, string>>();

/** The full name behind a name that some export shows; the name itself when no export made it. */
export function exportedName(snapshot: Snapshot, name: string): string {
  const { tool } = snapshot.catalog.find(name);
  return tool?.full ?? shorterNames(snapshot).get(name) ?? name;
}

/** Names that are shorter than the usual short name, for exports with `max_name`. */
function shorterNames(snapshot: Snapshot): ReadonlyMap<string, string> {
  const known = maps.get(snapshot.catalog);
  if (known) return known;
  const limits = new Set([...USUAL_LIMITS, ...snapshot.plan.exports.flatMap((e) => (e.max_name === undefined ? [] : [e.max_name]))]);
  const tools = snapshot.catalog.tools.map(({ app, tool, full }) => ({ app, tool, full }));
  const map = new Map<string, string>();
  for (const max of limits) for (const [full, short] of shortNames(tools, { max })) if (!map.has(short)) map.set(short, full);
  maps.set(snapshot.catalog, map);
  return map;
}
