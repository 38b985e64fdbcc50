import { fc, test as property } from "./property.ts";
import { describe, expect, it } from "vitest";
import { createLoader, loadConfig } from "../../src/config/load.ts";
import type { FileSet } from "../../src/config/types.ts";
import { compilePlan } from "../../src/plan/compile.ts";
import { diffPlans } from "../../src/plan/diff.ts";
import type { ChangeSet, Plan } from "../../src/plan/types.ts";
import { NO_CHANGES } from "../support/changes.ts";

const KEY = "key";

function fileSet(topology: string, manifests: Readonly<Record<string, string>> = {}, policies: Readonly<Record<string, string>> = {}): FileSet {
  const source = (name: string, text: string) => ({ file: `/ws/${name}`, display: name, text });
  return {
    root: "/ws",
    topology: source("topology/topology.yaml", topology),
    manifests: Object.entries(manifests).map(([name, text]) => ({ ...source(name, text), trusted: true })),
    policies: Object.entries(policies).map(([name, text]) => source(name, text)),
    signals: [],
    unmatched: [],
    unreadable: [],
  };
}

function planOf(
  topology: string,
  manifests: Readonly<Record<string, string>> = {},
  policies: Readonly<Record<string, string>> = {},
  lastGood: Plan | null = null,
  key = KEY,
): Plan {
  const loaded = loadConfig(fileSet(topology, manifests, policies), { env: { TOKEN: "s3cret-value" }, readSecretFile: () => "x" });
  expect(loaded.config, JSON.stringify(loaded.diagnostics, null, 1)).not.toBeNull();
  return compilePlan(loaded.config!, { secretKey: key, lastGood }).plan;
}

const BASE = `
topology: 1
discover: [{ glob: ../apps/*/manifest.yaml, trusted: true }]
apps:
  org.x.http: { mcp: { url: "https://mcp.example.org/mcp", headers: { Authorization: "Bearer \${TOKEN}" } }, trust: high }
`;
const MANIFEST = `
package: org.x.app
type: mcp-server
mcp: { command: [node, server.js], env: { A: "1" }, restart: { max_attempts: 5 } }
commands: [{ name: send, risk: high }]
trust: high
`;
const M = { "apps/x/manifest.yaml": MANIFEST };
const { unchanged: _all, ...NOTHING } = NO_CHANGES;

describe("compile", () => {
  it("what did not change is the same object in the next plan", () => {
    const loader = createLoader();
    const policies = {
      "topology/policies/a.yaml": "rules: [{ id: a, apps: [org.x.app], action: ask }]",
      "topology/policies/b.yaml": "rules: [{ id: b, tools: [send], action: ask }]",
    };
    const next = (manifests: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>): Plan =>
      compilePlan(loader.load(fileSet(BASE, manifests, files), { env: { TOKEN: "s3cret-value" }, readSecretFile: () => "x" }).config!, { secretKey: KEY }).plan;
    const other = { "apps/y/manifest.yaml": MANIFEST.replace("org.x.app", "org.x.other") };
    const first = next({ ...M, ...other }, policies);
    const edited = next({ ...other, "apps/x/manifest.yaml": MANIFEST.replace("high", "medium") }, policies);
    expect(edited.policy).toBe(first.policy);
    expect(edited.apps.get("org.x.other")).toBe(first.apps.get("org.x.other"));
    expect(edited.apps.get("org.x.app")).not.toBe(first.apps.get("org.x.app"));
    const fewer = next(M, { "topology/policies/a.yaml": policies["topology/policies/a.yaml"] });
    expect(fewer.policy.rules.map((r) => r.ref.id)).toEqual(["a"]);
    expect(next(M, policies).policy.revision).toBe(first.policy.revision);
  });

  it("leaves nothing to look up and is frozen", () => {
    const plan = planOf(BASE, M);
    const app = plan.apps.get("org.x.app")!;
    expect(app).toMatchObject({
      trust: "high",
      connect: { transport: "stdio", command: "node", args: ["server.js"], cwd: "/ws", env: { A: "1" } },
      restart: { enabled: true, maxAttempts: 5, backoffMs: 2_000 },
      startTimeoutMs: 60_000,
      callTimeoutMs: 30_000,
      manifestRisks: { send: "high" },
      instance: "org.x.app",
      outputCheck: "lenient",
    });
    expect(plan.dataDir).toBe("/ws/data");
    expect(plan.inbox.dir).toBe("/ws/data/kernel/inbox/pending");
    expect(Object.isFrozen(app) && Object.isFrozen(app.connect)).toBe(true);
  });

  it("gives low trust and strict results to an app that only the topology declares, and ignores an untrusted manifest's own trust and risks", () => {
    const plan = planOf("topology: 1\napps:\n  org.low: { mcp: { command: x } }\n");
    expect(plan.apps.get("org.low")).toMatchObject({ trust: "low", outputCheck: "strict" });
    const set = fileSet("topology: 1\ndiscover: ['../apps/*/manifest.yaml']\n", M);
    const untrusted = { ...set, manifests: set.manifests.map((m) => ({ ...m, trusted: false })) };
    const loaded = loadConfig(untrusted, { env: {}, readSecretFile: () => "" });
    const app = compilePlan(loaded.config!, { secretKey: KEY }).plan.apps.get("org.x.app")!;
    expect(app.trust).toBe("medium");
    expect(app.manifestRisks).toEqual({});
  });

  it("keeps the last good version of an app whose manifest is broken now", () => {
    const good = planOf(BASE, M);
    const held = planOf(BASE, { "apps/x/manifest.yaml": MANIFEST.replace("mcp:", "mpc:") }, {}, good);
    expect(held.apps.get("org.x.app")).toBe(good.apps.get("org.x.app"));
    expect(held.parked.get("org.x.app")?.state).toBe("failed");
    const broken = planOf(BASE, { "apps/x/manifest.yaml": "package: [" }, {}, good);
    expect(broken.apps.get("org.x.app")).toBe(good.apps.get("org.x.app"));
    expect(planOf(BASE, { "apps/x/manifest.yaml": "package: [" }).apps.has("org.x.app")).toBe(false);
  });

  it("keys digests, so that they tell nothing about secrets, and shows no secret in the plan's digests", () => {
    const a = planOf(BASE, M);
    const b = planOf(BASE, M, {}, null, "another key");
    expect(a.apps.get("org.x.http")!.digests.reconnect).not.toBe(b.apps.get("org.x.http")!.digests.reconnect);
    expect(JSON.stringify(a.digests)).not.toContain("s3cret-value");
  });
});

describe("diff", () => {
  it("is empty between equal plans, and starts everything from nothing", () => {
    const plan = planOf(BASE, M);
    expect(diffPlans(plan, planOf(BASE, M))).toMatchObject({ ...NOTHING, unchanged: ["org.x.app", "org.x.http"] });
    expect(diffPlans(null, plan)).toMatchObject({ start: ["org.x.app", "org.x.http"], host: [] });
  });

  it.each([
    ["command", MANIFEST.replace("server.js", "other.js"), { restart: ["org.x.app"] }],
    ["env", MANIFEST.replace('A: "1"', 'A: "2"'), { restart: ["org.x.app"] }],
    ["env removed", MANIFEST.replace('env: { A: "1" }, ', ""), { restart: ["org.x.app"] }],
    ["restart settings", MANIFEST.replace("max_attempts: 5", "max_attempts: 6"), { live: ["org.x.app"] }],
    ["risk of a command", MANIFEST.replace("risk: high", "risk: low"), { live: ["org.x.app"] }],
    ["trust", MANIFEST.replace("trust: high", "trust: medium"), { live: ["org.x.app"] }],
    ["isolation", `${MANIFEST}isolation: session\n`, { reconnect: ["org.x.app"] }],
    ["call_timeout", `${MANIFEST}call_timeout: 3s\n`, { live: ["org.x.app"] }],
  ] as const)("a changed %s changes exactly what its class says", (_what, manifest, expected) => {
    const changes = diffPlans(planOf(BASE, M), planOf(BASE, { "apps/x/manifest.yaml": manifest }));
    expect(changes).toMatchObject({ ...NOTHING, ...expected, empty: false, unchanged: ["org.x.http"] });
  });

  it.each([
    ["a header", BASE.replace("Bearer", "Token"), { reconnect: ["org.x.http"], unchanged: ["org.x.app"] }],
    ["an app's url", BASE.replace('/mcp"', '/v2"'), { reconnect: ["org.x.http"], unchanged: ["org.x.app"] }],
    ["data_dir", `${BASE}data_dir: ../other\n`, { host: ["audit.file", "data_dir", "inbox.dir"] }],
    ["pins", `${BASE}pins: enforce\n`, { settings: true }],
    ["an export", `${BASE}exports: [{ format: openai, file: o.json }]\n`, { exports: true }],
    ["a default", `${BASE}defaults: { call_timeout: 5s }\n`, { live: ["org.x.app", "org.x.http"] }],
  ] as const)("%s", (_what, topology, expected) => {
    expect(diffPlans(planOf(BASE, M), planOf(topology, M))).toMatchObject({
      ...NOTHING,
      unchanged: ["org.x.app", "org.x.http"],
      empty: false,
      ...unchangedFor(expected),
      ...expected,
    });
  });

  it("sees policy edits as policy alone", () => {
    const rule = (risk: string): Record<string, string> => ({ "topology/policies/p.yaml": `rules: [{ id: a, tools: ["send"], risk: ${risk} }]\n` });
    const topology = `${BASE}policies: [policies/*.yaml]\n`;
    expect(diffPlans(planOf(topology, M, rule("low")), planOf(topology, M, rule("high")))).toMatchObject({ ...NOTHING, policy: true, empty: false });
    expect(
      diffPlans(
        planOf(topology, M, rule("low")),
        planOf(topology, M, { "topology/policies/p.yaml": `# comment\n${rule("low")["topology/policies/p.yaml"]!}` }),
      ),
    ).toMatchObject(NOTHING);
  });

  property(
    "is empty whatever the order of keys, comments and explicit defaults",
    fc.tuple(
      fc.shuffledSubarray([
        "name: x",
        "reload: auto",
        "watch: auto",
        "pins: first_use",
        "defaults: { call_timeout: 30s, start_timeout: 60s }",
        "limits: { concurrent_starts: 4 }",
      ]),
      fc.boolean(),
    ),
    ([lines, comment]) => {
      const plain = `topology: 1\nname: x\ndiscover: [{ glob: ../apps/*/manifest.yaml, trusted: true }]\n`;
      const dressed = `${comment ? "# hello\n" : ""}topology: 1\ndiscover:\n  - trusted: true\n    glob: ../apps/*/manifest.yaml\n${lines.filter((l) => l !== "name: x").join("\n")}\nname: x\n`;
      const changes = diffPlans(planOf(plain, M), planOf(dressed, M));
      expect(changes).toMatchObject({ ...NOTHING, unchanged: ["org.x.app"] });
    },
  );
});

function unchangedFor(expected: Partial<ChangeSet>): Partial<ChangeSet> {
  return expected.live ? { unchanged: [] } : {};
}
