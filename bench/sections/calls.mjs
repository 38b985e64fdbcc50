import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { setTimeout as sleep } from "node:timers/promises";
import { startKit } from "../support/kit.mjs";
import { inTurns, median, paired, sequentialP50, throughput, timed, warmUp } from "../support/measure.mjs";
import { row } from "../support/table.mjs";
import { ECHO_COMMAND, echoApps, makeWorkspace } from "../support/workspace.mjs";

export const title = "callTool of a kit with policy and audit, against the SDK's own client, both over stdio";

const IN_FLIGHT = 64;
const BLOB = 25 * 1024 * 1024;

/** Every subject has an echo server of its own. */
export async function run({ short }) {
  const count = short ? 400 : 2000;
  const rounds = short ? 3 : 7;
  const client = await sdkClient();
  const off = await kitWith("off");
  const on = await kitWith("inbox");
  const calls = new Map([
    ["sdk", (i) => client.callTool({ name: "echo", arguments: { text: `hello ${i}` } })],
    ["off", (i) => call(off, i)],
    ["on", (i) => call(on, i)],
  ]);
  const settled = async () => {
    while (on.status().inbox.queued > 0) await sleep(50);
  };
  for (const one of calls.values()) await warmUp(one);
  await settled();
  const sample = async (measure, one) => {
    const value = await measure(one);
    await settled();
    return value;
  };
  const each = (measure) => inTurns(rounds, new Map([...calls].map(([name, one]) => [name, () => sample(measure, one)])));
  const p50 = await each((one) => sequentialP50(count, one));
  const rate = await each((one) => throughput(count * 2, IN_FLIGHT, one));
  const blobs = [];
  for (let i = 0; i < (short ? 2 : 5); i += 1) blobs.push((await timed(() => succeeded(off.callTool("org.example.app0.blob", { bytes: BLOB })))).ms);
  await Promise.all([client.close(), off.close(), on.close()]);
  const micro = ({ floor, ours }) => ({ floor: floor * 1000, ours: ours * 1000 });
  return [
    row({ what: "median of one call after another, receipts off", unit: "µs", ...micro(paired(p50.get("sdk"), p50.get("off"))), target: { max: 1 } }),
    row({ what: "the same, receipts on", unit: "µs", ...micro(paired(p50.get("sdk"), p50.get("on"))) }),
    row({ what: `calls a second, ${IN_FLIGHT} in flight, receipts off`, ...paired(rate.get("sdk"), rate.get("off")), target: { min: 0.5 } }),
    row({ what: "the same, receipts on", ...paired(rate.get("sdk"), rate.get("on")) }),
    row({ what: "one result of 25 MiB", unit: "ms", ours: median(blobs), target: { max: 1000 } }),
  ];
}

async function sdkClient() {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: ECHO_COMMAND[0], args: ECHO_COMMAND.slice(1), stderr: "ignore" }));
  await client.listTools();
  return client;
}

function kitWith(receipts) {
  return startKit(makeWorkspace({ apps: echoApps(1), inbox: { receipts } }).topology);
}

function call(kit, i) {
  return succeeded(kit.callTool("org.example.app0.echo", { text: `hello ${i}` }));
}

async function succeeded(calling) {
  const { ok, error } = await calling;
  if (!ok) throw new Error(error.message);
}
