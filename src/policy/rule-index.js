/** Most names that are remembered; resource URIs come from callers, so their number has no other bound. */
const MAX_CACHED = 50000;
/**
 * Makes a look-up over a fixed list of rules. What it found for an (app, kind, name) is remembered, so a decision on a known
 * tool looks at its own few rules only; what is remembered never changes an answer.
 */
export function indexRules(rules) {
    const byApp = new Map();
    let cached = 0;
    return (kind, app, name) => {
        let entry = byApp.get(app);
        const known = entry?.names[kind].get(name);
        if (known)
            return known;
        if (cached >= MAX_CACHED) {
            byApp.clear();
            cached = 0;
            entry = undefined;
        }
        if (!entry) {
            entry = { rules: rules.filter((r) => matchesAny(r.apps, app)), names: { tool: new Map(), resource: new Map(), prompt: new Map() } };
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
export function matchesAny(patterns, name) {
    if (patterns === null)
        return true;
    for (const glob of patterns)
        if (glob.matches(name))
            return true;
    return false;
}
