import { compileGlob } from "../base/glob.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { nearest } from "../base/text.ts";
import type { Config, KeyPath, Loaded } from "../config/types.ts";
import type { Plan } from "./types.ts";

/**
 * Findings that need more than one file: a policy or mapping that names an app which no file declares, a rule over tools
 * that no manifest of a matching app lists. Warnings only: tools are known for certain at run time.
 */
export function crossCheck(config: Config, plan: Plan): Diagnostic[] {
  const packages = [...plan.apps.keys(), ...plan.parked.keys()];
  const out: Diagnostic[] = [];
  const app = (loaded: Loaded<unknown>, path: KeyPath, pattern: string, role: string): void => {
    if (packages.some((name) => compileGlob(pattern).matches(name))) return;
    const near = nearest(pattern, packages, 1)[0];
    out.push({
      code: "unknown-app",
      severity: "warning",
      message: `${role} names the app "${pattern}", which no file declares`,
      place: loaded.place(path),
      path: path.join("."),
      ...(near === undefined ? {} : { label: `did you mean "${near}"?` }),
      help: [packages.length === 0 ? "no app is declared" : `declared apps: ${packages.slice(0, 8).join(", ")}${packages.length > 8 ? ", …" : ""}`],
    });
  };
  for (const file of config.policies) {
    for (const [i, rule] of (file.value.rules ?? []).entries()) {
      for (const [j, pattern] of (rule.apps ?? []).entries()) app(file, ["rules", i, "apps", j], pattern, `rule "${rule.id}"`);
    }
  }
  for (const file of config.signals) {
    for (const [i, rule] of (file.value.rules ?? []).entries()) {
      if (rule.when.app !== undefined && rule.when.app !== "aurora-mcp-kit") app(file, ["rules", i, "when", "app"], rule.when.app, `mapping "${rule.id}"`);
    }
  }
  return out;
}
