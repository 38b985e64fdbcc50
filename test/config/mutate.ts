import fc from "fast-check";
import "../support/explore.ts";
import { VALID } from "./valid-workspace.ts";

/** The files of the workspace that is changed. */
export const NAMES = Object.keys(VALID.files);

const PIECES = [
  "\t",
  "  ",
  "\n",
  "---\n",
  "...",
  "\uFEFF",
  "\r\n",
  ": ",
  "- ",
  "{",
  "}",
  "[",
  "]",
  "'",
  '"',
  "|\n",
  ">\n",
  "&a ",
  "*a",
  "!!x ",
  "<<: *a",
  "__proto__: 1",
  "${",
  "${X}",
  "${A:-${B}}",
  "$$",
  "\0",
  "\u202e",
  "天",
  "0x1F",
  "1e999",
  "null",
  "~",
  "true",
  "mcp:",
  "package: a\n",
  "nodes: []\n",
  "%YAML 1.1\n",
  "# ",
  "?",
  "@",
  "`",
];

/** A change to one file: a piece put in, a stretch taken out, a line doubled, two lines swapped. */
export const EDIT = fc.record({
  file: fc.constantFrom(...NAMES),
  kind: fc.constantFrom("put", "cut", "double", "swap"),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 12 }),
  piece: fc.constantFrom(...PIECES),
});

/** The text after a change. */
export function mutate(text: string, { kind, at, length, piece }: { kind: string; at: number; length: number; piece: string }): string {
  const offset = Math.floor(at * text.length);
  if (kind === "put") return text.slice(0, offset) + piece + text.slice(offset);
  if (kind === "cut") return text.slice(0, offset) + text.slice(offset + length);
  const all = text.split("\n");
  const line = Math.min(all.length - 2, Math.floor(at * all.length));
  if (kind === "double") all.splice(line, 0, all[line]!);
  else [all[line], all[line + 1]] = [all[line + 1]!, all[line]!];
  return all.join("\n");
}
