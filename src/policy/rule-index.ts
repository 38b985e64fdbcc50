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
  /** Positions of rules: by the package that they name, by the pattern that they name, and of those that name none. */
  const named = new Map<string, number[]>();
  const patterns = new Map<string, { readonly glob: Glob; readonly rules: number[] }>();
  const everywhere: number[] = [];
  for (const [i, { apps }] of rules.entries()) {
    if (apps === null) everywhere.push(i);
    for (const glob of apps ?? []) {
      const known = glob.literal ? named.get(glob.source) : patterns.get(glob.source)?.rules;
      if (known) known.push(i);
      else if (glob.literal) named.set(glob.source, [i]);
      else patterns.set(glob.source, { glob, rules: [i] });
    }
  }
  const rulesOf = (app: string): CompiledRule[] => {
    const fitting = new Set([...everywhere, ...(named.get(app) ?? [])]);
    for (const { glob, rules: some } of patterns.values()) if (glob.matches(app)) for (const i of some) fitting.add(i);
    return [...fitting].sort((x, y) => x - y).map((i) => rules[i]!);
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
