const cache = new WeakMap();
/** The names of a catalogue's tools at the gateway (contracts 2, `gateway.naming`). Kept for as long as the catalogue is. */
export function nameTools(catalog, naming) {
    let modes = cache.get(catalog);
    if (!modes)
        cache.set(catalog, (modes = new Map()));
    let named = modes.get(naming);
    if (!named)
        modes.set(naming, (named = build(catalog, naming)));
    return named;
}
/** Clashes that make `naming: none` a start-up error, in words; empty for the other modes. */
export function namingCollisions(catalog, naming) {
    return nameTools(catalog, naming).collisions.map(({ name, tools }) => `gateway.naming is none, but ${tools.join(" and ")} are both named ${name}; rename one under tools.rename, or use naming: short`);
}
function build(catalog, naming) {
    const groups = new Map();
    for (const tool of catalog.tools) {
        if (tool.state === "excluded")
            continue;
        const name = nameOf(tool, naming);
        const group = groups.get(name);
        if (group)
            group.push(tool);
        else
            groups.set(name, [tool]);
    }
    const byName = new Map();
    const collisions = [];
    for (const [name, tools] of groups) {
        if (tools.length === 1)
            byName.set(name, { name, tool: tools[0], definition: { ...tools[0].definition, name } });
        else
            collisions.push({ name, tools: tools.map((tool) => tool.full) });
    }
    const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return { byName, sorted, collisions };
}
function nameOf(tool, naming) {
    if (naming === "short")
        return tool.short;
    return naming === "full" ? tool.full : tool.full.slice(tool.app.length + 1);
}
/** The prompts that a client sees, sorted by name; of prompts that clash under `naming: none` none is served. */
export function namePrompts(kit, client, naming) {
    const named = kit.listPrompts(client).map((p) => {
        const name = naming === "short" ? p.short : naming === "full" ? `${p.app}.${p.name}` : p.name;
        return { name, short: p.short, definition: { ...p.prompt, name } };
    });
    const count = new Map();
    for (const { name } of named)
        count.set(name, (count.get(name) ?? 0) + 1);
    return named.filter(({ name }) => count.get(name) === 1).sort((a, b) => (a.name < b.name ? -1 : 1));
}
