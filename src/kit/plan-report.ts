import type { JsonObject } from "../base/json.ts";
import type { ChangeSet, Plan } from "../plan/types.ts";
import { buildCatalog } from "../runtime/build-catalog.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import type { Tool } from "../tools/types.ts";

/**
 * What a change would do to the running graph (contracts 8): tools that come, go or change risk among the apps that are known, and
 * calls in flight on what would be restarted. `next` null: nothing, the configuration has errors.
 */
export function describePlan(snapshot: Snapshot, next: Plan | null, changes: ChangeSet): JsonObject {
  const now = new Map(snapshot.catalog.tools.map((t) => [t.full, t]));
  const then = new Map(next === null ? now : toolsUnder(snapshot, next).map((t) => [t.full, t]));
  const touched = [...changes.restart, ...changes.reconnect, ...changes.stop];
  return {
    changes: changes.empty ? 0 : countChanges(changes),
    apps: { start: [...changes.start], stop: [...changes.stop], restart: [...changes.restart], reconnect: [...changes.reconnect], live: [...changes.live, ...changes.relist], unchanged: [...changes.unchanged] },
    tools: {
      added: [...then.keys()].filter((name) => !now.has(name)),
      removed: [...now.keys()].filter((name) => !then.has(name)),
      changed: [...then].flatMap(([name, tool]) => {
        const before = now.get(name);
        return before && differs(before, tool) ? [{ name, risk: [before.risk, tool.risk], state: [before.state, tool.state] }] : [];
      }),
    },
    policy: changes.policy,
    signals: changes.signals,
    exports: changes.exports,
    settings: changes.settings,
    host: [...changes.host],
    pins: next === null ? [] : [...then.values()].filter((t) => t.state === "quarantined").map((t) => t.full),
    calls_in_flight: Object.fromEntries(touched.map((app) => [app, snapshot.apps.get(app)?.calls ?? 0])),
  };
}

/** The catalogue as the next plan would show it, as far as the apps are listed now; new apps show their tools only when they run. */
function toolsUnder(snapshot: Snapshot, next: Plan): readonly Tool[] {
  const apps = [...next.apps.values()].flatMap((plan) => {
    const listing = snapshot.apps.get(plan.package)?.listing;
    return listing ? [{ plan, listing, up: true }] : [];
  });
  const pinned = new Map(snapshot.catalog.tools.map((t) => [`${t.app} ${t.tool}`, t]));
  return buildCatalog(apps, next.policy, (app, tool) => {
    const known = pinned.get(`${app} ${tool}`);
    return { accepted: known?.state !== "quarantined", reason: known?.reason ?? null };
  }).tools;
}

function differs(a: Tool, b: Tool): boolean {
  const state = (t: Tool): string => (t.state === "unavailable" ? "exposed" : t.state);
  return a.risk !== b.risk || state(a) !== state(b) || a.short !== b.short;
}

function countChanges(c: ChangeSet): number {
  return c.start.length + c.stop.length + c.restart.length + c.reconnect.length + c.relist.length + c.live.length + c.parked.length + c.host.length + [c.policy, c.signals, c.exports, c.settings].filter(Boolean).length;
}
