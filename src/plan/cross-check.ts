import { compileGlob } from "../base/glob.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { nearest } from "../base/text.ts";
import type { Config, KeyPath, Loaded } from "../config/types.ts";
import { checkPolicy } from "../policy/check-policy.ts";
import { ownToolName } from "../tools/own-name.ts";
import type { Plan } from "./types.ts";

/**
 * Findings that need more than one file: policy rules against the apps and the tools that manifests announce, mappings that name
 * an app which no file declares. Warnings only: tools are known for certain at run time.
 */
export function crossCheck(config: Config, plan: Plan): Diagnostic[] {
  const packages = [...plan.apps.keys(), ...plan.parked.keys()];
  const announced = [...plan.apps.values()].flatMap((app) =>
    app.commands.map((command) => ({ app: app.package, name: ownToolName(app.package, command.name), kind: "tool" as const })),
  );
  const out: Diagnostic[] = checkPolicy(plan.policy, announced, packages);
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
  for (const file of config.signals) {
    for (const [i, rule] of (file.value.rules ?? []).entries()) {
      if (rule.when.app !== undefined && rule.when.app !== "aurora-mcp-kit") app(file, ["rules", i, "when", "app"], rule.when.app, `mapping "${rule.id}"`);
    }
  }
  return out;
}
