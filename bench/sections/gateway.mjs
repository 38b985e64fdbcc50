import { fork } from "node:child_process";
import { BareHttpClient } from "../support/http-client.mjs";
import { startHost } from "../support/host.mjs";
import { inTurns, median, paired, sequentialP50, throughput } from "../support/measure.mjs";
import { cpuMicroseconds } from "../support/process-info.mjs";
import { BareStdioClient } from "../support/stdio-client.mjs";
import { row } from "../support/table.mjs";
import { ECHO_COMMAND, echoApps, makeWorkspace } from "../support/workspace.mjs";

export const title = "calls through the HTTP gateway with token, policy and audit, against a bare multiplexer; added: over a direct pipe";

const IN_FLIGHT = 64;

/** Floor and host are processes of their own, so that their CPU can be told; one bare client calls all of them. */
export async function run({ short }) {
  const count = short ? 300 : 1500;
  const rounds = short ? 4 : 9;
  const direct = new BareStdioClient(ECHO_COMMAND);
  await direct.connect();
  const floor = await floorGateway();
  const hosts = { off: await gateway("off"), on: await gateway("inbox") };
  const subjects = new Map([
    ["direct", { request: (name, args) => direct.request("tools/call", { name, arguments: args }), tool: "echo", pid: null }],
    ["floor", { request: (name, args) => floor.client.request("tools/call", { name, arguments: args }), tool: "app0_echo", pid: floor.pid }],
    ...Object.entries(hosts).map(([name, { client, pid, tool }]) => [
      name,
      { request: (called, args) => client.request("tools/call", { name: called, arguments: args }), tool, pid },
    ]),
  ]);
  const each = (measure) =>
    inTurns(
      rounds,
      new Map(
        [...subjects].map(([name, { request, tool, pid }]) => [
          name,
          () =>
            withCpu(
              pid,
              (call) => measure(call),
              (i) => request(tool, { text: `hello ${i}` }),
            ),
        ]),
      ),
    );
  const one = await each(async (call) => ({ value: await sequentialP50(count, call), calls: count }));
  const many = await each(async (call) => ({ value: await throughput(count * 2, IN_FLIGHT, call), calls: count * 2 }));
  for (const { host, client } of Object.values(hosts)) {
    client.close();
    await host.stop();
  }
  floor.close();
  await direct.close();

  const values = (from, name, key = "value") => from.get(name).map((sample) => sample[key]);
  const added = (name) => values(one, name).map((ms, round) => (ms - values(one, "direct")[round]) * 1000);
  const cpu = (from, name) => ({ floor: median(values(from, "floor", "cpu")), ours: median(values(from, name, "cpu")) });
  const hasCpu = values(one, "floor", "cpu").every(Number.isFinite);
  return [
    row({ what: "added to the median call, receipts off", unit: "µs", ...paired(added("floor"), added("off")), target: { max: 1.5 } }),
    row({ what: "the same, receipts on", unit: "µs", ...paired(added("floor"), added("on")) }),
    row({ what: `calls a second, ${IN_FLIGHT} in flight, receipts off`, ...paired(values(many, "floor"), values(many, "off")), target: { min: 0.7 } }),
    row({ what: "the same, receipts on", ...paired(values(many, "floor"), values(many, "on")) }),
    ...(hasCpu
      ? [
          row({ what: "CPU of the host for one call at a time, receipts off", unit: "µs", ...cpu(one, "off") }),
          row({ what: `the same, ${IN_FLIGHT} in flight`, unit: "µs", ...cpu(many, "off") }),
        ]
      : []),
  ];
}

async function withCpu(pid, measure, call) {
  const before = pid === null ? null : cpuMicroseconds(pid);
  const { value, calls } = await measure(call);
  return { value, cpu: before === null ? null : (cpuMicroseconds(pid) - before) / calls };
}

async function floorGateway() {
  const child = fork(new URL("../support/floor-gateway.mjs", import.meta.url), ["1"], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const port = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("the floor did not start")));
  });
  const client = new BareHttpClient(`http://127.0.0.1:${port}/mcp`);
  await client.connect();
  return { client, pid: child.pid, close: () => (client.close(), child.disconnect()) };
}

async function gateway(receipts) {
  const host = await startHost(makeWorkspace({ apps: echoApps(1), gateway: { listen: "127.0.0.1:0" }, inbox: { receipts } }));
  const client = new BareHttpClient(host.status.gateway.url, host.token);
  const tool = (await client.connect()).map((listed) => listed.name).find((name) => name.includes("echo"));
  if (tool === undefined) throw new Error("the gateway does not show the echo tool");
  return { host, client, pid: host.pid, tool };
}
