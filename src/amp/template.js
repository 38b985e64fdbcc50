import { canonicalJson, isObject, own, setOwn } from "../base/json.ts";
import { nearest } from "../base/text.ts";
/** Names that may start an expression. `method_name` is the method without `notifications/` and with dots for slashes. */
export const TEMPLATE_NAMES = ["params", "app", "instance", "kind", "method", "method_name", "session"];
/** Compiles a template. `{{` and `}}` are braces; a brace that belongs to nothing is an error. */
export function compileTemplate(source) {
    const parts = [];
    let text = "";
    for (let i = 0; i < source.length; i += 1) {
        const c = source[i];
        if (c !== "{" && c !== "}") {
            text += c;
        }
        else if (source[i + 1] === c) {
            text += c;
            i += 1;
        }
        else {
            const end = c === "{" ? source.indexOf("}", i) : -1;
            if (end === -1)
                return { ok: false, reason: `"${c}" stands alone; write {{ or }} for a brace that is text` };
            const path = source.slice(i + 1, end).split(".");
            const problem = pathProblem(path);
            if (problem)
                return { ok: false, reason: problem };
            if (text)
                parts.push({ kind: "text", text });
            text = "";
            parts.push({ kind: "path", path });
            i = end;
        }
    }
    if (text || parts.length === 0)
        parts.push({ kind: "text", text });
    return { ok: true, template: { parts } };
}
function pathProblem(path) {
    const written = `{${path.join(".")}}`;
    const first = path[0];
    if (!TEMPLATE_NAMES.includes(first)) {
        const hint = nearest(first, TEMPLATE_NAMES, 1)[0];
        return `unknown expression ${written}; ${hint ? `did you mean {${[hint, ...path.slice(1)].join(".")}}?` : `expressions start with ${TEMPLATE_NAMES.join(", ")}`}`;
    }
    if (path.some((part) => part === ""))
        return `${written} has an empty part`;
    if (first !== "params" && path.length > 1)
        return `${written} has no parts: ${first} is a text`;
    return undefined;
}
/** Compiles a `data` value: every string in it is a template, keys and other values stay as they are. */
export function compileData(value) {
    if (typeof value === "string") {
        const compiled = compileTemplate(value);
        return compiled.ok ? { ok: true, data: { kind: "string", template: compiled.template } } : compiled;
    }
    if (Array.isArray(value)) {
        const items = [];
        for (const item of value) {
            const compiled = compileData(item);
            if (!compiled.ok)
                return compiled;
            items.push(compiled.data);
        }
        return { ok: true, data: { kind: "list", items } };
    }
    if (!isObject(value))
        return { ok: true, data: { kind: "value", value: (value ?? null) } };
    const members = [];
    for (const [key, item] of Object.entries(value)) {
        const compiled = compileData(item);
        if (!compiled.ok)
            return { ok: false, reason: `${key}: ${compiled.reason}` };
        members.push([key, compiled.data]);
    }
    return { ok: true, data: { kind: "map", members } };
}
/** Whether the first dotted segment of what the template makes comes, even in part, from the signal. */
export function startsDynamic(template) {
    const first = template.parts[0];
    return first.kind === "path" || (template.parts.length > 1 && !first.text.includes("."));
}
/** The value at a key path of a signal, or undefined. Only own properties count; a key with dots in it is found too. */
export function lookup(signal, path) {
    switch (path[0]) {
        case "params":
            return step(signal.params, path.slice(1));
        case "method_name":
            return methodName(signal.method);
        case "app":
        case "instance":
        case "kind":
        case "method":
        case "session":
            return signal[path[0]] ?? undefined;
        default:
            return undefined;
    }
}
function step(value, path) {
    if (path.length === 0 || value === undefined)
        return value;
    for (let used = 1; used <= path.length; used += 1) {
        const key = path.slice(0, used).join(".");
        if (Array.isArray(value) && !/^\d+$/.test(key))
            return undefined;
        const found = step(own(value, key), path.slice(used));
        if (found !== undefined)
            return found;
    }
    return undefined;
}
/** A method as part of an event type: `notifications/` taken off, `/` → `.` (contracts 7). */
export function methodName(method) {
    return method.replace(/^notifications\//, "").replaceAll("/", ".");
}
/** Fills a template. One whole expression keeps the value's type (undefined when there is none); else a text, with nothing for what is missing. */
export function render(template, signal) {
    const [first] = template.parts;
    if (template.parts.length === 1 && first.kind === "path")
        return lookup(signal, first.path);
    return template.parts.map((part) => (part.kind === "text" ? part.text : asText(lookup(signal, part.path)))).join("");
}
/** As {@link render}, as a text; undefined when it is empty. */
export function renderText(template, signal) {
    const text = asText(render(template, signal));
    return text === "" ? undefined : text;
}
/** Fills a `data` value; members whose one expression finds nothing are left out, list items become null. */
export function renderData(data, signal) {
    switch (data.kind) {
        case "string":
            return render(data.template, signal);
        case "value":
            return data.value;
        case "list":
            return data.items.map((item) => renderData(item, signal) ?? null);
        case "map": {
            const out = {};
            for (const [key, item] of data.members) {
                const value = renderData(item, signal);
                if (value !== undefined)
                    setOwn(out, key, value);
            }
            return out;
        }
    }
}
function asText(value) {
    if (value === undefined || value === null)
        return "";
    if (typeof value === "string")
        return value;
    try {
        return canonicalJson(value);
    }
    catch {
        return "…"; // Nested too deeply to be written.
    }
}
