import { describe, expect, it } from "vitest";
import { effectiveConfig } from "../../src/config/effective.ts";
import { createLoader, type Loader } from "../../src/config/load.ts";
import { compilePlan } from "../../src/plan/compile.ts";
import { EDIT, mutate } from "../config/mutate.ts";
import { VALID } from "../config/valid-workspace.ts";
import { contextOf, fileSet } from "../config/workspace.ts";
import { fc, test } from "./property.ts";

type Files = Readonly<Record<string, string>>;

/** Edits that keep the workspace whole and change what rules, entries and tools say of one another. */
const MEANT: readonly (readonly [file: string, from: string, to: string])[] = [
  ["apps/qq/manifest.yaml", "send_message", "post_message"],
  ["apps/qq/manifest.yaml", "post_message", "send_message"],
  ["apps/qq/manifest.yaml", "im.polaris.qq", "im.polaris.qr"],
  ["apps/qq/manifest.yaml", "risk: high", "risk: low"],
  ["topology/policies/main.yaml", "send_*", "sent_*"],
  ["topology/policies/main.yaml", "rules:", "# a line\nrules:"],
  ["topology/topology.yaml", "call_timeout: 10s", "call_timeout: 11s"],
  ["topology/topology.yaml", "data_dir: ../data", "data_dir: ../files"],
  ["topology/topology.yaml", "start_timeout: 60s", "start_timeout: 61s"],
  ["topology/topology.yaml", "instance: qq-server-01", "instance: qq-server-02\n    trust: low"],
];

const STEP = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...MEANT).map(([file, from, to]) => ({ file, change: (text: string) => text.replace(from, to) })) },
  { weight: 1, arbitrary: EDIT.map((edit) => ({ file: edit.file, change: (text: string) => mutate(text, edit) })) },
);

/** Everything that people see of a workspace. */
function seen(loader: Loader, files: Files): unknown {
  const workspace = { ...VALID, files };
  const { config, ...loaded } = loader.load(fileSet(workspace), contextOf(workspace));
  if (!config) return loaded;
  const { plan, ...compiled } = compilePlan(config, { secretKey: "key" });
  const { value, sources } = effectiveConfig(config);
  return { ...loaded, ...compiled, digest: plan.digest, digests: plan.digests, apps: [...plan.apps], parked: [...plan.parked], value, sources: [...sources] };
}

describe("what is remembered", () => {
  test(
    "a loader and a compile after some edits say what they say without a memory",
    fc.array(STEP, { minLength: 1, maxLength: 6 }),
    (steps) => {
      const loader = createLoader();
      let files: Files = VALID.files;
      seen(loader, files);
      for (const { file, change } of steps) {
        files = { ...files, [file]: change(files[file]!) };
        expect(JSON.stringify(seen(loader, files))).toBe(JSON.stringify(seen(createLoader(), files)));
      }
    },
    8,
  );

  it("a manifest that topology.yaml does not speak of is not looked at again when topology.yaml changes", () => {
    const loader = createLoader();
    const app = (topology: string): unknown => {
      const files = { "topology/topology.yaml": topology, "apps/a/manifest.yaml": "package: a\nmcp: { command: node }\n" };
      return loader.load(fileSet({ files }), contextOf({})).config!.apps.find((one) => one.package === "a");
    };
    const first = app("topology: 1\n");
    expect(app("topology: 1\nname: other\n")).toBe(first);
    expect(app("topology: 1\ndata_dir: /elsewhere\n")).toBe(first);
    expect(app("topology: 1\napps: { a: { trust: high } }\n")).toMatchObject({ settings: { trust: "high" } });
  });

  it("a policy is checked again when the tools that are announced change, and then only", () => {
    const loader = createLoader();
    const findings = (command: string, timeout = "1s"): readonly unknown[] => {
      const files = {
        "topology/topology.yaml": "topology: 1\n",
        "topology/policies/main.yaml": "rules: [{ id: a, apps: [a], tools: [send], action: ask }]\n",
        "apps/a/manifest.yaml": `package: a\nmcp: { command: node }\ncall_timeout: ${timeout}\ncommands: [{ name: ${command} }]\n`,
      };
      return compilePlan(loader.load(fileSet({ files }), contextOf({})).config!, { secretKey: "key" }).diagnostics;
    };
    const first = findings("sent");
    expect(first).toMatchObject([{ code: "rule-matches-nothing" }]);
    const again = findings("sent", "2s");
    expect(again).toHaveLength(1);
    expect(again[0]).toBe(first[0]);
    expect(findings("send")).toEqual([]);
    expect(findings("sent")).toEqual(first);
  });
});
