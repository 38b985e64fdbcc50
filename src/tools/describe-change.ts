import { canonicalJson, isObject, own, type Json } from "../base/json.ts";
import { escapeInvisible, truncate } from "../base/text.ts";

/** Characters of a value that are shown before and after. */
const SHOWN = 160;
const MAX_LINES = 40;

/**
 * What differs between two definitions, one line a place: `description: "old" → "new"`. Every invisible character is escaped, so
 * that what a person accepts is what stands there. Of long texts the part that differs is shown.
 */
export function describeChange(before: Json, after: Json): string[] {
  const lines: string[] = [];
  walk("", before, after, lines);
  return lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `… and ${lines.length - MAX_LINES} more differences`] : lines;
}

/** A definition that is seen for the first time, in the same form. */
export function describeNew(definition: Json): string[] {
  if (!isObject(definition)) return [show(definition)];
  const lines = Object.keys(definition)
    .sort()
    .map((key) => `${path("", key)}: ${show(own(definition, key) as Json)}`);
  return lines.slice(0, MAX_LINES);
}

function walk(at: string, before: Json, after: Json, lines: string[]): void {
  if (canonicalJson(before) === canonicalJson(after)) return;
  if (isObject(before) && isObject(after)) {
    for (const key of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
      const place = path(at, key);
      if (!Object.hasOwn(before, key)) lines.push(`${place}: added ${show(after[key] as Json)}`);
      else if (!Object.hasOwn(after, key)) lines.push(`${place}: removed, was ${show(before[key] as Json)}`);
      else walk(place, before[key] as Json, after[key] as Json, lines);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [i, item] of before.entries()) walk(`${at}[${i}]`, item, after[i]!, lines);
    return;
  }
  if (typeof before === "string" && typeof after === "string") {
    lines.push(`${at || "text"}: ${changedText(before, after)}`);
    return;
  }
  lines.push(`${at || "value"}: ${show(before)} → ${show(after)}`);
}

/** Both texts, cut to the neighbourhood of what differs. Texts that look alike are told apart by their code points. */
function changedText(before: string, after: string): string {
  let start = 0;
  const least = Math.min(before.length, after.length);
  while (start < least && before[start] === after[start]) start += 1;
  const from = Math.max(0, start - 40);
  const part = (text: string): string => `${from > 0 ? "…" : ""}${show(text.slice(from))}`;
  const alike =
    before.normalize("NFKC") === after.normalize("NFKC") ? ` (they look alike: ${codePoints(before.slice(start))} → ${codePoints(after.slice(start))})` : "";
  return `${part(before)} → ${part(after)}${alike}`;
}

function codePoints(text: string): string {
  return (
    [...text]
      .slice(0, 4)
      .map((c) => `U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`)
      .join(" ") || "nothing"
  );
}

/** A value on one line; runs of white space, which can push text out of sight, are collapsed and counted. */
function show(value: Json): string {
  const text = typeof value === "string" ? collapse(value) : collapse(canonicalJson(value));
  const visible = escapeInvisible(truncate(text, SHOWN));
  return typeof value === "string" ? `"${visible}"` : visible;
}

function collapse(text: string): string {
  return text.replace(/\s{8,}/g, (run) => ` [${run.length} white-space characters] `);
}

function path(at: string, key: string): string {
  const name = /^[A-Za-z0-9_$-]+$/.test(key) ? key : `"${escapeInvisible(key)}"`;
  return at === "" ? name : `${at}.${name}`;
}
