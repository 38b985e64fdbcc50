import type { ToolRow } from "../kit-api.ts";

/**
 * Tools that have every word somewhere in name, title or description, best first: a word in the name counts most,
 * then the title, then the description. Equal scores keep the order given.
 */
export function searchTools(rows: readonly ToolRow[], query: string): ToolRow[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = rows.map((row) => ({ row, score: words.length === 0 ? 0 : scoreOf(row, words) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ row }) => row);
}

function scoreOf(row: ToolRow, words: readonly string[]): number {
  const fields: readonly [string, number][] = [
    [row.tool.toLowerCase(), 5],
    [row.name.toLowerCase(), 3],
    [(row.title ?? "").toLowerCase(), 3],
    [(row.description ?? "").toLowerCase(), 1],
  ];
  let total = 0;
  for (const word of words) {
    const score = fields.reduce((sum, [text, weight]) => sum + (text.includes(word) ? weight : 0), 0);
    if (score === 0) return 0;
    total += score;
  }
  return total;
}
