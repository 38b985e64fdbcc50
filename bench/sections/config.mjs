import { writeFileSync } from "node:fs";
import path from "node:path";
import { inFreshProcess } from "../support/child.mjs";
import { inTurns, median, paired } from "../support/measure.mjs";
import { fact, row } from "../support/table.mjs";
import { tempFolder } from "../support/temp.mjs";
import { makeWorkspace, manifestText, policyRules, policyText } from "../support/workspace.mjs";

export const title = "load, compile and compare 1,000 apps with 10,000 tool names and 1,000 rules";

/** Every measurement is a process of its own: cold means cold. */
export async function run({ short }) {
  const rounds = short ? 2 : 5;
  const whole = workspace(1000);
  const half = workspace(500);
  const values = await inTurns(
    rounds,
    new Map([
      ["parse", () => inFreshProcess("config-process.mjs", ["parse", whole.topology, whole.list])],
      ["load", () => inFreshProcess("config-process.mjs", ["load", whole.topology, whole.list, whole.edited])],
      ["half", () => inFreshProcess("config-process.mjs", ["load", half.topology, half.list])],
    ]),
  );
  const ms = (name) => values.get(name).map((result) => result.ms);
  return [
    row({ what: "cold, against a bare parse of the same files", unit: "ms", ...paired(ms("parse"), ms("load")), target: { max: 2.5 } }),
    row({ what: "twice the apps, against half of them", unit: "ms", ...paired(ms("half"), ms("load")), target: { max: 2.4 } }),
    row({ what: "after a one-line edit", unit: "ms", ours: median(values.get("load").map((result) => result.editMs)), target: { max: 150 } }),
    fact(
      "files without an edit are neither parsed, checked nor compiled again",
      values.get("load").every((result) => result.kept),
    ),
  ];
}

function workspace(apps) {
  const files = {};
  for (let i = 0; i < apps; i += 1) files[`apps/app${i}/manifest.yaml`] = manifestText(i, 10);
  const rules = policyRules(apps);
  for (let i = 0; i < 10; i += 1) files[`topology/policies/rules${i}.yaml`] = policyText(rules.slice((i * apps) / 10, ((i + 1) * apps) / 10));
  const { root, topology } = makeWorkspace(
    { name: "bench", discover: [{ glob: "../apps/*/manifest.yaml", trusted: true }], policies: ["policies/*.yaml"] },
    files,
  );
  const list = path.join(tempFolder(), "files.json");
  writeFileSync(list, JSON.stringify([topology, ...Object.keys(files).map((name) => path.join(root, name))]));
  return { topology, list, edited: path.join(root, "apps/app7/manifest.yaml") };
}
