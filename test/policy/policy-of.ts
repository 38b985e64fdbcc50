import type { Place } from "../../src/base/diagnostics.ts";
import type { KeyPath, Loaded } from "../../src/config/types.ts";
import { compilePolicy, type PolicyRules } from "../../src/policy/rules.ts";
import type { Subject } from "../../src/policy/types.ts";
import type { PolicyConfig, PolicyRuleConfig } from "../../generated/policy.d.ts";

/** A policy file as the loader hands it over; a place's line is the number of its rule, so that tests can see which one is meant. */
export function loaded(value: PolicyConfig, display = "policies/base.yaml"): Loaded<PolicyConfig> {
  const place = (path: KeyPath): Place => {
    const line = typeof path[1] === "number" ? path[1] + 1 : 1;
    return { file: display, line, column: path.length, endLine: line, endColumn: path.length + 1 };
  };
  return { source: { file: `/w/${display}`, display, text: "" }, value, place };
}

/** A compiled policy without errors. */
export function policyOf(value: PolicyConfig, ...more: PolicyConfig[]): PolicyRules {
  const { rules, diagnostics } = compilePolicy([value, ...more].map((v, i) => loaded(v, `policies/${i}.yaml`)));
  const errors = diagnostics.filter((d) => d.severity === "error");
  if (errors.length > 0) throw new Error(errors.map((d) => d.message).join("\n"));
  return rules;
}

/** A policy with these rules only. */
export function rulesOf(...rules: PolicyRuleConfig[]): PolicyRules {
  return policyOf({ rules });
}

/** A tool as a subject; medium trust, no hints. */
export function tool(app: string, name: string, more: Partial<Subject> = {}): Subject {
  return { kind: "tool", app, name, trust: "medium", manifestRisk: null, readOnlyHint: false, destructiveHint: false, ...more };
}
