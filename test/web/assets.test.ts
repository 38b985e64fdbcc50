import { describe, expect, it } from "vitest";
import { escapeInvisible } from "../../src/base/text.ts";
import { layOut } from "../../src/web/assets/graph-layout.js";
import { countHidden, parseJson, placeText, safeText, visibleRuns } from "../../src/web/assets/text.js";

describe("texts of servers and models", () => {
  it("escape the same characters as the command line does, over all of Unicode", () => {
    for (let start = 0; start <= 0x10ffff; start += 0x1000) {
      const text = Array.from({ length: 0x1000 }, (_, i) => String.fromCodePoint(start + i)).join("");
      // Neighbouring surrogates would pair up; alone they are invisible on both sides.
      const plain = start === 0xd000 ? text.replaceAll(/[\ud800-\udfff]/g, "") : text;
      if (safeText(plain) !== escapeInvisible(plain)) throw new Error(`different from U+${start.toString(16)} on`);
    }
    expect(safeText("\ud800")).toBe("\\u{d800}");
    expect(safeText("a\nb\u202ec")).toBe("a\\nb\\u{202e}c");
  });

  it("mark what is hidden apart from what is written, so that a written escape is no hidden one", () => {
    expect(visibleRuns("\\u{202e}\u202e")).toEqual([
      { text: "\\u{202e}", hidden: false },
      { text: "\\u{202e}", hidden: true },
    ]);
    expect(visibleRuns("a\n\tb", true)).toEqual([{ text: "a\n\tb", hidden: false }]);
  });

  it("are counted in keys and values, lists and maps", () => {
    expect(countHidden({ "a\u200b": ["\u202e\u2066", { b: "plain\nline" }], c: 1 })).toBe(3);
  });

  it("numbers keep the digits that they were written with, where the engine tells them", () => {
    const { id, rate, small, exponent } = parseJson('{"id":12345678901234567890,"rate":0.1000000000000000055,"small":12,"exponent":1e400}');
    expect(small).toBe(12);
    // Node 20 does not tell the source of a number, current browsers do; the page must work either way.
    expect(["12345678901234567890", "12345678901234567000"]).toContain(String(id));
    expect(Number(rate)).toBeCloseTo(0.1);
    expect(["1e400", "Infinity"]).toContain(String(exponent));
  });

  it("a place is written as editors take it", () => {
    expect(placeText({ file: "a.yaml", line: 3, column: 7 })).toBe("a.yaml:3:7");
    expect(placeText({ file: "a.yaml", line: 3 })).toBe("a.yaml:3");
    expect(placeText({ file: null, line: null, column: null })).toBe("");
  });
});

interface Node {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

describe("the picture's layout", () => {
  const app = (name: string, more: object = {}) => ({ package: name, state: "ready", tools: 2, ...more });
  const rule = (id: string, apps: string[]) => ({ id, action: "deny", risk: null, apps: apps.map((one) => ({ app: one, tools: 1 })) });
  const graph = {
    table: { low: "allow", medium: "allow", high: "ask", critical: "deny" },
    rules: [rule("r1", ["a", "b"]), rule("r2", [])],
    signals: [
      { id: "own", file: "s.yaml", emits: "x", apps: ["a"] },
      { id: "drop", file: "s.yaml", emits: null, apps: null },
      { id: "built", file: null, emits: "y", apps: null },
    ],
  };
  const apps = [app("a"), app("b"), app("off", { state: "disabled", tools: 0 })];
  const tools = [{ app: "a", risk: "low" }];
  const edges = (width: number) =>
    layOut({ apps, tools, graph, inbox: {} }, width)
      .edges.map((edge: { from: string; to: string }) => `${edge.from}>${edge.to}`)
      .sort();

  it("joins rules with the apps they reach, apps with the mappings that take their signals, and those with the inbox", () => {
    const wanted = [
      "rule:r1>app:a",
      "rule:r1>app:b",
      "table>app:a",
      "table>app:b",
      "app:a>signal:own",
      "signal:own>inbox",
      "app:a>signal:drop",
      "app:b>signal:drop",
      "app:a>built-in",
      "app:b>built-in",
      "built-in>inbox",
    ];
    expect(edges(1200)).toEqual(wanted.sort());
    expect(edges(340)).toEqual(wanted);
  });

  it.each([280, 340, 639, 640, 900, 1360])("nothing overlaps and nothing sticks out at %i px, with many apps and tools", (width) => {
    const many = Array.from({ length: 60 }, (_, i) => app(`org.app${i}`));
    const lots = many.flatMap((one, i) => Array.from({ length: i * 5 }, () => ({ app: one.package, risk: "low" })));
    const { nodes, height } = layOut({ apps: many, tools: lots, graph, inbox: {} }, width) as { nodes: Node[]; height: number };
    for (const node of nodes) expect(node.x >= 0 && node.x + node.width <= width && node.y >= 0 && node.y + node.height <= height).toBe(true);
    for (const a of nodes)
      for (const b of nodes)
        if (a.key < b.key) expect(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(true);
  });

  it("is drawn for a caller too, who sees no wiring", () => {
    const { nodes, edges } = layOut({ apps, tools, graph: null, inbox: {} }, 1000);
    expect(nodes.map((node: Node) => node.key)).toEqual(["app:a", "app:b", "app:off", "inbox"]);
    expect(edges).toEqual([]);
  });
});
