import fc from "fast-check";
import { runs } from "../support/explore.ts";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { addApp, setAppField } from "../../src/config/edit-yaml.ts";

const source = (text: string): { file: string; display: string; text: string } => ({
  file: "/ws/topology/topology.yaml",
  display: "topology/topology.yaml",
  text,
});

function edited(result: ReturnType<typeof addApp>): string {
  if (!result.ok) throw new Error(result.diagnostics.map((d) => d.message).join("\n"));
  return result.value;
}

const ENTRY = { mcp: { command: "npx", args: ["-y", "server"], env: { KEY: "${KEY}", N: "1" } } };
const TOP = `# owner: team-a
topology: 1
apps:
  demo: {mcp: {command: node, args: [a.js]}}  # keep

  # second
  b:
    mcp: {command: node, args: ['b.js']}   # also


# host
log: { level:   info }
`;

/** The new text without the lines of the old one, which must all be there in their order. */
function newLines(before: string, after: string): string[] {
  const old = before.split("\n");
  const out: string[] = [];
  let at = 0;
  for (const line of after.split("\n")) {
    if (line === old[at]) at += 1;
    else out.push(line);
  }
  expect(at, `a line was lost:\n${after}`).toBe(old.length);
  return out;
}

describe("adding an app", () => {
  test("only new lines come in, behind the last entry", () => {
    const after = edited(addApp(source(TOP), "new.app", ENTRY));
    expect(newLines(TOP, after)).toEqual([
      "  new.app:",
      "    mcp:",
      "      command: npx",
      "      args:",
      "        - -y",
      "        - server",
      "      env:",
      "        KEY: ${KEY}",
      '        N: "1"',
    ]);
    expect(after.indexOf("new.app")).toBeGreaterThan(after.indexOf("# also"));
    expect(after.indexOf("new.app")).toBeLessThan(after.indexOf("# host"));
    expect((parse(after) as { apps: Record<string, unknown> }).apps["new.app"]).toEqual(ENTRY);
  });

  test("CRLF and a byte order mark stay", () => {
    const crlf = `\uFEFF${TOP.replaceAll("\n", "\r\n")}`;
    const after = edited(addApp(source(crlf), "new.app", ENTRY));
    expect(after.startsWith("\uFEFF#")).toBe(true);
    expect(after.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
    expect(after.replaceAll("\r\n", "\n").slice(1)).toBe(edited(addApp(source(TOP), "new.app", ENTRY)));
  });

  test.each([
    ["no apps", "topology: 1\n"],
    ["no apps and no line break at the end", "topology: 1"],
    ["empty apps", "topology: 1\napps:\nlog: { level: info }\n"],
    ["empty apps with a comment", "topology: 1\napps: # none yet\nlog: { level: info }\n"],
    ["apps: {}", "topology: 1\napps: {}\n"],
    ["apps: { }", "topology: 1\napps: { }\nname: x\n"],
    ["apps on one line", "topology: 1\napps: { a: { enabled: false } }\nname: x\n"],
    ["apps on one line with a comma at the end", "topology: 1\napps: { a: { enabled: false }, }\n"],
    ["apps over several lines in braces", "topology: 1\napps: {\n  a: { enabled: false }, # one\n  }\n"],
    ["apps as the last thing, without a line break", "topology: 1\napps:\n  a: { enabled: false }"],
    ["a block text at the end", "topology: 1\napps:\n  a:\n    description: |\n      one\n      two\nname: x\n"],
    ["an empty entry at the end", "topology: 1\napps:\n  a:\nname: x\n"],
    ["four spaces", "topology: 1\napps:\n    a:\n        enabled: false\n"],
    ["an end mark", "topology: 1\n...\n"],
    ["comments only", "# later\n"],
    ["nothing", ""],
  ])("%s", (_name, text) => {
    const after = edited(addApp(source(text), "new.app", ENTRY));
    const value = parse(after) as { apps: Record<string, unknown> };
    const before = (parse(text) ?? {}) as { apps?: Record<string, unknown> };
    expect(value).toEqual({ ...before, apps: { ...before.apps, "new.app": ENTRY } });
    for (const comment of text.match(/#.*/g) ?? []) expect(after).toContain(comment);
  });

  test("a package that is there already is refused", () => {
    expect(addApp(source(TOP), "demo", ENTRY)).toMatchObject({
      ok: false,
      diagnostics: [{ code: "duplicate-key", message: "topology/topology.yaml already has an entry for demo" }],
    });
  });

  test("a file that is not YAML is not touched", () => {
    expect(addApp(source("topology: [\n"), "a", ENTRY)).toMatchObject({ ok: false, diagnostics: [{ code: "yaml-syntax" }] });
    expect(addApp(source("- a\n"), "a", ENTRY)).toMatchObject({ ok: false, diagnostics: [{ code: "wrong-type" }] });
  });

  test("texts that look like something else come back as they were", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom("A", "B", "on", "1"),
          fc.oneof(fc.string(), fc.constantFrom("012", "1.10", "null", "true", "*a", "&a", "- x", "a: b", "# no", "~", "<<", "line\nbreak", " lead", "\ttab")),
          { minKeys: 1 },
        ),
        fc.constantFrom(TOP, "topology: 1\napps: { a: { enabled: false } }\n"),
        (env, text) => {
          const after = edited(addApp(source(text), "n", { mcp: { env } }));
          expect((parse(after) as { apps: Record<string, unknown> }).apps["n"]).toEqual({ mcp: { env } });
        },
      ),
      runs(60),
    );
  });
});

describe("setting a field", () => {
  test("a new field in a block entry", () => {
    const after = edited(setAppField(source(TOP), "b", "enabled", false));
    expect(newLines(TOP, after)).toEqual(["    enabled: false"]);
  });

  test("a new field in an entry on one line", () => {
    expect(edited(setAppField(source(TOP), "demo", "enabled", false))).toBe(TOP.replace("[a.js]}}  # keep", "[a.js]}, enabled: false}  # keep"));
  });

  test("another value keeps the comment behind it", () => {
    const text = "topology: 1\napps:\n  a:\n    enabled: true   # why\n    name: A\n";
    expect(edited(setAppField(source(text), "a", "enabled", false))).toBe(text.replace("true", "false"));
  });

  test("a field is taken out, and an entry is made where there is none", () => {
    const text =
      "topology: 1\napps:\n  a:\n    enabled: false\n    name: A\n  b: { enabled: false, name: B }\n  c: { name: C, enabled: false }\n  d:\n    enabled: false\n  e:\n";
    const off = (name: string): Record<string, unknown> =>
      (parse(edited(setAppField(source(text), name, "enabled", undefined))) as { apps: Record<string, Record<string, unknown>> }).apps[name]!;
    expect(off("a")).toEqual({ name: "A" });
    expect(off("b")).toEqual({ name: "B" });
    expect(off("c")).toEqual({ name: "C" });
    expect(off("d")).toEqual({});
    for (const name of ["e", "new"])
      expect((parse(edited(setAppField(source(text), name, "enabled", true))) as { apps: Record<string, unknown> }).apps[name]).toEqual({ enabled: true });
  });
});
