import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DIAGNOSTIC_CODES } from "../../src/base/diagnostic-codes.ts";
import { load } from "../config/workspace.ts";

const root = join(import.meta.dirname, "../..");
const doc = readFileSync(join(root, "docs/diagnostics.md"), "utf8");
/** Section text by code. */
const sections = new Map(
  doc
    .split(/^### /m)
    .slice(1)
    .map((part) => [part.slice(0, part.indexOf("\n")), part.replace(/\n## [\s\S]*/, "")]),
);
const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith("diagnostic-codes.ts"))
  .map((name) => readFileSync(join(root, "src", name), "utf8"));

test("every code stands in docs/diagnostics.md, and none that does not exist", () => {
  expect([...sections.keys()].sort()).toEqual(Object.keys(DIAGNOSTIC_CODES).sort());
});

test.each(Object.entries(DIAGNOSTIC_CODES))("%s is explained, mended and used", (code, meaning) => {
  expect(sections.get(code)).toContain(meaning);
  expect(sections.get(code)).toMatch(/\*\*Mend:\*\* \S/);
  expect(sources.some((text) => text.includes(`"${code}"`))).toBe(true);
});

test("every code that the source gives to a finding is in the table", () => {
  const used = sources
    .filter((text) => /base\/diagnostic(?:s|-codes)\.ts"/.test(text))
    .flatMap((text) => [...text.matchAll(/(?:errorAt|warningAt)\(\s*"([a-z0-9-]+)"|code: "([a-z0-9-]+)",\s*severity/g)].map((match) => match[1] ?? match[2]!));
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter((code) => !Object.hasOwn(DIAGNOSTIC_CODES, code))).toEqual([]);
});

const examples = [...sections].flatMap(([code, text]) => {
  const example = /```yaml\n((?:# (?<file>topology\/topology\.yaml|apps\/\S+)\n)[\s\S]*?)```/.exec(text);
  return example?.groups?.["file"] ? [{ code, file: example.groups["file"], yaml: example[1]! }] : [];
});

test("there are examples that can be run", () => {
  expect(examples.length).toBeGreaterThan(30);
});

test.each(examples)("the example of $code gives that finding, and no other", ({ code, file, yaml }) => {
  const found = load({ files: { "topology/topology.yaml": "topology: 1\n", [file]: yaml } });
  expect(found.diagnostics.map((d) => d.code)).toEqual([code]);
});
