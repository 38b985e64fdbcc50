const NO_PARAMS = new Map();
/** Makes the look-up of a route table. Throws for two rows with the same method and path. */
export function compileRoutes(routes) {
    const literal = new Map();
    const patterns = [];
    const byPath = new Map();
    for (const route of routes) {
        let methods = byPath.get(route.path);
        if (!methods) {
            methods = new Map();
            byPath.set(route.path, methods);
            if (route.path.includes("{"))
                patterns.push({ segments: route.path.split("/"), methods });
            else
                literal.set(route.path, methods);
        }
        if (methods.has(route.method))
            throw new Error(`two routes for ${route.method} ${route.path}`);
        methods.set(route.method, route);
    }
    const pick = (methods, method, params) => {
        const route = methods.get(method);
        return route ? { route, params } : { allow: [...methods.keys()].sort() };
    };
    return (method, path) => {
        const exact = literal.get(path);
        if (exact)
            return pick(exact, method, NO_PARAMS);
        const segments = path.split("/");
        for (const pattern of patterns) {
            const params = matchSegments(pattern.segments, segments);
            if (params)
                return pick(pattern.methods, method, params);
        }
        return null;
    };
}
function matchSegments(pattern, path) {
    if (pattern.length !== path.length)
        return null;
    const params = new Map();
    for (const [i, part] of pattern.entries()) {
        const value = path[i];
        if (!part.startsWith("{")) {
            if (part !== value)
                return null;
            continue;
        }
        try {
            params.set(part.slice(1, -1), decodeURIComponent(value));
        }
        catch {
            return null;
        }
        if (value === "")
            return null;
    }
    return params;
}
