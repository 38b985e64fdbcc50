import { own as ownProperty } from "../base/json.ts";
import type { AppPlan } from "../plan/types.ts";
import { decide } from "../policy/decide.ts";
import type { PolicyRules } from "../policy/rules.ts";
import type { Subject } from "../policy/types.ts";
import { createCatalog } from "../tools/catalog.ts";
import { shortNames } from "../tools/names.ts";
import { ownToolName } from "../tools/own-name.ts";
import { pinOf } from "../tools/pins.ts";
import type { AppListing, Catalog, Tool, ToolDefinition, ToolState } from "../tools/types.ts";

/** One app as the catalogue sees it. `down` is null while it is up; `moment`: its tools stay listed meanwhile (contracts 4). */
export interface CatalogApp {
  readonly plan: AppPlan;
  readonly listing: AppListing;
  readonly down: { readonly moment: boolean; readonly reason: string } | null;
}

/** Whether a person (or first use) accepted a tool as it is now; the reason says what is missing, or what to look at. */
export type PinCheck = (app: string, tool: string) => { readonly accepted: boolean; readonly reason: string | null };

/** What is known of a tool before policy and pins looked at it. */
interface Named {
  readonly app: CatalogApp;
  readonly definition: ToolDefinition;
  readonly tool: string;
  readonly full: string;
}

/** Builds the catalogue of all apps: names, pins, risk and exposure of every tool. Pure; equal inputs give an equal catalogue. */
export function buildCatalog(apps: readonly CatalogApp[], policy: PolicyRules, pins: PinCheck): Catalog {
  const named = apps.flatMap((app) => app.listing.tools.map((definition) => nameTool(app, definition)));
  const shorts = shortNames(named.map(({ app, tool, full }) => ({ app: app.plan.package, tool, full })));
  const taken = new Set<string>();
  const tools = named.map((item) => {
    const twice = taken.has(item.full);
    taken.add(item.full);
    return toTool(item, shorts.get(item.full) ?? item.full, twice, policy, pins);
  });
  return createCatalog(tools);
}

function nameTool(app: CatalogApp, definition: ToolDefinition): Named {
  const tool = ownToolName(app.plan.package, definition.name);
  const renamed = ownProperty(app.plan.rename, tool);
  return { app, definition, tool, full: `${app.plan.package}.${typeof renamed === "string" ? renamed : tool}` };
}

function toTool(item: Named, short: string, twice: boolean, policy: PolicyRules, pins: PinCheck): Tool {
  const { plan, listing, down } = item.app;
  const pin = pinOf(item.definition);
  const subject = toolSubject(plan, item.tool, item.definition);
  const decision = decide(policy, subject, { client: "", args: null }, false);
  const place = ((): { state: ToolState; reason: string | null } => {
    const conflict = listing.conflicts.find((c) => c.name === item.definition.name);
    if (conflict)
      return { state: "quarantined", reason: `the server lists it twice with different content (${conflict.digests.map((d) => d.slice(0, 15)).join(", ")})` };
    if (twice) return { state: "quarantined", reason: `another tool of this app is already shown as ${item.full}: change tools.rename` };
    if (plan.include !== null && !plan.include.some((g) => g.matches(item.tool))) return { state: "excluded", reason: "not in tools.include" };
    const out = plan.exclude.find((g) => g.matches(item.tool));
    if (out) return { state: "excluded", reason: `excluded by tools.exclude "${out.source}"` };
    const accepted = pins(plan.package, item.tool);
    if (!accepted.accepted) return { state: "quarantined", reason: accepted.reason };
    if (decision.action === "deny") return { state: "denied", reason: decision.reason };
    if (down) return { state: "unavailable", reason: down.reason };
    return { state: "exposed", reason: accepted.reason };
  })();
  return {
    app: plan.package,
    tool: item.tool,
    wireName: item.definition.name,
    full: item.full,
    short,
    definition: item.definition,
    pin,
    trust: plan.trust,
    risk: decision.risk,
    riskSource: decision.riskSource,
    ...place,
    listed: place.state === "exposed" || (place.state === "unavailable" && down?.moment === true),
  };
}

/** A tool as the policy sees it; hints come from the server and are untrusted. */
export function toolSubject(plan: AppPlan, tool: string, definition: ToolDefinition): Subject {
  const hint = (name: string): boolean => ownProperty(ownProperty(definition, "annotations"), name) === true;
  const risk = ownProperty(plan.manifestRisks, tool);
  return {
    kind: "tool",
    app: plan.package,
    name: tool,
    trust: plan.trust,
    manifestRisk: (risk as Subject["manifestRisk"] | undefined) ?? null,
    readOnlyHint: hint("readOnlyHint"),
    destructiveHint: hint("destructiveHint"),
  };
}
