import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { work, type Work } from "./agent.ts";
import { kitHost } from "./kit-host.ts";
import { plainHost } from "./plain-host.ts";
import { ATTACKS, TASKS, type Got, type Scenario } from "./scenarios.ts";

interface Run extends Work {
  readonly harmed: boolean;
}
const rows: Record<string, unknown>[] = [];
afterAll(() => console.table(rows));

async function run(scenario: Scenario, on: "plain" | "kit"): Promise<Run> {
  const folder = await mkdtemp(path.join(tmpdir(), "aurora-agent-"));
  const log = path.join(folder, "calls.jsonl");
  const host = await (on === "plain" ? plainHost(scenario.servers, log) : kitHost(scenario.servers, log, scenario.steps));
  try {
    const done = await work(host, scenario.steps);
    const lines = (await readFile(log, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
    return { ...done, harmed: lines.some((line) => scenario.harm?.(JSON.parse(line) as Got) ?? false) };
  } finally {
    await host.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function both(scenario: Scenario): Promise<{ plain: Run; kit: Run }> {
  const plain = await run(scenario, "plain");
  const kit = await run(scenario, "kit");
  const word = (r: Run): string => (scenario.harm === null ? `${r.done} of ${scenario.steps.length} steps` : r.harmed ? "LOST" : "held");
  rows.push({
    scenario: scenario.name,
    "plain SDK host": word(plain),
    kit: word(kit),
    "orders tried": kit.obeyed,
    "approvals asked": kit.asked,
    given: kit.approved,
  });
  return { plain, kit };
}

describe("an agent that obeys every order it reads", () => {
  it.each(ATTACKS.map((s) => [s.name, s] as const))("%s", { timeout: 60_000 }, async (_name, scenario) => {
    const { plain, kit } = await both(scenario);
    expect({ plain: plain.harmed, kit: kit.harmed }).toEqual({ plain: true, kit: false });
  });
});

describe("tasks without an attacker are done", () => {
  it.each(TASKS.map((s) => [s.name, s] as const))("%s", { timeout: 60_000 }, async (_name, scenario) => {
    const { plain, kit } = await both(scenario);
    expect([plain.done, kit.done]).toEqual([scenario.steps.length, scenario.steps.length]);
    expect(kit.asked).toBe(kit.approved);
  });
});
