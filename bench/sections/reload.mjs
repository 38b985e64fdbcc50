import { renameSync, writeFileSync } from "node:fs";
import { startKit } from "../support/kit.mjs";
import { inTurns, median, paired, timed } from "../support/measure.mjs";
import { BareStdioClient } from "../support/stdio-client.mjs";
import { row } from "../support/table.mjs";
import { ECHO_COMMAND, echoApps, makeWorkspace } from "../support/workspace.mjs";

export const title = "from a saved file to the new tool list, ten apps running";

/** A bare start of the same server is the floor of what adds or changes one; editors save by renaming, so this does too. */
export async function run({ short }) {
  const apps = echoApps(10);
  const workspace = makeWorkspace({ apps });
  const kit = await startKit(workspace.topology, { watch: true });
  const save = (next) => {
    writeFileSync(`${workspace.topology}.tmp`, JSON.stringify({ topology: 1, data_dir: "../data", apps: next }, null, 2));
    renameSync(`${workspace.topology}.tmp`, workspace.topology);
  };
  const shows = (name) => kit.catalog().tools.some((tool) => tool.full === name && tool.state === "exposed");
  const until = (holds) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("the edit did not arrive within 30 s")), 30_000);
      const stop = kit.on("catalog", () => {
        if (!holds()) return;
        clearTimeout(timer);
        stop();
        resolve();
      });
    });
  const edit = async (next, holds) => {
    const arrived = until(holds);
    return (await timed(() => (save(next), arrived))).ms;
  };
  let round = 0;
  const extra = () => ({ "org.example.extra": { trust: "high", mcp: { command: ECHO_COMMAND } } });
  const changed = () => ({ ...apps, ...extra(), "org.example.app3": { trust: "high", mcp: { command: ECHO_COMMAND, env: { ECHO_EXTRA: `more${round}` } } } });
  const times = await inTurns(
    short ? 2 : 7,
    new Map([
      ["bare", bareStart],
      [
        "all",
        async () => {
          round += 1;
          const added = await edit({ ...apps, ...extra() }, () => shows("org.example.extra.echo"));
          const change = await edit(changed(), () => shows(`org.example.app3.more${round}`));
          const removed = await edit(apps, () => !shows("org.example.extra.echo"));
          return { added, change, removed };
        },
      ],
    ]),
  );
  await kit.close();
  const of = (key) => times.get("all").map((sample) => sample[key]);
  return [
    row({ what: "an app is added, against a bare start of its server", unit: "ms", ...paired(times.get("bare"), of("added")) }),
    row({ what: "an app is changed, against the same", unit: "ms", ...paired(times.get("bare"), of("change")) }),
    row({ what: "an app is removed", unit: "ms", ours: median(of("removed")) }),
  ];
}

async function bareStart() {
  const { ms, value } = await timed(async () => {
    const client = new BareStdioClient(ECHO_COMMAND);
    await client.connect();
    return client;
  });
  await value.close();
  return ms;
}
