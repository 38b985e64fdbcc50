import { expect, it } from "vitest";
import { findTool } from "../../src/calls/targets.ts";
import type { Plan } from "../../src/plan/types.ts";
import { DEFAULT_POLICY } from "../../src/policy/rules.ts";
import { buildCatalog } from "../../src/runtime/build-catalog.ts";
import type { Snapshot } from "../../src/runtime/snapshot.ts";
import type { AppListing } from "../../src/tools/types.ts";
import { appPlan, scripted } from "../support/app-plan.ts";

const listing = (annotations: Record<string, boolean> = {}): AppListing => ({
  app: "org.example.app",
  serverInfo: { name: "s", version: "1" },
  protocolVersion: "2025-11-25",
  capabilities: {},
  instructions: null,
  tools: [{ name: "wipe", inputSchema: { type: "object" }, annotations }],
  prompts: [],
  resources: [],
  templates: [],
  dropped: [],
  conflicts: [],
  warnings: [],
});

const snapshotOf = (plan: ReturnType<typeof appPlan>, shown = listing()): Snapshot => ({
  revision: 1,
  plan: { apps: new Map([[plan.package, plan]]), policy: DEFAULT_POLICY } as Partial<Plan> as Plan,
  catalog: buildCatalog([{ plan, listing: shown, down: null }], DEFAULT_POLICY, () => ({ accepted: true, reason: null })),
  apps: new Map(),
});

const find = (snapshot: Snapshot) => findTool(snapshot, "org.example.app.wipe", () => true);

it("a tool's target follows its app's plan, also where the catalogue stays as it is", () => {
  const plan = appPlan(scripted({}));
  const before = snapshotOf(plan);
  expect(find(before)).toMatchObject({ plan, subject: { trust: "medium", manifestRisk: null } });
  for (const next of [
    appPlan(scripted({}), { trust: "low" }),
    appPlan(scripted({}), { manifestRisks: { wipe: "critical" } }),
    appPlan(scripted({}), { callTimeoutMs: 7 }),
    plan,
  ]) {
    const after = { ...before, plan: { ...before.plan, apps: new Map([[next.package, next]]) } };
    const target = find(after);
    expect(target.plan).toBe(next);
    expect(target.subject).toMatchObject({ trust: next.trust, manifestRisk: next.manifestRisks["wipe"] ?? null });
    expect(find(after)).toBe(target);
  }
  expect(() => find({ ...before, plan: { ...before.plan, apps: new Map() } })).toThrow("no longer configured");
});

it("a tool whose definition changes has another target, with its pin and its hints", () => {
  const plan = appPlan(scripted({}));
  const before = find(snapshotOf(plan));
  const after = find(snapshotOf(plan, listing({ destructiveHint: true, readOnlyHint: true })));
  expect([before.subject, after.subject]).toMatchObject([
    { destructiveHint: false, readOnlyHint: false },
    { destructiveHint: true, readOnlyHint: true },
  ]);
  expect(after.pin).not.toBe(before.pin);
});
