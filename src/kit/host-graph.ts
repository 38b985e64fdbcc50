import type { Template } from "../amp/template.ts";
import type { SignalRule } from "../amp/mapping.ts";
import type { GraphRule, GraphSignal, HostGraph } from "../kit-api.ts";
import type { CompiledRule } from "../policy/rules.ts";
import { matchesAny } from "../policy/rule-index.ts";
import type { Snapshot } from "../runtime/snapshot.ts";

/** Which policy rules reach which apps, and which apps' signals each mapping takes: the wiring of a snapshot, for pictures. */
export function hostGraph({ plan, catalog, revision }: Snapshot): HostGraph {
  const { policy, signals } = plan;
  const reach = new Map<CompiledRule, Map<string, number>>(policy.rules.map((rule) => [rule, new Map()]));
  for (const tool of catalog.tools) {
    for (const rule of policy.candidates("tool", tool.app, tool.tool)) {
      const apps = reach.get(rule)!;
      apps.set(tool.app, (apps.get(tool.app) ?? 0) + 1);
    }
  }
  const apps = [...plan.apps.keys()];
  const { low, medium, high, critical } = policy.table;
  return {
    revision,
    table: { low: low.action, medium: medium.action, high: high.action, critical: critical.action },
    rules: policy.rules.map((rule) => graphRule(rule, apps, reach.get(rule)!)),
    signals: [...signals.user, ...signals.builtIn].map((rule) => graphSignal(rule, apps)),
  };
}

function graphRule(rule: CompiledRule, apps: readonly string[], reach: ReadonlyMap<string, number>): GraphRule {
  const { ref, config, limit } = rule;
  const beyondTools = config.resources !== undefined || config.prompts !== undefined;
  const touched = apps.filter((app) => reach.has(app) || (beyondTools && matchesAny(rule.apps, app)));
  return {
    id: ref.id,
    file: ref.file,
    line: ref.line,
    reason: ref.reason,
    action: rule.action,
    risk: rule.risk,
    rate: config.limits?.rate ?? null,
    concurrent: limit?.concurrent ?? null,
    clients: config.clients ?? null,
    conditions: Object.keys(config.args ?? {}),
    apps: touched.map((app) => ({ app, tools: reach.get(app) ?? 0 })),
  };
}

function graphSignal(rule: SignalRule, apps: readonly string[]): GraphSignal {
  return {
    id: rule.id,
    file: rule.place?.file ?? null,
    line: rule.place?.line ?? null,
    kind: rule.kind,
    method: rule.method?.source ?? null,
    emits: rule.emit === null ? null : templateText(rule.emit.type),
    apps: rule.app === null ? null : apps.filter((app) => rule.app!.matches(app)),
  };
}

function templateText({ parts }: Template): string {
  return parts.map((part) => (part.kind === "text" ? part.text : `{${part.path.join(".")}}`)).join("");
}
