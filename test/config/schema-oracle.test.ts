import { createRequire } from "node:module";
import fc from "fast-check";
import { runs } from "../support/explore.ts";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { checkValue } from "../../src/config/check.ts";
import { parseYaml } from "../../src/config/parse.ts";
import { schemaShape } from "../../src/config/shape.ts";
import { compileSchemaSet } from "../../src/base/json-schema.ts";

/*
 * Files are checked by our own walk over the schemas, for the sake of its words. Editors check them with a JSON Schema engine.
 * The two must agree: a value that the engine takes is taken, and one that it refuses is refused.
 */
const requireSchema = createRequire(import.meta.url);
const IDS = ["app", "topology", "policy", "signals"].map((name) => `${name}.schema.json`);
const engine = compileSchemaSet(IDS.map((id) => requireSchema(`../../schemas/${id}`) as object));

const SAMPLES: Readonly<Record<string, unknown>> = {
  "app.schema.json": {
    package: "a.b",
    version: "1",
    mcp: {
      command: ["x", "y"],
      args: ["z"],
      env: { A: "1" },
      health_timeout: 10,
      restart: { enabled: true, max_attempts: 3 },
      tls: { ca: "x" },
      auth: { oauth: { scopes: ["a"] } },
    },
    commands: [{ name: "n", risk: "low", parameters: [1] }],
    trust: "high",
    tools: { include: ["a"], rename: { a: "b" } },
    grants: { roots: ["r"], sampling: { forward: true } },
    icon: 5,
  },
  "topology.schema.json": {
    topology: 1,
    discover: ["a", { glob: "b", trusted: true }],
    apps: { a: { mcp: { url: "https://x" }, enabled: true } },
    exports: [{ format: "openai", file: "f", max_name: 60 }],
    gateway: { listen: "127.0.0.1:0", clients: [{ name: "b", token_file: "t" }] },
    inbox: { webhook: { url: "https://x" } },
  },
  "policy.schema.json": {
    risk_actions: { low: { action: "allow", audit: "full" } },
    rules: [{ id: "a", tools: ["x"], args: { p: { equals: [1, { a: null }], max: 3 } }, limits: { concurrent: 2 } }],
    approvals: { four_eyes: true },
  },
  "signals.schema.json": {
    rules: [
      { id: "a", when: { method: "m", params: { a: 1, b: { glob: "x" } } }, emit: { type: "t", data: { a: "{params}" } } },
      { id: "b", when: { kind: "host" }, drop: true, sample: 0.5 },
    ],
  },
};

const JUNK = fc.constantFrom<unknown>(
  "",
  "x",
  "high",
  "10s",
  "https://h",
  0,
  1,
  2.5,
  -1,
  true,
  false,
  [],
  ["a"],
  [1],
  {},
  { a: "b" },
  { name: "n" },
  { unknown_key: 1 },
);

/** A sample with one value at a random place replaced, added or taken out. */
const mutated = (sample: unknown): fc.Arbitrary<unknown> =>
  fc
    .tuple(fc.infiniteStream(fc.nat(50)), JUNK, fc.constantFrom("replace", "remove", "add"))
    .map(([picks, junk, how]) => change(structuredClone(sample), picks, junk, how));

function change(value: unknown, picks: Iterator<number>, junk: unknown, how: string): unknown {
  const pick = (n: number): number => Number(picks.next().value) % n;
  if (typeof value !== "object" || value === null || pick(4) === 0) return how === "replace" ? junk : value;
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object);
  if (how === "add" && pick(3) === 0) {
    if (Array.isArray(value)) value.push(junk);
    else object["added"] = junk;
    return value;
  }
  if (keys.length === 0) return value;
  const key = keys[pick(keys.length)]!;
  if (how === "remove" && pick(2) === 0) {
    if (Array.isArray(value)) value.splice(Number(key), 1);
    else delete object[key];
  } else object[key] = change(object[key], picks, junk, how);
  return value;
}

/** What goes beyond the schema language: units are read, texts under x-text may be numbers, numbers must be plain. */
function beyond(code: string): boolean {
  return code === "bad-unit";
}

for (const id of IDS) {
  test(`${id}: the walk and the engine agree`, () => {
    let refused = 0;
    fc.assert(
      fc.property(mutated(SAMPLES[id]), (value) => {
        const text = stringify(value, { defaultStringType: "QUOTE_DOUBLE", aliasDuplicateObjects: false });
        const parsed = parseYaml({ file: "/x", display: "x", text });
        if (!parsed.ok) return;
        const checked = checkValue(parsed.value, schemaShape(id), null);
        const ours = checked.diagnostics.filter((d) => !beyond(d.code));
        // Where text is kept as written, the engine sees what we made of it.
        const seen = ours.length === 0 && checked.value !== undefined ? checked.value : value;
        const theirs = engine.get(id)!.validate(seen);
        if (theirs.length > 0) refused += 1;
        expect(ours.length > 0, `${text}\nours ${JSON.stringify(ours)}\ntheirs ${JSON.stringify(theirs)}`).toBe(theirs.length > 0);
      }),
      runs(80),
    );
    expect(refused).toBeGreaterThan(5);
  });
}

test("what is left of a wrong value fits the schema", () => {
  for (const id of IDS) {
    fc.assert(
      fc.property(mutated(SAMPLES[id]), (value) => {
        const parsed = parseYaml({ file: "/x", display: "x", text: stringify(value, { defaultStringType: "QUOTE_DOUBLE", aliasDuplicateObjects: false }) });
        if (!parsed.ok) return;
        const { value: left } = checkValue(parsed.value, schemaShape(id), null);
        if (left !== undefined) expect(engine.get(id)!.validate(left)).toEqual([]);
      }),
      runs(60),
    );
  }
});
