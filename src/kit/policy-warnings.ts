import { diagnosticToJson, type Diagnostic, type DiagnosticJson } from "../base/diagnostics.ts";
import { own, type Json, type JsonObject } from "../base/json.ts";
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

/** What there is to say of the policy, held against what servers show at this moment. */
export function policyFindings({ catalog, plan, apps }: Snapshot): Diagnostic[] {
  const known: KnownSubject[] = catalog.tools.map((t) => ({ app: t.app, name: t.tool, kind: "tool", schema: (t.definition["inputSchema"] ?? {}) as Json }));
  for (const view of apps.values())
    for (const prompt of view.listing?.prompts ?? []) known.push({ app: view.package, name: prompt.name, kind: "prompt", schema: promptSchema(prompt) });
  const clients = plan.gateway?.clients.map((client) => client.name) ?? [];
  return checkPolicy(plan.policy, known, [...plan.apps.keys(), ...plan.parked.keys()], clients);
}

function promptSchema(prompt: JsonObject): Json {
  const names = Array.isArray(prompt["arguments"]) ? prompt["arguments"].map((argument) => own(argument, "name")) : [];
  return { properties: Object.fromEntries(names.filter((name) => typeof name === "string").map((name) => [name, {}])), additionalProperties: false };
}

/** Makes the watch; it waits for things to be quiet, for apps come up one by one. */
export function createPolicyWarnings(snapshot: () => Snapshot, log: Logger, mask: (text: string) => string): PolicyWarnings {
  let warnings: readonly DiagnosticJson[] = [];
  let old = false;
  let told: ReadonlySet<string> = new Set();
  const list = (): readonly DiagnosticJson[] => {
    if (old) warnings = policyFindings(snapshot()).map((d) => diagnosticToJson(d, mask));
    old = false;
    return warnings;
  };
  const check = debounce(
    () => {
      for (const w of list()) if (!told.has(w.message)) log.warn({ rule: w.path, file: w.file, line: w.line }, w.message);
      told = new Set(list().map((w) => w.message));
    },
    1_000,
    10_000,
  );
  const look = (): void => {
    old = true;
    check.request();
  };
  return { look, list };
}
