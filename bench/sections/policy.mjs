import { decide } from "../../dist/policy/decide.js";
import { compilePolicy } from "../../dist/policy/rules.js";
import { inTurns, median, timed } from "../support/measure.mjs";
import { policyRules, toolName } from "../support/workspace.mjs";
import { row } from "../support/table.mjs";

export const title = "one decision, with 1,000 rules and 10,000 known tools";

const APPS = 1000;
const TOOLS = 10;

/** Decides about every tool again and again, with arguments, half of the sessions marked. */
export async function run({ short }) {
  const subjects = [];
  for (let app = 0; app < APPS; app += 1) for (let tool = 0; tool < TOOLS; tool += 1) subjects.push(subject(`org.example.app${app}`, toolName(tool), app));
  const calls = [
    { client: "bot", args: { target: "group:123", text: "hello world" } },
    { client: "library", args: { path: "/home/me/notes.txt", count: 3 } },
  ];
  const all = (policy) => {
    let allowed = 0;
    for (const [i, one] of subjects.entries()) if (decide(policy, one, calls[i & 1], (i & 2) === 0).action === "allow") allowed += 1;
    return allowed;
  };
  const known = compiled();
  const perCall = async (policy) => ((await timed(() => all(policy))).ms / subjects.length) * 1000;
  const times = await inTurns(
    short ? 5 : 20,
    new Map([
      ["first", () => perCall(compiled())],
      ["known", () => perCall(known)],
    ]),
  );
  return [
    row({ what: "a tool that was seen before", unit: "µs", ours: median(times.get("known")), target: { max: 5 } }),
    row({ what: "the first look at each tool", unit: "µs", ours: median(times.get("first")) }),
  ];
}

function compiled() {
  const { rules, diagnostics } = compilePolicy([
    { source: { file: "/policy.yaml", display: "policy.yaml", text: "" }, value: { rules: policyRules(1000) }, place: () => null },
  ]);
  const errors = diagnostics.filter((d) => d.severity === "error");
  if (errors.length > 0) throw new Error(errors[0].message);
  return rules;
}

function subject(app, name, i) {
  return {
    kind: "tool",
    app,
    name,
    trust: ["high", "medium", "low"][i % 3],
    manifestRisk: null,
    readOnlyHint: name.startsWith("get"),
    destructiveHint: name.startsWith("delete"),
  };
}
