import type { Risk } from "../tools/types.ts";
import type { ExportTool } from "./types.ts";

const RISKS: readonly Risk[] = ["low", "medium", "high", "critical"];

/** Tools that fit under a limit, and those left out. */
export interface Selection {
  readonly chosen: readonly ExportTool[];
  readonly leftOut: readonly ExportTool[];
}

/**
 * Chooses tools under a provider's limit: apps take turns (in the order of their names) so that none is lost whole, and
 * within an app tools of lower risk come first, then names.
 */
export function selectTools(tools: readonly ExportTool[], limit: number): Selection {
  if (tools.length <= limit) return { chosen: tools, leftOut: [] };
  const byApp = new Map<string, ExportTool[]>();
  for (const tool of tools) {
    const queue = byApp.get(tool.app);
    if (queue) queue.push(tool);
    else byApp.set(tool.app, [tool]);
  }
  const queues = [...byApp.keys()]
    .sort()
    .map((app) => byApp.get(app)!.sort((a, b) => RISKS.indexOf(a.risk) - RISKS.indexOf(b.risk) || (a.full < b.full ? -1 : 1)));
  const chosen = new Set<ExportTool>();
  for (let turn = 0; chosen.size < limit; turn += 1) {
    for (const queue of queues) {
      const tool = queue[turn];
      if (tool && chosen.size < limit) chosen.add(tool);
    }
  }
  return { chosen: tools.filter((tool) => chosen.has(tool)), leftOut: tools.filter((tool) => !chosen.has(tool)) };
}

/** Names that a warning tells; the rest is counted. */
const NAMES_TOLD = 3;

/** One sentence for all tools that were left out for the same reason. */
export function unusableWarnings(leftOut: readonly { readonly full: string; readonly reason: string }[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const { full, reason } of leftOut) byReason.set(reason, [...(byReason.get(reason) ?? []), full]);
  return [...byReason].map(([reason, names]) =>
    names.length === 1 ? `${names[0]} was left out: ${reason}` : `${names.length} tools were left out (${firstNames(names)}): ${reason}`,
  );
}

function firstNames(names: readonly string[]): string {
  const told = [...names].sort().slice(0, NAMES_TOLD).join(", ");
  return names.length > NAMES_TOLD ? `${told} and ${names.length - NAMES_TOLD} more` : told;
}

/** Why tools were left out, in one sentence that names the limit, the number, the number of each app, and the first few that are missing. */
export function limitWarning(target: string, tools: readonly ExportTool[], limit: number, leftOut: readonly ExportTool[]): string {
  const counts = new Map<string, number>();
  for (const tool of tools) counts.set(tool.app, (counts.get(tool.app) ?? 0) + 1);
  const perApp = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([app, count]) => `${app || "(no app)"}: ${count}`);
  return `${target} takes at most ${limit} tools and there are ${tools.length} (${perApp.join(", ")}); ${leftOut.length} were left out (${firstNames(leftOut.map((tool) => tool.full))}): apps take turns, lower risk first. Exclude tools in the topology, or export the search form (mode "search").`;
}
