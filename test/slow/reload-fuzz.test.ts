import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { CallResult, ReloadResult } from "../../src/kit-api.ts";
import { scriptedApp, startKit, until, type TestKit } from "../support/kit.ts";
import { diceOf, MUTATIONS, mutate, toYaml, type MutationKind } from "./support/mutate.ts";
import { runningChildren } from "./support/processes.ts";

// The long form: AURORA_SOAK=1. Another run: SEED=n; longer: MUTATIONS=n.
const soak = process.env["AURORA_SOAK"] === "1";
const rounds = Number(process.env["MUTATIONS"] ?? (soak ? 1_000 : 150));
const seed = Number(process.env["SEED"] ?? 20_260);

const CALL_MS = 150;
const server = (): object =>
  (scriptedApp({ on: { "tools/call echo": [{ delay: CALL_MS }, { result: { content: [{ type: "text", text: "done" }] } }] } }) as { mcp: object }).mcp;
const manifest = (name: string): object => ({
  package: `org.fuzz.${name}`,
  name,
  version: "1.2.3",
  type: "mcp-server",
  mcp: { ...server(), env: { A: "1", B: "2" }, restart: { enabled: true, max_attempts: 5, backoff_seconds: 1 }, health_timeout: 10 },
  commands: [{ name: "echo", risk: "low" }],
  trust: "high",
  call_timeout: "20s",
});

/** A workspace of five apps, four of them by manifest. */
const FILES: Readonly<Record<string, object>> = {
  "topology/topology.yaml": {
    topology: 1,
    name: "fuzz",
    data_dir: "../data",
    discover: [{ glob: "../apps/*/manifest.yaml", trusted: true }],
    apps: { "org.fuzz.e": { trust: "high", mcp: server(), tools: { include: ["*"] } }, "org.fuzz.a": { env: { C: "3" }, max_concurrent_calls: 8 } },
    defaults: { start_timeout: "20s", call_timeout: "20s", drain_timeout: "5s" },
    policies: ["policies/*.yaml"],
    signals: ["signals/*.yaml"],
    inbox: { fsync: false, receipts: "inbox" },
    exports: [{ format: "openai", file: "../generated/openai.json" }],
    limits: { concurrent_starts: 4, result_bytes: "1MiB" },
  },
  "topology/policies/main.yaml": {
    rules: [
      { id: "low", apps: ["org.fuzz.*"], tools: ["echo"], risk: "low" },
      { id: "no-exec", tools: ["exec"], action: "deny", reason: "never" },
    ],
    data_flow: { action: "ask", expires: "1h" },
  },
  "topology/signals/main.yaml": { rules: [{ id: "quiet", when: { method: "notifications/x" }, drop: true }] },
  ...Object.fromEntries(["a", "b", "c", "d"].map((name) => [`apps/${name}/manifest.yaml`, manifest(name)])),
};
const APPS = ["a", "b", "c", "d", "e"].map((name) => `org.fuzz.${name}`);

test(`${rounds} damaged files while calls run`, { timeout: 3_600_000 }, async () => {
  const dice = diceOf(seed);
  const idle = (await runningChildren("/nowhere")).length;
  const t = await startKit(Object.fromEntries(Object.entries(FILES).map(([name, value]) => [name, toYaml(value)])));
  try {
    expect(t.kit.status().apps.map((app) => app.state)).toEqual(APPS.map(() => "ready"));
    const traffic = startTraffic(t);
    const results: Record<ReloadResult["result"], number> = { applied: 0, unchanged: 0, rejected: 0, partial: 0, pending: 0 };
    const names = Object.keys(FILES);
    const damaged = new Set<string>();
    for (let round = 1; round <= rounds; round += 1) {
      // Mostly the files before are mended first; sometimes damage adds up.
      if (dice(10) < 8) {
        for (const name of damaged) await t.workspace.write(name, toYaml(FILES[name]));
        damaged.clear();
      }
      const name = names[dice(names.length)]!;
      const kind: MutationKind = MUTATIONS[dice(MUTATIONS.length)]!;
      const bytes = mutate(FILES[name]!, kind, dice);
      damaged.add(name);
      await writeFile(path.join(t.workspace.root, name), bytes);
      const before = t.kit.status();
      const outcome = await t.kit.reload();
      results[outcome.result] += 1;
      traffic.reloaded(outcome, damaged);
      checkRound(t, before, outcome, `round ${round}, ${kind} of ${name}, seed ${seed}:\n${bytes.toString()}`);
      await sleep(dice(30));
      if (round % 50 === 0) await until(() => t.kit.status().apps.every((app) => app.state !== "starting"), 60_000);
    }
    for (const [name, value] of Object.entries(FILES)) await t.workspace.write(name, toYaml(value));
    expect((await t.kit.reload()).errors).toEqual([]);
    await until(
      () => APPS.every((app) => t.kit.status().apps.some((row) => row.package === app && row.state === "ready" && row.reason === null)),
      120_000,
      "the apps did not come back",
    );
    const { calls, dropped, refused } = await traffic.stop();
    for (const app of APPS) expect((await t.kit.callTool(`${app}.echo`, {})).error).toBeNull();
    await until(async () => (await runningChildren(t.workspace.root)).length <= idle + APPS.length, 60_000, "processes were left behind");
    console.log(JSON.stringify({ rounds, seed, results, calls, refused, dropped }));
    expect(dropped).toEqual([]);
    expect(results.rejected).toBeGreaterThan(rounds / 10);
    expect(results.applied + results.partial).toBeGreaterThan(rounds / 10);
  } finally {
    await t.stop();
  }
  await until(async () => (await runningChildren(t.workspace.root)).length <= idle, 30_000, "processes were left behind after the end");
});

/** What must hold right after any reload, whatever was written. */
function checkRound(t: TestKit, before: ReturnType<TestKit["kit"]["status"]>, outcome: ReloadResult, what: string): void {
  const after = t.kit.status();
  if (outcome.result === "rejected") {
    expect(after.revision, what).toBe(before.revision);
    expect(outcome.errors.length, what).toBeGreaterThan(0);
    expect(outcome.text, what).toMatch(/error\[/);
  }
  // Whoever was not named keeps its process.
  for (const row of before.apps) {
    if (row.state !== "ready" || !outcome.changes.unchanged.includes(row.package)) continue;
    const now = after.apps.find((app) => app.package === row.package);
    expect(now, what).toBeDefined();
    if (now!.restarts === row.restarts) expect(now!.pid, what).toBe(row.pid);
  }
}

interface Traffic {
  /** After each reload, with the files that are damaged. */
  reloaded(outcome: ReloadResult, damaged: ReadonlySet<string>): void;
  stop(): Promise<{ calls: number; refused: number; dropped: string[] }>;
}

/**
 * Calls every app all the time. A call is dropped when it fails after it was let through, although its app was as it should be and no
 * reload touched it meanwhile. Damage may be valid and shorten a time limit: an app that took it over does not count until it is mended.
 */
function startTraffic(t: TestKit): Traffic {
  let over = false;
  let calls = 0;
  let refused = 0;
  const dropped: string[] = [];
  /** Number of the last reload that touched an app. */
  const touched = new Map<string, number>();
  let reloads = 0;
  const standing = new Map<string, "intact" | "altered" | "mended">(APPS.map((app) => [app, "intact"]));
  const REFUSED = new Set([
    "TOOL_NOT_FOUND",
    "TOOL_QUARANTINED",
    "POLICY_DENIED",
    "APPROVAL_REQUIRED",
    "APPROVAL_EXPIRED",
    "DATA_FLOW_DENIED",
    "RATE_LIMITED",
    "INVALID_ARGUMENTS",
  ]);
  const run = async (app: string): Promise<void> => {
    while (!over) {
      const since = reloads;
      const intact = standing.get(app) === "intact" && t.kit.status().apps.some((row) => row.package === app && row.state === "ready");
      const outcome: CallResult = await t.kit.callTool(`${app}.echo`, {}, { session: `s-${calls}` });
      calls += 1;
      if (outcome.ok) continue;
      const code = outcome.error!.error_code;
      if (REFUSED.has(code)) refused += 1;
      else if (intact && (touched.get(app) ?? 0) <= since) dropped.push(`${app}: ${code} ${outcome.error!.message}`);
      await sleep(20);
    }
  };
  const runs = APPS.flatMap((app) => [run(app), run(app)]);
  return {
    reloaded({ changes }, damaged) {
      reloads += 1;
      const named = new Set([...changes.start, ...changes.stop, ...changes.restart, ...changes.reconnect, ...changes.relist, ...changes.live]);
      for (const app of APPS) {
        const broken = ["topology/topology.yaml", "topology/policies/main.yaml", `apps/${app.at(-1)}/manifest.yaml`].some((file) => damaged.has(file));
        if (named.has(app) || changes.policy || changes.settings) {
          touched.set(app, reloads);
          standing.set(app, broken ? "altered" : "mended");
        } else if (standing.get(app) === "mended") standing.set(app, "intact");
      }
    },
    async stop() {
      over = true;
      await Promise.all(runs);
      return { calls, refused, dropped };
    },
  };
}
