import type { Glob } from "../base/glob.ts";
import type { CompiledRule } from "./compile-rule.ts";
import type { Subject } from "./types.ts";

/** Finds the rules whose apps and names fit; the order is that of the rule list. */
export type RuleLookup = (kind: Subject["kind"], app: string, name: string) => readonly CompiledRule[];

/** Most names that are remembered; resource URIs come from callers, so their number has no other bound. */
const MAX_CACHED = 50_000;

/**
 * Makes a look-up over a fixed list of rules. What it found for an (app, kind, name) is remembered, so a decision on a known
 * tool looks at its own few rules only; what is remembered never changes an answer.
 */
export function indexRules(rules: readonly CompiledRule[]): RuleLookup {
  /** Positions of the rules that name whole packages, by package, and of those whose patterns have to be tried. */
  const named = new Map<string, number[]>();
  const open: number[] = [];
  for (const [i, { apps }] of rules.entries()) {
    if (apps === null || !apps.every((glob) => glob.literal)) open.push(i);
    else for (const app of new Set(apps.map((glob) => glob.source))) named.set(app, [...(named.get(app) ?? []), i]);
  }
  const rulesOf = (app: string): CompiledRule[] => {
    const fitting = [...(named.get(app) ?? []), ...open.filter((i) => matchesAny(rules[i]!.apps, app))];
    return fitting.sort((a, b) => a - b).map((i) => rules[i]!);
  };

  const byApp = new Map<string, { rules: readonly CompiledRule[]; names: Record<Subject["kind"], Map<string, readonly CompiledRule[]>> }>();
  let cached = 0;
  return (kind, app, name) => {
    let entry = byApp.get(app);
    const known = entry?.names[kind].get(name);
    if (known) return known;
    if (cached >= MAX_CACHED) {
      byApp.clear();
      cached = 0;
      entry = undefined;
    }
    if (!entry) {
      entry = { rules: rulesOf(app), names: { tool: new Map(), resource: new Map(), prompt: new Map() } };
      byApp.set(app, entry);
      cached += 1;
    }
    const found = Object.freeze(entry.rules.filter((r) => matchesAny(r.names[kind], name)));
    entry.names[kind].set(name, found);
    cached += 1;
    return found;
  };
}

/** Whether a name fits one of the patterns; null fits every name. */
export function matchesAny(patterns: readonly Glob[] | null, name: string): boolean {
  if (patterns === null) return true;
  for (const glob of patterns) if (glob.matches(name)) return true;
  return false;
}
