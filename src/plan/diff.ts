import type { AppPlan, ChangeSet, Plan } from "./types.ts";

/**
 * What has to happen to get from one plan to another (contracts 8). `before` null: from nothing.
 * `diff(a, a)` is empty. Each app stands in exactly one list of start … unchanged, by the strongest class that changed.
 */
export function diffPlans(before: Plan | null, after: Plan): ChangeSet {
  const lists = {
    start: [] as string[],
    stop: [] as string[],
    restart: [] as string[],
    reconnect: [] as string[],
    relist: [] as string[],
    live: [] as string[],
    unchanged: [] as string[],
  };
  const names = new Set([...(before?.apps.keys() ?? []), ...after.apps.keys()]);
  for (const name of [...names].sort()) {
    const old = before?.apps.get(name);
    const now = after.apps.get(name);
    if (!now) lists.stop.push(name);
    else if (!old) lists.start.push(name);
    else lists[changeOf(old, now)].push(name);
  }
  const parked = parkedChanges(before, after);
  const policy = before?.digests.policy !== after.digests.policy;
  const signals = before?.digests.signals !== after.digests.signals;
  const exports = before?.digests.exports !== after.digests.exports;
  const settings = before?.digests.live !== after.digests.live;
  const host = before ? changedKeys(before.digests.host, after.digests.host) : [];
  return withHost({ ...lists, parked, policy, signals, exports, settings }, host);
}

/** Policy rules of a plan that another has no more, by their ids, as decisions name them. */
export function removedRules(before: Plan, after: Plan): string[] {
  const left = new Set(after.policy.rules.map((rule) => rule.ref.id));
  return before.policy.rules.filter((rule) => !left.has(rule.ref.id)).map((rule) => rule.label);
}

/** A change set with these fields as the ones that only a host restart can change. */
export function withHost(changes: Omit<ChangeSet, "host" | "empty">, host: readonly string[]): ChangeSet {
  const whole = { ...changes, host, empty: false };
  return { ...whole, empty: countChanges(whole) === 0 };
}

function changeOf(old: AppPlan, now: AppPlan): "restart" | "reconnect" | "relist" | "live" | "unchanged" {
  if (old === now) return "unchanged";
  for (const cls of ["restart", "reconnect", "relist", "live"] as const) if (old.digests[cls] !== now.digests[cls]) return cls;
  return "unchanged";
}

function parkedChanges(before: Plan | null, after: Plan): string[] {
  const names = new Set([...(before?.parked.keys() ?? []), ...after.parked.keys()]);
  return [...names]
    .filter((name) => {
      const old = before?.parked.get(name);
      const now = after.parked.get(name);
      return old?.state !== now?.state || old?.reason !== now?.reason;
    })
    .sort();
}

/** Keys whose digests differ, sorted. */
export function changedKeys(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => a[key] !== b[key]).sort();
}

/** Number of things that differ, fields that wait for a host restart among them; 0 for an empty change. */
export function countChanges(c: ChangeSet): number {
  const lists = [c.start, c.stop, c.restart, c.reconnect, c.relist, c.live, c.parked, c.host];
  return lists.reduce((sum, list) => sum + list.length, 0) + [c.policy, c.signals, c.exports, c.settings].filter(Boolean).length;
}
