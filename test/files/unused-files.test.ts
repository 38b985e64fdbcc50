import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createKit } from "../../src/kit.ts";
import type { Logger } from "../../src/runtime/ports.ts";
import { loadWorkspace } from "../../src/workspace.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

let ws: TestWorkspace;
afterEach(() => ws.remove());

const TOPOLOGY = "topology: 1\ndiscover: [../apps/*/manifest.yaml]\npolicies: [policies/*.yaml]\nsignals: [signals/*.yaml]\n";
const POLICY = "rules:\n  - { id: no, tools: [x], action: deny, reason: x }\n";
const SIGNALS = "rules:\n  - { id: s, when: { kind: host }, drop: true }\n";
const MANIFEST = "package: demo\ntype: mcp-server\nmcp: { command: node }\n";
const BASE = {
  "topology/policies/a.yaml": POLICY.replace("no", "first"),
  "topology/signals/a.yaml": SIGNALS.replace("id: s", "id: first"),
  "apps/a/manifest.yaml": MANIFEST.replace("demo", "first"),
};

async function found(files: Readonly<Record<string, string>>, topology = TOPOLOGY): Promise<string[]> {
  ws = await makeWorkspace({ ...BASE, "topology/topology.yaml": topology, ...files });
  const { diagnostics } = await loadWorkspace({ cwd: ws.root, env: {}, topology: ws.topology });
  return diagnostics.filter(({ code }) => code === "unused-file").map((d) => `${d.place?.line} ${d.path} ${d.message} | ${d.help?.join()}`);
}

test.each([
  [
    "topology/policies/e.yml",
    POLICY,
    '3 policies[0] no pattern finds topology/policies/e.yml, which looks like policy rules: none of its rules is in force | rename it to e.yaml: the pattern "policies/*.yaml" takes it then',
  ],
  ["topology/policies/E.YAML", "risk_actions: { high: deny }\n", 'rename it to E.yaml: the pattern "policies/*.yaml"'],
  ["topology/policies/sub/e.yaml", POLICY, 'add "policies/**/*.yaml" to policies'],
  ["topology/extra-policy.yaml", POLICY, 'add "extra-policy.yaml" to policies'],
  [
    "policies/a.yaml",
    POLICY,
    'no pattern finds policies/a.yaml, which looks like policy rules: none of its rules is in force | add "../policies/a.yaml" to policies',
  ],
  ["topology/signals/e.yml", SIGNALS, "looks like a signal mapping: none of its rules is in force | rename it to e.yaml"],
  ["apps/x/manifest.yml", MANIFEST, "looks like a manifest: its app is not there | rename it to manifest.yaml"],
  ["topology/policies/bad.yml", `${POLICY}  - [\n`, "rename it to bad.yaml"],
])("%s", async (file, text, said) => {
  expect(await found({ [file]: text })).toEqual([expect.stringContaining(said)]);
});

test("a policy beside the one that is named", async () => {
  expect(await found({ "topology/policies/my.yaml": POLICY }, TOPOLOGY.replace("policies/*.yaml", "policies/a.yaml"))).toEqual([
    expect.stringContaining('add "policies/my.yaml" to policies'),
  ]);
});

test("files of others, and those that are meant to lie there, are left alone", async () => {
  expect(
    await found({
      "topology/compose.yaml": "services: {}\n",
      "topology/role.yaml": "apiVersion: v1\nkind: Role\nrules:\n  - { action: deny }\n",
      "topology/semgrep.yml": "rules:\n  - { id: x, pattern: y, severity: ERROR }\n",
      "topology/policies/all.example.yaml": POLICY,
      "topology/policies/x.yaml.bak": POLICY,
      "topology/policy-draft.yaml": POLICY,
      "topology/policies/tests.yaml": "tests:\n  - { tool: x, expect: deny }\n",
      "apps/a/test/manifest.yaml": MANIFEST,
      "apps/a/node_modules/x/manifest.yaml": MANIFEST,
      "topology/other.yaml": "topology: 1\npolicies: [strict/*.yaml]\n",
      "topology/strict/a.yaml": POLICY,
      "data/policies/a.yaml": POLICY,
    }),
  ).toEqual([]);
});

test("a host says it in its status and once in its log", async () => {
  await found({});
  const lines: string[] = [];
  const say = (_fields: object, message: string): void => void lines.push(message);
  const log: Logger = { debug() {}, info() {}, warn: say, error: say, child: () => log };
  const kit = createKit({ topology: ws.topology, watch: false, log });
  try {
    await kit.start();
    await ws.write(path.join("topology", "policies", "e.yml"), POLICY);
    await kit.reload();
    await kit.reload();
    expect(kit.status().config.warnings).toEqual([expect.objectContaining({ code: "unused-file" })]);
    expect(lines.filter((line) => line.startsWith("no pattern finds topology/policies/e.yml"))).toHaveLength(1);
  } finally {
    await kit.close({ force: true });
  }
});

test.each(["auto", "off"])("a running host notices one that appears (reload %s), says it, and takes it back when it has gone", async (reload) => {
  await found({});
  const text = await readFile(path.join(ws.root, "topology", "topology.yaml"), "utf8");
  await ws.write("topology/topology.yaml", `${text}\nreload: ${reload}\n`);
  const lines: string[] = [];
  const say = (_fields: object, message: string): void => void lines.push(message);
  const log: Logger = { debug() {}, info: say, warn: say, error: say, child: () => log };
  const kit = createKit({ topology: ws.topology, log });
  const warned = () => kit.status().config.warnings.map(({ code }) => code);
  try {
    await kit.start();
    const file = path.join("topology", "policies", "e.yml");
    await ws.write(file, POLICY);
    await vi.waitFor(() => expect(lines.filter((line) => line.startsWith("no pattern finds topology/policies/e.yml"))).toHaveLength(1), { timeout: 10_000 });
    expect(warned()).toEqual(["unused-file"]);
    await rm(path.join(ws.root, file));
    await vi.waitFor(() => expect(warned()).toEqual([]), { timeout: 10_000 });
    expect(lines.filter((line) => line.startsWith("the configuration changed"))).toEqual([]);
  } finally {
    await kit.close({ force: true });
  }
});
