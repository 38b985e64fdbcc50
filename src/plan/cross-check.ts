import { compileGlob } from "../base/glob.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { nearest } from "../base/text.ts";
import { formatPath } from "../config/nodes.ts";
import { soundItems } from "../config/sound.ts";
import type { Config, KeyPath, Loaded } from "../config/types.ts";
import { checkPolicy, type KnownSubject } from "../policy/check-policy.ts";
import type { PolicyRules } from "../policy/rules.ts";
import { ownToolName } from "../tools/own-name.ts";
import type { AppPlan, Plan } from "./types.ts";

/**
 * Findings that need more than one file: policy rules against the apps and the tools that manifests announce, mappings that name
 * an app which no file declares. Warnings only: tools are known for certain at run time. `policy` are the rules to look at, also where
 * others are broken and the plan's policy denies everything.
 */
export function crossCheck(config: Config, plan: Plan, policy: PolicyRules): Diagnostic[] {
  const packages = [...plan.apps.keys(), ...plan.parked.keys()];
  const out: Diagnostic[] = [
    ...policyFindings(
      policy,
      [...plan.apps.values()].map(announcedBy),
      config.allAppsKnown ? packages : null,
      plan.gateway?.clients.map((client) => client.name) ?? [],
    ),
  ];
  if (!config.allAppsKnown) return out;
  const app = (loaded: Loaded<unknown>, path: KeyPath, pattern: string, role: string): void => {
    if (packages.some((name) => compileGlob(pattern).matches(name))) return;
    const near = nearest(pattern, packages, 1)[0];
    out.push({
      code: "unknown-app",
      severity: "warning",
      message: `${role} names the app "${pattern}", which no file declares`,
      place: loaded.place(path),
      path: formatPath(path),
      ...(near === undefined ? {} : { label: `did you mean "${near}"?` }),
      help: [packages.length === 0 ? "no app is declared" : `declared apps: ${packages.slice(0, 8).join(", ")}${packages.length > 8 ? ", …" : ""}`],
    });
  };
  for (const file of config.signals) {
    for (const { index: i, item: rule } of soundItems(file.value.rules, file.wrong, ["rules"])) {
      if (rule.when.app !== undefined && rule.when.app !== "aurora-mcp-kit") app(file, ["rules", i, "when", "app"], rule.when.app, `mapping "${rule.id}"`);
    }
  }
  return out;
}

const announced = new WeakMap<AppPlan, readonly KnownSubject[]>();

/** The tools that an app's manifest announces. */
function announcedBy(app: AppPlan): readonly KnownSubject[] {
  let known = announced.get(app);
  if (!known) announced.set(app, (known = app.commands.map((command) => ({ app: app.package, name: ownToolName(app.package, command.name), kind: "tool" }))));
  return known;
}

/** What {@link checkPolicy} was last asked about a policy, and its answer. */
interface PolicyCheck {
  readonly tools: readonly (readonly KnownSubject[])[];
  readonly packages: readonly string[] | null;
  readonly clients: readonly string[];
  readonly findings: readonly Diagnostic[];
}

const checks = new WeakMap<PolicyRules, PolicyCheck>();

/** As {@link checkPolicy}; asked about the same policy, tools, packages and clients as the last time, it gives the same answer without a check. */
function policyFindings(
  policy: PolicyRules,
  tools: readonly (readonly KnownSubject[])[],
  packages: readonly string[] | null,
  clients: readonly string[],
): readonly Diagnostic[] {
  const last = checks.get(policy);
  const samePackages = (a: readonly string[] | null, b: readonly string[] | null): boolean => (a && b ? sameItems(a, b, Object.is) : a === b);
  if (last && samePackages(last.packages, packages) && sameItems(last.clients, clients, Object.is) && sameItems(last.tools, tools, sameTools))
    return last.findings;
  const findings = checkPolicy(policy, tools.flat(), packages, clients);
  checks.set(policy, { tools, packages, clients, findings });
  return findings;
}

function sameTools(a: readonly KnownSubject[], b: readonly KnownSubject[]): boolean {
  return a === b || sameItems(a, b, (one, other) => one.app === other.app && one.name === other.name && one.kind === other.kind);
}

function sameItems<T>(a: readonly T[], b: readonly T[], same: (one: T, other: T) => boolean): boolean {
  return a.length === b.length && a.every((item, i) => same(item, b[i]!));
}
