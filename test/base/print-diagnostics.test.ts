import { describe, expect, test } from "vitest";
import { errorAt, warningAt } from "../../src/base/diagnostic-codes.ts";
import type { Diagnostic, Place } from "../../src/base/diagnostics.ts";
import { createMasker } from "../../src/base/masking.ts";
import { printDiagnostics, type PrintOptions } from "../../src/base/print-diagnostics.ts";

const at = (file: string, line: number, column: number, endColumn: number): Place => ({ file, line, column, endLine: line, endColumn });

function print(diagnostics: readonly Diagnostic[], texts: Readonly<Record<string, string>>, more: Partial<PrintOptions> = {}): string {
  return printDiagnostics(diagnostics, {
    format: "text",
    texts: (file) => texts[file],
    color: false,
    files: 4,
    mask: createMasker(["hunter22"]).text,
    ...more,
  });
}

const typo = errorAt("unknown-key", at("apps/demo/manifest.yaml", 6, 3, 11), 'unknown key "commandd" in mcp', {
  path: "mcp.commandd",
  label: 'did you mean "command"?',
  help: ["allowed here: args, command, cwd, entry, env, …"],
});

describe("text", () => {
  test("prints the form of the contracts", () => {
    expect(print([typo], { "apps/demo/manifest.yaml": "a\nb\nc\nd\nmcp:\n  commandd: node\n" })).toBe(
      [
        'error[unknown-key]: unknown key "commandd" in mcp',
        "  --> apps/demo/manifest.yaml:6:3  mcp.commandd",
        "   |",
        " 6 |   commandd: node",
        '   |   ^^^^^^^^ did you mean "command"?',
        "   = allowed here: args, command, cwd, entry, env, …",
        "",
        "1 error in 1 of 4 files",
        "",
      ].join("\n"),
    );
  });

  test("the gutter grows with the line number, and related places follow", () => {
    const text = `${"x: 1\n".repeat(119)}package: a\n`;
    const twice = errorAt("duplicate-package", at("b.yaml", 120, 10, 11), "declared twice", {
      related: [{ place: at("a.yaml", 1, 10, 11), message: "first here" }],
    });
    expect(print([twice], { "b.yaml": text }).split("\n").slice(0, 6)).toEqual([
      "error[duplicate-package]: declared twice",
      "    --> b.yaml:120:10",
      "     |",
      " 120 | package: a",
      "     |          ^",
      "     = first here: a.yaml:1:10",
    ]);
  });

  test("shows a tab as a mark, and carets stand under wide characters' cells", () => {
    const out = print([errorAt("yaml-tab", at("t.yaml", 1, 1, 2), "a tab"), errorAt("unknown-key", at("t.yaml", 2, 5, 6), "wide")], {
      "t.yaml": "\tdemo: 1\n天气: x\n",
    });
    expect(out).toContain(" 1 | →demo: 1\n   | ^\n");
    expect(out).toContain(" 2 | 天气: x\n   |       ^\n");
  });

  test("masks known secrets and values under secret names, with the caret in place", () => {
    const texts = { "s.yaml": "headers: {X-Api-Key: not-loaded-yet-1, Other: a, bad: 1}\nurl: hunter22/x\ntoken: ${TOKEN}\n" };
    const out = print(
      [
        errorAt("unknown-key", at("s.yaml", 1, 50, 53), "no"),
        errorAt("bad-format", at("s.yaml", 2, 1, 4), "holds hunter22"),
        errorAt("bad-format", at("s.yaml", 3, 1, 6), "x"),
      ],
      texts,
    );
    expect(out).not.toMatch(/not-loaded|hunter22/);
    expect(out).toContain("headers: {X-Api-Key: ***, Other: a, bad: 1}");
    const [line, carets] = out.split("\n").slice(3, 5);
    expect(line!.indexOf("bad")).toBe(carets!.indexOf("^^^"));
    expect(out).toContain("token: ${TOKEN}");
  });

  test("shows a count of tokens that is written wrong", () => {
    const texts = { "e.yaml": "- { format: openai, budget_tokens: 20k }\n- { access_token: 20k }\n" };
    const out = print([errorAt("wrong-type", at("e.yaml", 1, 36, 39), "x"), errorAt("wrong-type", at("e.yaml", 2, 19, 22), "x")], texts);
    expect(out).toContain("budget_tokens: 20k }\n   |                                    ^^^");
    expect(out).toContain("access_token: ***");
  });

  test("cuts long lines around the place", () => {
    const text = `${"a".repeat(500)}BAD${"b".repeat(500)}`;
    const [line, carets] = print([errorAt("bad-format", at("l.yaml", 1, 501, 504), "x")], { "l.yaml": text })
      .split("\n")
      .slice(3, 5);
    expect(line!.length).toBeLessThan(160);
    expect(line!.slice(carets!.indexOf("^"), carets!.lastIndexOf("^") + 1)).toBe("BAD");
  });

  test("control characters of the file and of names never reach the terminal", () => {
    const out = print([errorAt("unknown-key", at("c.yaml", 1, 1, 2), "bad \u001b[31m name")], { "c.yaml": "\u001b[2J\u202e: 1" });
    // oxlint-disable-next-line no-control-regex -- that is what must not be there
    expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
  });

  test("findings without a place, warnings, and the sum of it all", () => {
    const out = print([warningAt("unmatched-pattern", null, "nothing"), typo, typo], {});
    expect(out).toMatch(/^warning\[unmatched-pattern\]: nothing\n/);
    expect(out).toMatch(/\n2 errors, 1 warning in 1 of 4 files\n$/);
    expect(print([], {}, { files: 1 })).toBe("no problems in 1 file\n");
  });

  test("colours only when asked", () => {
    expect(print([typo], {}, { color: true })).toContain("\u001b[1;31merror[unknown-key]\u001b[0m");
  });
});

test("compact is one line a finding", () => {
  expect(print([typo], {}, { format: "compact" })).toBe(
    'apps/demo/manifest.yaml:6:3: error[unknown-key]: unknown key "commandd" in mcp; did you mean "command"?\n',
  );
});

test("json has the keys that scripts read, masked", () => {
  const [first] = JSON.parse(print([{ ...typo, message: "hunter22" }], {}, { format: "json" })) as Record<string, unknown>[];
  expect(first).toEqual({
    file: "apps/demo/manifest.yaml",
    line: 6,
    column: 3,
    end_line: 6,
    end_column: 11,
    path: "mcp.commandd",
    code: "unknown-key",
    severity: "error",
    message: "***",
    help: ['did you mean "command"?', "allowed here: args, command, cwd, entry, env, …"],
    related: [],
  });
});
