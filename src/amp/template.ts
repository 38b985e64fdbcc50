import { canonicalJson, isObject, own, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import type { Signal } from "./types.ts";

/** A compiled template string: fixed texts and expressions in turn. */
export interface Template {
  readonly parts: readonly TemplatePart[];
}

/** Fixed text, or the key path of an expression such as `{params.a.b}`. */
export type TemplatePart = { readonly kind: "text"; readonly text: string } | { readonly kind: "path"; readonly path: readonly string[] };

/** A compiled `data` value: plain JSON with templates in the place of its strings. */
export type DataTemplate =
  | { readonly kind: "string"; readonly template: Template }
  | { readonly kind: "list"; readonly items: readonly DataTemplate[] }
  | { readonly kind: "map"; readonly members: readonly (readonly [string, DataTemplate])[] }
  | { readonly kind: "value"; readonly value: Json };

/** Names that may start an expression. `method_name` is the method without `notifications/` and with dots for slashes. */
export const TEMPLATE_NAMES = ["params", "app", "instance", "kind", "method", "method_name", "session"] as const;

/** How templates are written, for a help line. */
export const TEMPLATE_HELP = `write {params.NAME} for a member of the signal's params, or one of ${TEMPLATE_NAMES.slice(1)
  .map((name) => `{${name}}`)
  .join(", ")}; {{ and }} are braces`;

/** Either a compiled template, or what is wrong with the text. */
export type TemplateResult = { readonly ok: true; readonly template: Template } | { readonly ok: false; readonly reason: string };

/** Compiles a template. `{{` and `}}` are braces; a brace that belongs to nothing is an error. */
export function compileTemplate(source: string): TemplateResult {
  const parts: TemplatePart[] = [];
  let text = "";
  for (let i = 0; i < source.length; i += 1) {
    const c = source[i]!;
    if (c !== "{" && c !== "}") {
      text += c;
    } else if (source[i + 1] === c) {
      text += c;
      i += 1;
    } else {
      const end = c === "{" ? source.indexOf("}", i) : -1;
      if (end === -1) return { ok: false, reason: `"${c}" stands alone; write {{ or }} for a brace that is text` };
      const path = source.slice(i + 1, end).split(".");
      const problem = pathProblem(path);
      if (problem) return { ok: false, reason: problem };
      if (text) parts.push({ kind: "text", text });
      text = "";
      parts.push({ kind: "path", path });
      i = end;
    }
  }
  if (text || parts.length === 0) parts.push({ kind: "text", text });
  return { ok: true, template: { parts } };
}

function pathProblem(path: readonly string[]): string | undefined {
  const written = `{${path.join(".")}}`;
  const first = path[0]!;
  if (!(TEMPLATE_NAMES as readonly string[]).includes(first)) {
    const hint = nearest(first, TEMPLATE_NAMES, 1)[0];
    return `unknown expression ${written}; ${hint ? `did you mean {${[hint, ...path.slice(1)].join(".")}}?` : `expressions start with ${TEMPLATE_NAMES.join(", ")}`}`;
  }
  if (path.some((part) => part === "")) return `${written} has an empty part`;
  if (first !== "params" && path.length > 1) return `${written} has no parts: ${first} is a text`;
  return undefined;
}

/** Compiles a `data` value: every string in it is a template, keys and other values stay as they are. */
export function compileData(value: unknown): { readonly ok: true; readonly data: DataTemplate } | { readonly ok: false; readonly reason: string } {
  if (typeof value === "string") {
    const compiled = compileTemplate(value);
    return compiled.ok ? { ok: true, data: { kind: "string", template: compiled.template } } : compiled;
  }
  if (Array.isArray(value)) {
    const items: DataTemplate[] = [];
    for (const item of value) {
      const compiled = compileData(item);
      if (!compiled.ok) return compiled;
      items.push(compiled.data);
    }
    return { ok: true, data: { kind: "list", items } };
  }
  if (!isObject(value)) return { ok: true, data: { kind: "value", value: (value ?? null) as Json } };
  const members: (readonly [string, DataTemplate])[] = [];
  for (const [key, item] of Object.entries(value)) {
    const compiled = compileData(item);
    if (!compiled.ok) return { ok: false, reason: `${key}: ${compiled.reason}` };
    members.push([key, compiled.data]);
  }
  return { ok: true, data: { kind: "map", members } };
}

/** Whether the first dotted segment of what the template makes comes, even in part, from the signal. */
export function startsDynamic(template: Template): boolean {
  const first = template.parts[0]!;
  return first.kind === "path" || (template.parts.length > 1 && !first.text.includes("."));
}

/** The value at a key path of a signal, or undefined. Only own properties count; a key with dots in it is found too. */
export function lookup(signal: Signal, path: readonly string[]): Json | undefined {
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

function step(value: Json | undefined, path: readonly string[]): Json | undefined {
  if (path.length === 0 || value === undefined) return value;
  for (let used = 1; used <= path.length; used += 1) {
    const key = path.slice(0, used).join(".");
    if (Array.isArray(value) && !/^\d+$/.test(key)) return undefined;
    const found = step(own(value, key) as Json | undefined, path.slice(used));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A method as part of an event type: `notifications/` taken off, `/` → `.` (contracts 7). */
export function methodName(method: string): string {
  return method.replace(/^notifications\//, "").replaceAll("/", ".");
}

/** Fills a template. One whole expression keeps the value's type (undefined when there is none); else a text, with nothing for what is missing. */
export function render(template: Template, signal: Signal): Json | undefined {
  const [first] = template.parts;
  if (template.parts.length === 1 && first!.kind === "path") return lookup(signal, first!.path);
  return template.parts.map((part) => (part.kind === "text" ? part.text : asText(lookup(signal, part.path)))).join("");
}

/** As {@link render}, as a text; undefined when it is empty. */
export function renderText(template: Template, signal: Signal): string | undefined {
  const text = asText(render(template, signal));
  return text === "" ? undefined : text;
}

/** Fills a `data` value; members whose one expression finds nothing are left out, list items become null. */
export function renderData(data: DataTemplate, signal: Signal): Json | undefined {
  switch (data.kind) {
    case "string":
      return render(data.template, signal);
    case "value":
      return data.value;
    case "list":
      return data.items.map((item) => renderData(item, signal) ?? null);
    case "map": {
      const out: JsonObject = {};
      for (const [key, item] of data.members) {
        const value = renderData(item, signal);
        if (value !== undefined) setOwn(out, key, value);
      }
      return out;
    }
  }
}

function asText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  try {
    return canonicalJson(value);
  } catch {
    return "…"; // Nested too deeply to be written.
  }
}
