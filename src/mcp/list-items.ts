import { digest, isObject, own } from "../base/json.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { withoutKitMeta } from "../calls/kit-meta.ts";
import type { AppListing, DroppedItem } from "../tools/types.ts";
import { plainLine } from "./plain-line.ts";

/** Items of one list that may be used, and what became of the others. */
export interface SortedItems {
  readonly kept: readonly JsonObject[];
  readonly dropped: readonly DroppedItem[];
  readonly conflicts: AppListing["conflicts"];
  readonly warnings: readonly string[];
}

/** Says why an item cannot be used, or undefined. */
type Judge = (item: JsonObject) => string | undefined;

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const MAX_URI = 8192;
const MAX_PROMPT_NAME = 256;
/** Deeper values break recursive readers; no schema that people write comes near. */
const MAX_DEPTH = 200;

/** Why a tool cannot be offered at all: its name, or an input that is not an object. Everything else about it is judged by others. */
export const judgeTool: Judge = (tool) => {
  const name = own(tool, "name");
  if (typeof name !== "string") return "it has no name";
  if (!TOOL_NAME.test(name)) return "its name is not 1 to 128 of A-Z a-z 0-9 _ . -";
  return judgeInputSchema(own(tool, "inputSchema"));
};

/** Why a prompt cannot be offered. */
export const judgePrompt: Judge = (prompt) => judgeText(own(prompt, "name"), "name", MAX_PROMPT_NAME);

/** Why a resource cannot be offered. */
export const judgeResource: Judge = (resource) => judgeText(own(resource, "uri"), "uri", MAX_URI);

/** Why a resource template cannot be offered. */
export const judgeTemplate: Judge = (template) => judgeText(own(template, "uriTemplate"), "uriTemplate", MAX_URI);

/**
 * Takes each item by itself: unusable ones are dropped with a reason, the same again is listed once, and the same key with other content is a conflict (the first is kept).
 * `_meta` under `aurora/` is taken out, as it is of results.
 */
export function sortItems(kind: DroppedItem["kind"], key: string, items: readonly Json[], judge: Judge): SortedItems {
  const kept: JsonObject[] = [];
  const dropped: DroppedItem[] = [];
  const warnings: string[] = [];
  const seen = new Map<string, { readonly item: JsonObject; readonly position: number; readonly digests: Set<string>; conflict: boolean }>();
  items.forEach((item, index) => {
    const position = index + 1;
    const reason = !isObject(item)
      ? "it is not an object"
      : !depthWithin(item, MAX_DEPTH)
        ? `it is nested deeper than ${MAX_DEPTH} levels`
        : judge(item as JsonObject);
    const id = own(item, key);
    if (reason !== undefined) {
      dropped.push({ kind, name: typeof id === "string" ? plainLine(id.slice(0, 200)) : `#${position}`, reason });
      return;
    }
    const clean = withoutKitMeta(item as JsonObject);
    const first = seen.get(id as string);
    if (first === undefined) {
      seen.set(id as string, { item: clean, position, digests: new Set(), conflict: false });
      kept.push(clean);
      return;
    }
    first.digests.add(digest(first.item, kind)).add(digest(clean, kind));
    const before = first.conflict;
    first.conflict = first.digests.size > 1;
    if (first.conflict && !before)
      warnings.push(`${kind} ${id as string} is listed twice with different content (positions ${first.position} and ${position})`);
  });
  const repeats = items.length - kept.length - dropped.length;
  if (repeats > 0) warnings.push(`${repeats} ${kind}${repeats === 1 ? " is" : "s are"} listed more than once`);
  const conflicts = [...seen].filter(([, entry]) => entry.conflict).map(([name, entry]) => ({ name, digests: [...entry.digests] }));
  return { kept, dropped, conflicts, warnings };
}

/** Absent, null, true, {} and schemas without a root type mean what they allow; a root that is no object cannot be called with named arguments. */
function judgeInputSchema(schema: unknown): string | undefined {
  if (schema === undefined || schema === null || schema === true) return undefined;
  if (!isObject(schema)) return "its inputSchema is not an object";
  const type = own(schema, "type");
  if (type === undefined || type === null || type === "object" || (Array.isArray(type) && type.includes("object"))) return undefined;
  return `its inputSchema has the root type ${plainLine(JSON.stringify(type).slice(0, 100))}, not "object"`;
}

function judgeText(value: unknown, name: string, max: number): string | undefined {
  if (typeof value !== "string" || value === "") return `it has no ${name}`;
  return value.length > max ? `its ${name} is longer than ${max} characters` : undefined;
}

/** Whether a JSON value is nested at most `max` levels deep; never recurses itself. */
function depthWithin(value: Json | object, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > max) return false;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const inner of Array.isArray(item) ? item : Object.values(item)) if (typeof inner === "object" && inner !== null) next.push(inner);
    }
    level = next;
  }
  return true;
}
