import { own } from "../base/json.ts";
import type { ExportFormat } from "./types.ts";

/** Names of the tools in the text of an earlier export, in their order; none where the text is no export. */
export function exportedOrder(text: string, format: ExportFormat): readonly string[] {
  if (format === "text") return [...text.matchAll(/^## (\S+)$/gm)].map((match) => match[1]!);
  let tools: unknown;
  try {
    tools = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(tools)) return [];
  return tools.map((tool: unknown) => own(tool, "name") ?? own(own(tool, "function"), "name")).filter((name) => typeof name === "string");
}

/** Sorts by name in place, but names of an earlier order come first and keep it. */
export function sortInOrder<Row extends { readonly name: string }>(rows: Row[], earlier: readonly string[]): Row[] {
  if (earlier.length === 0) return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
  const places = new Map<string, number>();
  for (const name of earlier) if (!places.has(name)) places.set(name, places.size);
  const placeOf = (row: Row): number => places.get(row.name) ?? places.size;
  return rows.sort((a, b) => placeOf(a) - placeOf(b) || (a.name < b.name ? -1 : 1));
}
