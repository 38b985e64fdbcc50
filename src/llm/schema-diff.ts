import { isObject, own, type Json } from "../base/json.ts";
import { escapeInvisible, truncate } from "../base/text.ts";
import { sameJson } from "./schema-node.ts";

/** One sentence per difference between two exports of a tool, in the words of who reads a review; empty when the model sees the same. */
export function describeExportChange(before: Json, after: Json): string[] {
  if (sameJson(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return ["the tool's text changed"];
  const [left, right] = [shown(before), shown(after)];
  const out: string[] = [];
  if (left.name !== right.name) out.push(`renamed from ${quote(left.name)} to ${quote(right.name)}`);
  if (left.description !== right.description) out.push(`description changed from ${quote(left.description)} to ${quote(right.description)}`);
  if (!sameJson(left.strict, right.strict)) out.push(right.strict === true ? "is strict now" : "is no longer strict");
  compare(left.schema, right.schema, "", out);
  return out.length > 0 ? out : ["changed in a detail"];
}

interface Shown {
  readonly name: string;
  readonly description: string;
  readonly strict: Json;
  readonly schema: Json;
}

/** The parts of an exported tool, whatever the target. */
function shown(tool: object): Shown {
  const fn = own(tool, "function");
  const body: unknown = isObject(fn) ? fn : tool;
  const schema = ["parameters", "input_schema", "parametersJsonSchema", "inputSchema"].map((key) => own(body, key)).find((value) => value !== undefined);
  return {
    name: String(own(body, "name")),
    description: String(own(body, "description") ?? ""),
    strict: (own(body, "strict") ?? null) as Json,
    schema: (schema ?? {}) as Json,
  };
}

/** `place` is a path for people: `filter.tags[]`. */
function compare(before: Json | undefined, after: Json | undefined, place: string, out: string[]): void {
  if (sameJson(before, after)) return;
  const name = place === "" ? "the arguments" : `\`${place}\``;
  if (!isObject(before) || !isObject(after)) {
    out.push(`${name} changed from ${quote(JSON.stringify(before) ?? "nothing")} to ${quote(JSON.stringify(after) ?? "nothing")}`);
    return;
  }
  compareMembers(before, after, place, out);
  for (const keyword of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const left = own(before, keyword) as Json | undefined;
    const right = own(after, keyword) as Json | undefined;
    if (keyword === "properties" || keyword === "required" || sameJson(left, right)) continue;
    if ((keyword === "items" || keyword === "additionalProperties") && isObject(left) && isObject(right))
      compare(left as Json, right as Json, `${place}${keyword === "items" ? "[]" : ".*"}`, out);
    else if (keyword === "enum" && Array.isArray(left) && Array.isArray(right)) out.push(`${name}: ${enumChange(left, right)}`);
    else if (left === undefined) out.push(`${name}: ${keyword} ${quote(JSON.stringify(right))} added`);
    else if (right === undefined) out.push(`${name}: ${keyword} ${quote(JSON.stringify(left))} taken away`);
    else out.push(`${name}: ${keyword} changed from ${quote(JSON.stringify(left))} to ${quote(JSON.stringify(right))}`);
  }
}

function compareMembers(before: object, after: object, place: string, out: string[]): void {
  const left = (own(before, "properties") ?? {}) as Record<string, Json>;
  const right = (own(after, "properties") ?? {}) as Record<string, Json>;
  const requiredBefore = (own(before, "required") ?? []) as string[];
  const requiredAfter = (own(after, "required") ?? []) as string[];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const at = place === "" ? key : `${place}.${key}`;
    const label = `\`${escapeInvisible(at)}\``;
    if (!Object.hasOwn(right, key)) out.push(`${label} is gone`);
    else if (!Object.hasOwn(left, key)) out.push(`${label} is new${requiredAfter.includes(key) ? " and required" : ""}`);
    else {
      if (requiredAfter.includes(key) && !requiredBefore.includes(key)) out.push(`${label} now required`);
      if (!requiredAfter.includes(key) && requiredBefore.includes(key)) out.push(`${label} no longer required`);
      compare(left[key], right[key], at, out);
    }
  }
}

function enumChange(before: readonly Json[], after: readonly Json[]): string {
  const added = after.filter((value) => !before.some((other) => sameJson(value, other)));
  const removed = before.filter((value) => !after.some((other) => sameJson(value, other)));
  const parts = [
    ...(added.length > 0 ? [`now also ${added.map((value) => quote(JSON.stringify(value))).join(", ")}`] : []),
    ...(removed.length > 0 ? [`no longer ${removed.map((value) => quote(JSON.stringify(value))).join(", ")}`] : []),
  ];
  return parts.length > 0 ? parts.join("; ") : "values in another order";
}

function quote(text: string): string {
  const safe = escapeInvisible(truncate(text, 200));
  return /^["{[]/.test(safe) ? safe : `"${safe}"`;
}
