import { describe, expect, test } from "vitest";
import { sortDiagnostics } from "../../src/base/diagnostics.ts";
import { compilePlan } from "../../src/plan/compile.ts";
import { lines, load } from "./workspace.ts";

const TOPOLOGY = "topology: 1\ndiscover: [../apps/*/manifest.yaml]\n";
const MANIFEST = "package: org.a\nmcp: { command: node, args: [a.js] }\ncommands: [{ name: read }, { name: write }]\n";

/** All findings of a workspace, those that need several files too: `file:line:column code` and what else is wanted of the message. */
function found(files: Record<string, string>): string[] {
  const result = load({ files: { "topology/topology.yaml": TOPOLOGY, ...files } });
  const compiled = result.config ? compilePlan(result.config, { secretKey: "k" }).diagnostics : [];
  return lines({ diagnostics: sortDiagnostics([...result.diagnostics, ...compiled]) }).map((line) => line.split(" | ")[0]!.replace(/^[^ ]*\//, ""));
}

const inManifest = (text: string): string[] => found({ "apps/a/manifest.yaml": text });
const inPolicy = (text: string): string[] => found({ "apps/a/manifest.yaml": MANIFEST, "topology/policies/p.yaml": text });
const inSignals = (text: string): string[] => found({ "apps/a/manifest.yaml": MANIFEST, "topology/signals/s.yaml": text });
const inTopology = (text: string, more: Record<string, string> = {}): string[] => found({ ...more, "topology/topology.yaml": text });

/** Findings without their words. */
const codes = (all: readonly string[]): string[] => all.map((line) => /^(\S+ \w+\[[\w-]+\])/.exec(line)![1]!);

describe("a manifest with several mistakes", () => {
  test.each([
    ['package: "bad name!"\nmcp: { transport: stdio, url: "https://x/mcp" }\n', ["1:10 error[bad-format]", "2:19 error[wrong-transport]"]],
    ["package: a\nfoo: 1\nmcp: { command: node, url: 'https://x/' }\n", ["2:1 error[unknown-key]", "3:23 error[two-transports]"]],
    ["package: a\nmcp: { command: 5, url: 'https://x/' }\n", ["2:17 error[wrong-type]", "2:20 error[two-transports]"]],
    ["package: a\nmcp: { command: node, headers: { A: b }, args: [~/x] }\n", ["2:23 error[wrong-transport]", "2:49 error[tilde-path]"]],
    ["package: a\nmcp: { url: 'http://example.org/', health_timeout: x }\n", ["2:13 error[plain-http]", "2:52 error[bad-unit]"]],
    ["package: a\ntrust: hgh\nmcp: { command: node, env: { API_TOKEN: abcd1234 } }\n", ["2:8 error[unknown-value]", "3:41 warning[literal-secret]"]],
    ["package: a\nmcp: { args: [a.js], health_timeout: x }\n", ["2:1 error[no-transport]", "2:38 error[bad-unit]"]],
  ])("%j: all are told", (text, expected) => {
    expect(codes(inManifest(text))).toEqual(expected.map((line) => `manifest.yaml:${line}`));
  });

  test.each([
    ["package: a\nmcp: { comand: node, args: [a.js] }\n", "unknown-key"],
    ["package: a\nmpc: { command: node }\n", "unknown-key"],
    ["package: a\nmcp: { command: [node, 5] }\n", "wrong-type"],
    ["package: a\nmcp: [command]\n", "wrong-type"],
    ["package: a\nmcp: { url: 5 }\n", "wrong-type"],
    ["package: a\nmcp: { entry: a.py, comand: python }\n", "unknown-key"],
    ["package: a\nx-b: &b { command: node }\nmcp: { <<: *b }\n", "merge-key"],
    ["package: a\nmcp: { command: *c }\n", "unknown-alias"],
    ["package: a\nmcp: !x { command: node }\n", "unknown-tag"],
    ["package: a\nmcp: { command: node, cwd: { { dir }: x } }\n", "key-not-text"],
    ["package: a\nmcp: { url: 'http://example.org/', allow_http: yes }\n", "wrong-type"],
  ])("%j: one mistake, and nothing that follows from it", (text, code) => {
    const all = inManifest(text);
    expect(all).toHaveLength(1);
    expect(all[0]).toContain(`[${code}]`);
  });

  test("its conflicts with the entry in topology.yaml are told at the entry", () => {
    const all = inTopology(`${TOPOLOGY}apps: { org.a: { mcp: { url: "https://x/", envv: 1 } } }\n`, { "apps/a/manifest.yaml": `${MANIFEST}trust: hgh\n` });
    expect(codes(all)).toEqual(["manifest.yaml:4:8 error[unknown-value]", "topology.yaml:3:25 error[two-transports]", "topology.yaml:3:44 error[unknown-key]"]);
  });

  test("a package that two declare hides no other mistake of theirs", () => {
    const all = found({ "apps/a/manifest.yaml": MANIFEST, "apps/b/manifest.yaml": "package: org.a\nmcp: { command: node, url: 'https://x/' }\ntrsut: low\n" });
    expect(codes(all)).toEqual([
      "manifest.yaml:1:10 error[duplicate-package]",
      "manifest.yaml:2:23 error[two-transports]",
      "manifest.yaml:3:1 error[unknown-key]",
    ]);
  });

  test("what is broken is not run: the app is parked", () => {
    const { config } = load({ files: { "topology/topology.yaml": TOPOLOGY, "apps/a/manifest.yaml": `${MANIFEST}trust: hgh\n` } });
    expect(config!.apps).toMatchObject([{ kind: "parked", state: "failed", package: "org.a" }]);
  });
});

describe("what YAML itself refuses hides nothing else", () => {
  test.each([
    [
      "package: a\nmcp:\n  command: node\n  comand: x\n  command: deno\ntrust: hgh\n",
      ["4:3 error[unknown-key]", "5:3 error[duplicate-key]", "6:8 error[unknown-value]"],
    ],
    ["package: a\nx-b: &b { A: b }\nmcp: { command: node, env: { <<: *b }, argz: [] }\n", ["3:30 error[merge-key]", "3:40 error[unknown-key]"]],
    ["package: a\nmcp: { command: node, cwd: *gone, args: [5] }\n", ["2:28 error[unknown-alias]", "2:42 error[wrong-type]"]],
    ["package: a\nname: !foo &n x\ndescription: *n\nmcp: { command: node }\ntrust: hgh\n", ["2:7 error[unknown-tag]", "5:8 error[unknown-value]"]],
    ["package: a\n? [k]\n: 1\nmcp: { command: node }\ntrust: hgh\n", ["2:3 error[key-not-text]", "5:8 error[unknown-value]"]],
    ["package: a\n__proto__: 1\nmcp: { command: node }\ntrust: hgh\n", ["2:1 error[forbidden-key]", "4:8 error[unknown-value]"]],
  ])("%j", (text, expected) => {
    expect(codes(inManifest(text))).toEqual(expected.map((line) => `manifest.yaml:${line}`));
  });

  test("a mistake that aliases repeat is one", () => {
    const all = inManifest("package: a\nx-e: &e { BAD-NAME: x, B: [1] }\nmcp: { command: node, env: *e }\nenv: *e\n");
    expect(codes(all)).toEqual(["manifest.yaml:2:11 error[bad-format]", "manifest.yaml:2:27 error[wrong-type]"]);
  });

  test("a document without a value is empty", () => {
    expect(inManifest("---\n")).toEqual(["manifest.yaml:1:1 error[file-empty] the file holds only comments"]);
  });
});

describe("a policy file with several mistakes", () => {
  const RULES = [
    "- { id: one, tools: [raed], apps: [org.a], action: allow }",
    "- { id: one, tools: [read], action: deny }",
    '- { id: two, acton: allow, args: { path: { matches: "(" } } }',
    "- { id: three, action: denny }",
    "- { tools: [x] }",
    "- { id: four, tools: [read] }",
    "- 7",
    "- { id: two, tools: [write], action: ask }",
  ];

  test("sound rules are looked at, broken ones as far as they are sound", () => {
    expect(inPolicy(`rules:\n${RULES.map((rule) => `  ${rule}\n`).join("")}`).map((line) => line.replace("p.yaml:", ""))).toEqual([
      '2:24 warning[rule-matches-nothing] rule "one" names the tool "raed", which matches none that is known of "org.a"',
      '3:11 error[duplicate-rule] rule id "one" is used twice',
      '4:16 error[unknown-key] unknown key "acton" in rules[2]',
      expect.stringMatching(/^4:55 error\[bad-pattern\] rule "two": the pattern for "path"/),
      '5:26 error[unknown-value] rules[3].action: "denny" is not one of the words allowed',
      '6:7 error[missing-key] rules[4] needs the key "id"',
      expect.stringMatching(/^7:5 error\[rule-does-nothing\] rule "four"/),
      "8:5 error[wrong-type] rules[6] must be a map of keys, found the number 7",
      '9:11 error[duplicate-rule] rule id "two" is used twice',
    ]);
  });

  test("a broken rule is not called too wide for want of what is misspelt", () => {
    expect(codes(inPolicy("rules: [{ id: a, toolz: [read], action: allow }]\n"))).toEqual(["p.yaml:1:18 error[unknown-key]"]);
  });

  test("another file's findings stay, and nothing at all may be called", () => {
    const { config } = load({
      files: {
        "topology/topology.yaml": TOPOLOGY,
        "topology/policies/a.yaml": "rules: [{ id: a, action: alow }]\n",
        "topology/policies/b.yaml": "rules: [{ id: a, action: allow }]\n",
      },
    });
    const { plan, diagnostics } = compilePlan(config!, { secretKey: "k" });
    expect(lines({ diagnostics })).toEqual([
      expect.stringContaining("b.yaml:1:9 warning[rule-too-wide]"),
      expect.stringContaining('b.yaml:1:15 error[duplicate-rule] rule id "a" is used twice'),
    ]);
    expect(plan.policy).toMatchObject({ refusal: expect.any(String), rules: [] });
  });
});

describe("a signal file with several mistakes", () => {
  test("sound rules are looked at, broken ones as far as they are sound", () => {
    const all = inSignals(`rules:
  - { id: a, when: { app: org.x, method: m }, emit: { type: t } }
  - { id: a, whn: {}, drop: true }
  - { id: a, when: { method: m }, drop: true }
  - { id: b, when: { method: m } }
  - { id: c, when: { method: m, kind: notifcation }, emit: { type: "{nope.x}", expires_in: 5 parsecs } }
  - { id: d, when: { method: m }, emitt: { type: t } }
`);
    expect(codes(all)).toEqual(
      ["2:27 warning[unknown-app]", "3:14 error[unknown-key]", "4:11 error[duplicate-id]", "5:5 error[signal-rule]", "6:39 error[unknown-value]"]
        .concat(["6:68 error[signal-rule]", "6:92 error[bad-unit]", "7:35 error[unknown-key]"])
        .map((line) => `s.yaml:${line}`),
    );
  });
});

describe("a topology.yaml with several mistakes", () => {
  test("lists with a broken entry are looked at all the same", () => {
    const all = inTopology(
      "discover: [../apps/*/manifest.yaml, { globb: x }]\nexports: [{ format: openapi, file: a }, { format: openai, file: b }, { format: mcp, file: b }]\n" +
        "gateway:\n  listen: 0.0.0.0:99999\n  tsl: {}\n  clients: [{ name: a, token_file: x }, { nam: b }, { name: a, token_file: y }]\n",
      { "topology/policies/p.yaml": "rules: [{ id: p, action: deny, tools: [x] }, { id: p, action: deny }]\n" },
    );
    expect(codes(all)).toEqual(
      ["1:1 error[missing-key]", "1:39 error[unknown-key]", "2:21 error[unknown-value]", "2:91 error[duplicate-name]", "4:11 error[out-of-range]"]
        .concat(["5:3 error[unknown-key]", "6:43 error[missing-key]", "6:43 error[unknown-key]", "6:61 error[duplicate-name]"])
        .map((line) => `topology.yaml:${line}`)
        .toSpliced(0, 0, "p.yaml:1:52 error[duplicate-rule]"),
    );
  });

  test.each([
    ["discovr: [../apps/*/manifest.yaml]", 1],
    ["discover: ../apps/*/manifest.yaml", 1],
  ])("%s: that no app is found is not told at each place that names one", (line, count) => {
    const files = { "topology/policies/p.yaml": "rules: [{ id: p, apps: [org.a], tools: [read], action: deny }]\n" };
    expect(inTopology(`topology: 1\n${line}\napps: { org.a: { trust: low } }\n`, files)).toHaveLength(count);
  });

  test("an entry whose manifest has lost its package is not told as unknown", () => {
    const files = { "apps/a/manifest.yaml": "pakage: org.a\nmcp: { command: node }\n" };
    expect(codes(inTopology(`${TOPOLOGY}apps: { org.a: { trust: low } }\n`, files))).toEqual(["manifest.yaml:1:1 error[unknown-key]"]);
  });
});
