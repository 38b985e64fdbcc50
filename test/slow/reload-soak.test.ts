import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { ReloadResult } from "../../src/kit-api.ts";
import { scriptedApp, startKit, topologyText, until } from "../support/kit.ts";
import { openHandles, runningChildren } from "./support/processes.ts";
import { diceOf } from "./support/mutate.ts";

// The long form: AURORA_SOAK=1; another length: RELOADS=n.
const reloads = Number(process.env["RELOADS"] ?? (process.env["AURORA_SOAK"] === "1" ? 200 : 30));
const APPS = Array.from({ length: 10 }, (_, i) => `org.soak.a${i}`);
const LOW = "rules:\n  - { id: all-low, tools: ['*'], risk: low }\n";

/** How much may be added over the whole run, in bytes, and in open files. */
const MEMORY = 12 * 1024 ** 2;
const HANDLES = 5;

setFlagsFromString("--expose_gc");
const collect = runInNewContext("gc") as () => void;

interface Sample {
  readonly heap: number;
  readonly handles: number;
  readonly timers: number;
  readonly processes: number;
}

test(`${reloads} reloads with starts, stops and changes of ten apps leave processes, handles and memory flat`, { timeout: 3_600_000 }, async () => {
  const dice = diceOf(7);
  const idle = (await runningChildren("/nowhere")).length;
  const versions = new Map(APPS.map((app) => [app, 0]));
  const text = (): string =>
    topologyText(
      Object.fromEntries([...versions].map(([app, version]) => [app, scriptedApp({}, { mcp: { env: { VERSION: String(version) } }, drain_timeout: "2s" })])),
      { policies: ["policies/*.yaml"] },
    );
  const t = await startKit({ "topology/topology.yaml": text(), "topology/policies/p.yaml": LOW });
  const samples: Sample[] = [];
  const counts = { start: 0, stop: 0, restart: 0 };
  try {
    const sample = async (): Promise<void> => {
      const settled = (): boolean => t.kit.status().apps.every((app) => app.state === "ready");
      await until(settled, 60_000, "the apps did not settle");
      await until(async () => (await runningChildren(t.workspace.root)).length === idle + versions.size, 30_000, "there are more or fewer processes than apps");
      await sleep(100);
      collect();
      samples.push({
        heap: process.memoryUsage().heapUsed,
        handles: await openHandles(),
        timers: process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length,
        processes: (await runningChildren(t.workspace.root)).length - idle - versions.size,
      });
    };
    const reload = async (): Promise<ReloadResult> => {
      const result = await t.kit.reload();
      for (const key of ["start", "stop", "restart"] as const) counts[key] += result.changes[key].length;
      return result;
    };
    // One change of everything first, so that what is only loaded once does not count.
    for (const app of APPS) versions.set(app, 1);
    await t.workspace.write("topology/topology.yaml", text());
    await t.kit.reload();
    await sample();
    for (let n = 1; n <= reloads; n += 1) {
      const app = APPS[dice(APPS.length)]!;
      const other = APPS[dice(APPS.length)]!;
      if (versions.has(app) && dice(3) === 0) versions.delete(app);
      else versions.set(app, n + 1);
      if (versions.has(other)) versions.set(other, n + 1);
      await t.workspace.write("topology/topology.yaml", text());
      expect((await reload()).result).toBe("applied");
      // Now and then the next reload comes before this one's servers are up.
      if (dice(3) > 0) await until(() => t.kit.status().apps.every((row) => row.state === "ready"), 60_000);
      const callee = [...versions.keys()][0]!;
      expect((await t.kit.callTool(`${callee}.echo`, {})).error).toBeNull();
      if (n % 10 === 0) {
        // With all ten, so that samples compare.
        for (const name of APPS) if (!versions.has(name)) versions.set(name, 0);
        await t.workspace.write("topology/topology.yaml", text());
        await reload();
        await sample();
      }
    }
    const [first, last] = [samples[0]!, samples.at(-1)!];
    console.log(
      JSON.stringify({
        reloads,
        ...counts,
        heap_mib: samples.map((s) => Math.round(s.heap / 1024 ** 2)),
        handles: samples.map((s) => s.handles),
        timers: samples.map((s) => s.timers),
      }),
    );
    expect(last.heap - first.heap).toBeLessThan(MEMORY);
    expect(last.handles - first.handles).toBeLessThanOrEqual(HANDLES);
    expect(last.timers - first.timers).toBeLessThanOrEqual(HANDLES);
    expect(samples.map((s) => s.processes)).toEqual(samples.map(() => 0));
  } finally {
    await t.stop();
  }
  await until(async () => (await runningChildren(t.workspace.root)).length <= idle, 30_000, "processes were left behind after the end");
});
