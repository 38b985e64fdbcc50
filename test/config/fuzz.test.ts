import fc from "fast-check";
import { expect, test } from "vitest";
import { printDiagnostics } from "../../src/base/print-diagnostics.ts";
import type { Workspace } from "./workspace.ts";
import { lines, load } from "./workspace.ts";
import { VALID, withFile } from "./valid-workspace.ts";

const names = Object.keys(VALID.files);
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

/** Changes to one file: a piece put in, a stretch taken out, a line doubled, two lines swapped. */
const edit = fc.record({
  file: fc.constantFrom(...names),
  kind: fc.constantFrom("put", "cut", "double", "swap"),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 12 }),
  piece: fc.constantFrom(...PIECES),
});

function mutate(text: string, { kind, at, length, piece }: { kind: string; at: number; length: number; piece: string }): string {
  const offset = Math.floor(at * text.length);
  if (kind === "put") return text.slice(0, offset) + piece + text.slice(offset);
  if (kind === "cut") return text.slice(0, offset) + text.slice(offset + length);
  const all = text.split("\n");
  const line = Math.min(all.length - 2, Math.floor(at * all.length));
  if (kind === "double") all.splice(line, 0, all[line]!);
  else [all[line], all[line + 1]] = [all[line + 1]!, all[line]!];
  return all.join("\n");
}

function inside(workspace: Workspace, file: string, line: number, column: number): boolean {
  const text = workspace.files[file]?.replace(/^\uFEFF/, "");
  const found = text?.split("\n")[line - 1];
  return found !== undefined && column >= 1 && column <= found.length + 1;
}

test("the workspace that is mutated has no findings", () => {
  expect(lines(load(VALID))).toEqual([]);
});

test("whatever is done to a text: no exception, every finding lies inside its file, and it can be printed", () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      let workspace = VALID;
      for (const one of edits) workspace = withFileIn(workspace, one.file, mutate(workspace.files[one.file]!, one));
      const result = load(workspace);
      for (const d of result.diagnostics) {
        expect(d.place, d.message).not.toBeNull();
        expect(inside(workspace, d.place!.file, d.place!.line, d.place!.column), `${d.code} ${JSON.stringify(d.place)}`).toBe(true);
        expect(inside(workspace, d.place!.file, d.place!.endLine, d.place!.endColumn), `${d.code} end ${JSON.stringify(d.place)}`).toBe(true);
      }
      expect(result.unitOk && result.config === null).toBe(false);
      const text = printDiagnostics(result.diagnostics, { format: "text", texts: (file) => workspace.files[file], color: false, files: 4, mask: (s) => s });
      expect(text).not.toContain("qq-s3cret");
    }),
    { numRuns: 60 },
  );
});

function withFileIn(workspace: Workspace, name: string, text: string): Workspace {
  return { ...workspace, files: { ...workspace.files, [name]: text } };
}

test("a file of any characters is read without an exception", () => {
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.string({ unit: "binary", maxLength: 200 }), (name, text) => {
      load(withFile(name, text));
    }),
    { numRuns: 60 },
  );
});
