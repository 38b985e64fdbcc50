import { setTimeout as sleep } from "node:timers/promises";
import { inFreshProcess } from "../support/child.mjs";
import { startHost } from "../support/host.mjs";
import { inTurns, paired } from "../support/measure.mjs";
import { residentMebibytes } from "../support/process-info.mjs";
import { row } from "../support/table.mjs";
import { echoApps, makeWorkspace } from "../support/workspace.mjs";

export const title = "30 apps";

const APPS = 30;

/** Start time against the same servers started bare, all at once; memory of a whole host that does nothing. */
export async function run({ short }) {
  const started = (mode) => async () => (await inFreshProcess("start-process.mjs", [mode, String(APPS), makeWorkspace({ apps: echoApps(APPS) }).topology])).ms;
  const times = await inTurns(
    short ? 2 : 7,
    new Map([
      ["bare", started("bare")],
      ["kit", started("kit")],
    ]),
  );
  const host = await startHost(makeWorkspace({ apps: echoApps(APPS), gateway: { listen: "127.0.0.1:0" } }));
  await sleep(short ? 3000 : 15_000);
  const memory = residentMebibytes(host.pid);
  await host.stop();
  return [
    row({ what: "until all are ready, against 30 bare starts at once", unit: "ms", ...paired(times.get("bare"), times.get("kit")), target: { max: 1.1 } }),
    ...(memory === null ? [] : [row({ what: "resident memory of an idle `up`", unit: "MiB", ours: memory, target: { max: 90 } })]),
  ];
}
