import { describe, expect, test } from "vitest";
import { MAX_FILE_BYTES, parseYaml } from "../../src/config/parse.ts";
import { nodeAt, plainValue } from "../../src/config/nodes.ts";
import { printDiagnostics } from "../../src/base/print-diagnostics.ts";

const source = (text: string): { file: string; display: string; text: string } => ({ file: "/ws/t.yaml", display: "t.yaml", text });

/** `line:column-endColumn code: message` of each finding. */
function faults(text: string): string[] {
  const result = parseYaml(source(text));
  return result.diagnostics.map((d) => `${d.place!.line}:${d.place!.column}-${d.place!.endColumn} ${d.code}: ${d.message}`);
}

function value(text: string): unknown {
  const result = parseYaml(source(text));
  if (!result.ok) throw new Error(faults(text).join("\n"));
  return plainValue(result.value.root);
}

describe("what is read", () => {
  test("plain YAML 1.2: words of 1.1 stay texts", () => {
    expect(value("a: no\nb: on\nc: 80:22\nd: 2026-01-02\ne: ~\nf:\ng: true\n")).toEqual({
      a: "no",
      b: "on",
      c: "80:22",
      d: "2026-01-02",
      e: null,
      f: null,
      g: true,
    });
  });

  test("a byte order mark and CRLF change neither values nor positions", () => {
    expect(value("\uFEFFa: 1\r\nb:\r\n  - x\r\n")).toEqual({ a: 1, b: ["x"] });
    expect(faults("\uFEFFa: 1\r\na: 2\r\n")[0]).toMatch(/^2:1-2 duplicate-key/);
    expect(value('\uFEFF{"rules": []}\n')).toEqual({ rules: [] });
  });

  test("one document with --- in front and ... behind", () => {
    expect(value("---\na: 1\n...\n")).toEqual({ a: 1 });
    expect(value("%YAML 1.2\n---\na: yes\n")).toEqual({ a: "yes" });
    expect(value("a: |\n  %TAG inside a text\n  --- too\n")).toEqual({ a: "%TAG inside a text\n--- too\n" });
  });

  test("aliases of whole values, within bounds", () => {
    expect(value("a: &x { k: 1 }\nb: *x\nc: &s text\nd: *s\n")).toEqual({ a: { k: 1 }, b: { k: 1 }, c: "text", d: "text" });
  });

  test("core tags, tabs inside texts and between tokens", () => {
    expect(value("a: !!str 12\nb:\t1 \t# c\nc: |\n  make:\n  \tcommand\n")).toEqual({ a: "12", b: 1, c: "make:\n\tcommand\n" });
  });

  test("keys that are numbers keep their text", () => {
    expect(value("012: a\n1.10: b\n")).toEqual({ "012": "a", "1.10": "b" });
  });

  test("the text of a number can be had back", () => {
    const result = parseYaml(source("v: 1.10\nw: 0x1F\n"));
    if (!result.ok) throw new Error("not read");
    expect(nodeAt(result.value.root, ["v"])).toMatchObject({ value: 1.1, text: "1.10" });
    expect(nodeAt(result.value.root, ["w"])).toMatchObject({ value: 31, text: "0x1F" });
  });
});

describe("what is refused, at its place", () => {
  test.each([
    [
      "the same key twice",
      "servers:\n  demo: {command: node}\n  other: {command: node}\n  demo: {command: sh}\n",
      "4:3-7 duplicate-key: duplicate key servers.demo (first at 2:3, again at 4:3)",
    ],
    [
      "the same key twice at the top",
      "servers: {a: {command: node}}\nservers: {a: {command: sh}}",
      "2:1-8 duplicate-key: duplicate key servers (first at 1:1, again at 2:1)",
    ],
    ["the same key in another spelling", 'a: 1\n"a": 2\n', "2:1-4 duplicate-key: duplicate key a (first at 1:1, again at 2:1)"],
    ["a tab in front of a key", "servers:\n\tdemo:\n\t\tcommand: node\n", "2:1-2 yaml-tab: this line is indented with a tab; YAML wants spaces"],
    [
      "a tab behind spaces",
      "servers:\n  demo:\n    command: node\n \targs: [a.js]\n\tother: 1\n",
      "4:2-3 yaml-tab: this line is indented with a tab; YAML wants spaces",
    ],
    ["a tab that the parser lets pass", "a:\n  b: [1,\n   \t2]\n", "3:4-5 yaml-tab: this line is indented with a tab; YAML wants spaces"],
    [
      "a key of a list item that is indented too little",
      "rules:\n  - id: a\n   tools: x\n",
      "3:4-10 yaml-syntax: this line is indented differently from its neighbours",
    ],
    ["the same at the top", "- a: 1\n b: 2\n", "2:2-4 yaml-syntax: this line is indented differently from its neighbours"],
    ["a second document", "---\nservers:\n  a: 1\n---\nservers:\n  b: 1\n", "4:1-4 multiple-documents: a second YAML document starts here; a file holds one"],
    ["a second document behind ...", "a: 1\n...\n---\nservers: {evil: 1}", "3:1-4 multiple-documents: a second YAML document starts here; a file holds one"],
    ["an unknown tag", 'x: !!js/function "function(){}"', "1:4-17 unknown-tag: the tag !!js/function has no meaning here"],
    ["a local tag", "x: !include other.yaml\n", "1:4-12 unknown-tag: the tag !include has no meaning here"],
    ["a tag of YAML 1.1", "x: !!binary aGk=\n", "1:4-12 unknown-tag: the tag !!binary has no meaning here"],
    ["a tag that does not fit", 'x: !!int "abc"\n', "1:4-9 unknown-tag: the value does not fit its tag !!int"],
    ["a merge key", "base: &b {x: 1}\na:\n  <<: *b\n", "3:3-5 merge-key: merge keys (<<) are not supported"],
    ["a list of merges", "b: &b {x: 1}\nc: &c {y: 1}\na: {<<: [*b, *c]}\n", "3:5-7 merge-key: merge keys (<<) are not supported"],
    ["__proto__", "a: 1\n__proto__: {admin: true}\n", '2:1-10 forbidden-key: the key "__proto__" is not allowed'],
    ["__proto__ in quotes", 'a: {"__proto__": 1}\n', '1:5-16 forbidden-key: the key "__proto__" is not allowed'],
    ["constructor", "a:\n  constructor: {prototype: 1}\n", '2:3-14 forbidden-key: the key "constructor" is not allowed'],
    ["an alias without an anchor", "a: *nothing\n", "1:4-12 unknown-alias: the alias *nothing has no anchor &nothing in front of it"],
    ["an alias of itself", "a: &a [*a]\n", "1:8-10 unknown-alias: the alias *a has no anchor &a in front of it"],
    ["another YAML", "%YAML 1.1\n---\na: yes\n", '1:1-10 yaml-directive: the line "%YAML 1.1" would change how the file is read'],
    ["a tag directive", "# c\n%TAG ! tag:x,2000:\n---\na: 1\n", '2:1-19 yaml-directive: the line "%TAG ! tag:x,2000:" would change how the file is read'],
    ["an empty file", "", "1:1-1 file-empty: the file is empty"],
    ["a file of comments", "# later\n\n", "1:1-1 file-empty: the file holds only comments"],
    ["a list at the top", "- a\n", "1:1-1 wrong-type: the file must hold a map of keys, found a list"],
    ["a text at the top", "hello\n", "1:1-6 wrong-type: the file must hold a map of keys, found a single value"],
    ["UTF-16", "\uFFFD\uFFFDa\0:\0 \0", "1:1-2 not-utf8: the file is not UTF-8 text"],
    ["a control character", "a: \u0007\n", "1:4-5 control-character: the file holds the control character U+0007"],
    ["a template", "a: {{ name }}\n", "1:5-13 key-not-text: a key must be plain text"],
    ["an open bracket", "a: [1, 2\nb: 1\n", "1:4-5 yaml-syntax: the [ is not closed by a ]"],
    ["an open quote", 'a: 1\nb: "x\nc: 1\n', '2:4-5 yaml-syntax: the text that starts with " is not closed'],
    ["a colon in a value", "a: b: c\n", "1:4-6 yaml-syntax: a value holds a colon followed by a space, which starts another key"],
    ["a line without a colon", "a: 1\nfoo\n", '2:1-4 yaml-syntax: "foo" is neither a key nor a value'],
    ["crooked indentation", "a:\n  b: 1\n c: 2\n", "3:2-4 yaml-syntax: this line is indented differently from its neighbours"],
    [
      "crooked indentation behind a blank line and a comment",
      "a: 1\n\n# about b\n  b: 2\n",
      "4:3-5 yaml-syntax: this line is indented differently from its neighbours",
    ],
    ["a value that starts with @", "a: @foo\n", '1:4-8 yaml-syntax: a value cannot start with "@"'],
    ["a variable in braces without quotes", "b: {c: ${X}}\n", "1:9-10 yaml-syntax: inside { } and [ ], a text with ${…} needs quotes"],
  ])("%s", (_name, text, expected) => {
    expect(faults(text)[0]).toBe(expected);
    expect(faults(text)).toHaveLength(1);
  });

  test("more than 1 MiB", () => {
    expect(faults(`a: "${"é".repeat(MAX_FILE_BYTES / 2)}"\n`)).toEqual(["1:1-1 file-too-large: the file is larger than 1 MiB"]);
  });

  test("the tab is shown as a mark", () => {
    const text = "servers:\n\tdemo: 1\n";
    const out = printDiagnostics(parseYaml(source(text)).diagnostics, { format: "text", texts: () => text, color: false, files: 1, mask: (s) => s });
    expect(out).toContain(" 2 | →demo: 1\n   | ^\n");
    expect(out).toContain("replace the tab by spaces");
  });
});

describe("what would take long or fill the memory", () => {
  const nine = (name: string): string => `[${Array(9).fill(`*${name}`).join(", ")}]`;
  const bomb = ["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]", ..."bcdefghi".split("").map((name, i) => `${name}: &${name} ${nine("abcdefgh"[i]!)}`)].join("\n");

  test.each([
    ["nested aliases", bomb, "alias-bomb"],
    ["500 merges of one map", `base: &B {x: 1}\n${Array.from({ length: 500 }, (_, i) => `m${i}: {<<: *B}\n`).join("")}`, "merge-key"],
    ["a chain of merges", `m0: &m0 {x: 1}\n${Array.from({ length: 30 }, (_, i) => `m${i + 1}: &m${i + 1} {<<: [*m${i}, *m${i}]}\n`).join("")}`, "merge-key"],
    ["many aliases of one large list", `a: &a [${"1,".repeat(5000)}]\nb: [${"*a,".repeat(500)}]\n`, "alias-bomb"],
    ["brackets without an end", "[".repeat(1_000_000), "too-deep"],
    ["maps in maps", `a: ${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`, "too-deep"],
    ["lists in lists", "- ".repeat(20_000), "too-deep"],
    ["indented lists", Array.from({ length: 400 }, (_, i) => `${" ".repeat(i)}- `).join("\n"), "too-deep"],
  ])("%s", (_name, text, code) => {
    const before = performance.now();
    const found = parseYaml(source(text));
    expect(found.diagnostics.map((d) => d.code)).toContain(code);
    expect(performance.now() - before).toBeLessThan(5000);
  });
});
