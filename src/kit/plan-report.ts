import { canonicalJson, type JsonObject } from "../base/json.ts";
import type { ReloadResult } from "../kit-api.ts";
import { countChanges } from "../plan/diff.ts";
import type { ChangeSet, Plan } from "../plan/types.ts";
import { buildCatalog } from "../runtime/build-catalog.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import type { Tool } from "../tools/types.ts";
import { tokensOf } from "./export-tools.ts";

/** What the sections of a plan are made of. */
interface PlanView {
  readonly snapshot: Snapshot;
  readonly before: Plan;
  readonly after: Plan;
  readonly result: ReloadResult;
  readonly changes: ChangeSet;
  /** Tools by full name, as shown now and as the plan would show them. */
  readonly now: ReadonlyMap<string, Tool>;
  readonly then: ReadonlyMap<string, Tool>;
}

/** One part of the report: the keys that it adds. */
type PlanSection = (view: PlanView) => JsonObject;

const SECTIONS: readonly PlanSection[] = [
  appsSection,
  toolsSection,
  policySection,
  signalsSection,
  settingsSection,
  pinsSection,
  callsSection,
  findingsSection,
];

/**
 * What a change would do to the running graph (contracts 8), section by section. Tools are told for apps that are known by now;
 * new apps show theirs only when they run. `next` null: nothing would be taken over, the configuration has errors.
 */
export function describePlan(snapshot: Snapshot, next: Plan | null, result: ReloadResult): JsonObject {
  const now = byName(snapshot.catalog.tools);
  const view: PlanView = {
    snapshot,
    before: snapshot.plan,
    after: next ?? snapshot.plan,
    result,
    changes: result.changes,
    now,
    then: next === null ? now : byName(toolsUnder(snapshot, next)),
  };
  return Object.assign({ changes: countChanges(result.changes) }, ...SECTIONS.map((section) => section(view))) as JsonObject;
}

function appsSection({ changes, after }: PlanView): JsonObject {
  const { start, stop, restart, reconnect, relist, live, parked, unchanged } = changes;
  return {
    apps: {
      start: [...start],
      stop: [...stop],
      restart: [...restart],
      reconnect: [...reconnect],
      relist: [...relist],
      live: [...live],
      parked: [...parked],
      unchanged: [...unchanged],
    },
    handover: Object.fromEntries(restart.map((app): [string, string] => [app, after.apps.get(app)?.handover ?? "overlap"])),
  };
}

function toolsSection({ snapshot, now, then }: PlanView): JsonObject {
  return {
    tools: {
      added: [...then.keys()].filter((name) => !now.has(name)),
      removed: [...now.keys()].filter((name) => !then.has(name)),
      changed: [...then].flatMap(([name, tool]) => {
        const before = now.get(name);
        return before && differs(before, tool) ? [{ name, risk: [before.risk, tool.risk], state: [shownState(before), shownState(tool)] }] : [];
      }),
      tokens: { before: cost(now, snapshot), after: cost(then, snapshot) },
    },
  };
}

function policySection({ before, after, changes }: PlanView): JsonObject {
  const rules = (plan: Plan): [string, unknown][] => plan.policy.rules.map((rule) => [rule.ref.id, rule.config]);
  const settings = (["refusal", "table", "defaultRisk", "approvals"] as const).filter(
    (key) => canonicalJson(before.policy[key]) !== canonicalJson(after.policy[key]),
  );
  const flow = canonicalJson(before.policy.flow.config) === canonicalJson(after.policy.flow.config) ? [] : ["data_flow"];
  return { policy: changes.policy, rules: listChanges(rules(before), rules(after)), policy_settings: [...settings.map((key) => POLICY_KEYS[key]), ...flow] };
}

const POLICY_KEYS = { refusal: "loaded", table: "risk_actions", defaultRisk: "default_risk", approvals: "approvals" } as const;

function signalsSection({ before, after, changes }: PlanView): JsonObject {
  const rules = (plan: Plan): [string, unknown][] => plan.signals.user.map((rule) => [rule.id, rule.config]);
  return { signals: changes.signals, mappings: listChanges(rules(before), rules(after)) };
}

function settingsSection({ changes }: PlanView): JsonObject {
  return { exports: changes.exports, settings: changes.settings, host: [...changes.host] };
}

function pinsSection({ then }: PlanView): JsonObject {
  return { pins: [...then.values()].filter((tool) => tool.state === "quarantined").map((tool) => tool.full) };
}

/** Calls that run on what would be replaced or stopped; they are drained. */
function callsSection({ snapshot, changes }: PlanView): JsonObject {
  const touched = [...changes.restart, ...changes.reconnect, ...changes.stop];
  return { calls_in_flight: Object.fromEntries(touched.map((app) => [app, snapshot.apps.get(app)?.calls ?? 0])) };
}

function findingsSection({ result }: PlanView): JsonObject {
  return { errors: result.errors as unknown as JsonObject[], warnings: result.warnings as unknown as JsonObject[] };
}

function listChanges(before: readonly [string, unknown][], after: readonly [string, unknown][]): JsonObject {
  const [old, now] = [new Map(before), new Map(after)];
  return {
    added: [...now.keys()].filter((id) => !old.has(id)),
    removed: [...old.keys()].filter((id) => !now.has(id)),
    changed: [...now.keys()].filter((id) => old.has(id) && canonicalJson(old.get(id)) !== canonicalJson(now.get(id))),
  };
}

/** The catalogue as the next plan would show it, as far as the apps are listed now. */
function toolsUnder(snapshot: Snapshot, next: Plan): readonly Tool[] {
  const apps = [...next.apps.values()].flatMap((plan) => {
    const listing = snapshot.apps.get(plan.package)?.listing;
    return listing ? [{ plan, listing, down: null }] : [];
  });
  const pinned = new Map(snapshot.catalog.tools.map((t) => [`${t.app} ${t.tool}`, t]));
  return buildCatalog(apps, next.policy, (app, tool) => {
    const known = pinned.get(`${app} ${tool}`);
    return { accepted: known?.state !== "quarantined", reason: known?.reason ?? null };
  }).tools;
}

function byName(tools: readonly Tool[]): Map<string, Tool> {
  return new Map(tools.map((tool) => [tool.full, tool]));
}

function differs(a: Tool, b: Tool): boolean {
  return a.risk !== b.risk || shownState(a) !== shownState(b) || a.short !== b.short;
}

/** An app that is down for a moment changes nothing about its tools. */
function shownState(tool: Tool): Tool["state"] {
  return tool.state === "unavailable" ? "exposed" : tool.state;
}

/** Tokens that the shown tools take in a prompt. */
function cost(tools: ReadonlyMap<string, Tool>, snapshot: Snapshot): number {
  let sum = 0;
  for (const tool of tools.values()) if (tool.listed) sum += tokensOf(tool, snapshot);
  return sum;
}
