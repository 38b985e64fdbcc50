import fc from "fast-check";
import { runs } from "../support/explore.ts";
import { expect, test } from "vitest";
import { printDiagnostics } from "../../src/base/print-diagnostics.ts";
import type { Workspace } from "./workspace.ts";
import { lines, load } from "./workspace.ts";
import { EDIT, mutate, NAMES } from "./mutate.ts";
import { VALID, withFile } from "./valid-workspace.ts";

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
    fc.property(fc.array(EDIT, { minLength: 1, maxLength: 3 }), (edits) => {
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
    runs(60),
  );
});

function withFileIn(workspace: Workspace, name: string, text: string): Workspace {
  return { ...workspace, files: { ...workspace.files, [name]: text } };
}

test("a file of any characters is read without an exception", () => {
  fc.assert(
    fc.property(fc.constantFrom(...NAMES), fc.string({ unit: "binary", maxLength: 200 }), (name, text) => {
      load(withFile(name, text));
    }),
    runs(60),
  );
});
