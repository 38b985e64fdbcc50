import { escapeInvisible } from "../base/text.ts";
import type { Style } from "./style.ts";

/** Characters that take two columns on a terminal: CJK, Hangul, kana, full-width forms, emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += WIDE.test(char) ? 2 : 1;
  return width;
}

/**
 * Rows under a head line, in columns of equal width, without trailing spaces. Invisible characters in cells are escaped,
 * so that a name given by a server cannot draw on the terminal. `look` dresses a finished cell.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
  look?: (row: number, column: number) => Parameters<Style>[0] | null,
): string {
  const safe = rows.map((row) => row.map((cell) => escapeInvisible(cell)));
  const widths = head.map((title, i) => Math.max(displayWidth(title), ...safe.map((row) => displayWidth(row[i] ?? ""))));
  const line = (cells: readonly string[], dress: (text: string, column: number) => string): string =>
    cells
      .map((cell, i) => dress(cell, i) + (i === cells.length - 1 ? "" : " ".repeat(widths[i]! - displayWidth(cell) + 2)))
      .join("")
      .trimEnd();
  const lines = [line(head, (text) => style("dim", text))];
  safe.forEach((row, r) => {
    lines.push(
      line(row, (text, column) => {
        const dress = look?.(r, column);
        return dress ? style(dress, text) : text;
      }),
    );
  });
  return lines.join("\n");
}
