// One cold look at a workspace, in a process that has done nothing else: `parse` reads and parses every YAML file and no more;
// `load` reads, checks, compiles and compares with nothing, then again after each of some one-line edits of one manifest.
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { createPlanSource } from "../../dist/kit/plan-source.js";
import { diffPlans } from "../../dist/plan/diff.js";
import { median, timed } from "./measure.mjs";

/** So many that the middle one meets a host that has reloaded before: after the first few the engine has compiled what a reload runs. */
const EDITS = 21;

const [mode, topology, list, edited] = process.argv.slice(2);
const result = mode === "parse" ? await bareParse(JSON.parse(readFileSync(list, "utf8"))) : await load();
process.send(result, () => process.exit(0));

async function bareParse(files) {
  const { ms } = await timed(() => {
    for (const file of files) parse(readFileSync(file, "utf8"));
  });
  return { ms };
}

async function load() {
  const source = createPlanSource(topology, process.env, "secret");
  const look = async (before) => {
    const reading = await source.read(before);
    if (!reading.unitOk) throw new Error(reading.diagnostics.find((d) => d.severity === "error")?.message);
    return { config: reading.config, plan: reading.plan, unit: reading.unit, changes: diffPlans(before?.plan ?? null, reading.plan) };
  };
  const cold = await timed(() => look(null));
  let last = cold.value;
  const edits = [];
  let kept = true;
  for (let i = 0; edited !== undefined && i < EDITS; i += 1) {
    writeFileSync(edited, readFileSync(edited, "utf8").replace(/^call_timeout: .*/m, `call_timeout: ${i + 30}s`));
    const edit = await timed(() => look(last));
    const { changes } = edit.value;
    if (changes.live.length !== 1 || changes.unchanged.length !== last.plan.apps.size - 1) throw new Error(`the edit changed ${JSON.stringify(changes.live)}`);
    // What was neither parsed, checked nor compiled again is the same object as before.
    const same = (now, before) => now.filter((one, n) => one !== before[n]).length === 1;
    kept &&= same(edit.value.config.apps, last.config.apps) && same([...edit.value.plan.apps.values()], [...last.plan.apps.values()]);
    kept &&= edit.value.config.policies.every((file, n) => file.value === last.config.policies[n].value);
    edits.push(edit.ms);
    last = edit.value;
  }
  return { ms: cold.ms, editMs: edits.length === 0 ? null : median(edits), kept };
}
