import { diagnosticToJson, type DiagnosticJson } from "../base/diagnostics.ts";
import { checkPolicy, type KnownSubject } from "../policy/check-policy.ts";
import { debounce } from "../runtime/debounce.ts";
import type { Logger } from "../runtime/ports.ts";
import type { Snapshot } from "../runtime/snapshot.ts";

/** Holds the policy against the tools that servers really show: a rule that matches none of them is told once in the log, and stands in status. */
export interface PolicyWarnings {
  /** The catalogue or the policy changed. */
  look(): void;
  list(): readonly DiagnosticJson[];
}

/** Makes the watch; it waits for things to be quiet, for apps come up one by one. */
export function createPolicyWarnings(snapshot: () => Snapshot, log: Logger, mask: (text: string) => string): PolicyWarnings {
  let warnings: readonly DiagnosticJson[] = [];
  const check = debounce(
    () => {
      const { catalog, plan, apps } = snapshot();
      const known: KnownSubject[] = catalog.tools.map((t) => ({ app: t.app, name: t.tool, kind: "tool" }));
      for (const view of apps.values()) for (const prompt of view.listing?.prompts ?? []) known.push({ app: view.package, name: prompt.name, kind: "prompt" });
      const told = new Set(warnings.map((w) => w.message));
      const clients = plan.gateway?.clients.map((client) => client.name) ?? [];
      warnings = checkPolicy(plan.policy, known, [...plan.apps.keys(), ...plan.parked.keys()], clients).map((d) => diagnosticToJson(d, mask));
      for (const w of warnings) if (!told.has(w.message)) log.warn({ rule: w.path, file: w.file, line: w.line }, w.message);
    },
    1_000,
    10_000,
  );
  return { look: () => check.request(), list: () => warnings };
}
