import { fork } from "node:child_process";
import { BareHttpClient } from "../support/http-client.mjs";
import { startHost } from "../support/host.mjs";
import { inTurns, median, paired, sequentialP50, throughput, warmUp } from "../support/measure.mjs";
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
  const subjects = new Map([
    ["direct", { client: direct, tool: "echo", pid: null, settle: () => {}, stop: () => direct.close() }],
    ["floor", await floorGateway()],
    ["off", await gateway("off")],
    ["on", await gateway("inbox")],
  ]);
  const callOf =
    ({ client, tool }) =>
    (i) =>
      client.request("tools/call", { name: tool, arguments: { text: `hello ${i}` } });
  for (const subject of subjects.values()) {
    await warmUp(callOf(subject));
    await subject.settle();
  }
  const each = (measure, calls) =>
    inTurns(rounds, new Map([...subjects].map(([name, subject]) => [name, () => sample(subject, () => measure(calls, callOf(subject)), calls)])));
  const one = await each((calls, call) => sequentialP50(calls, call), count);
  const many = await each((calls, call) => throughput(calls, IN_FLIGHT, call), count * 2);
  for (const subject of subjects.values()) await subject.stop();

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

/** One measurement, with the CPU time per call of the process in between. What it leaves to be done is done before the next one. */
async function sample({ pid, settle }, measure, calls) {
  const before = pid === null ? null : cpuMicroseconds(pid);
  const value = await measure();
  const cpu = before === null ? null : (cpuMicroseconds(pid) - before) / calls;
  await settle();
  return { value, cpu };
}

async function floorGateway() {
  const child = fork(new URL("../support/floor-gateway.mjs", import.meta.url), ["1"], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const port = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("the floor did not start")));
  });
  const client = new BareHttpClient(`http://127.0.0.1:${port}/mcp`);
  await client.connect();
  const stop = () => {
    client.close();
    child.disconnect();
  };
  return { client, tool: "app0_echo", pid: child.pid, settle: () => {}, stop };
}

async function gateway(receipts) {
  const host = await startHost(makeWorkspace({ apps: echoApps(1), gateway: { listen: "127.0.0.1:0" }, inbox: { receipts } }));
  const client = new BareHttpClient(host.status.gateway.url, host.token);
  const tool = (await client.connect()).map((listed) => listed.name).find((name) => name.includes("echo"));
  if (tool === undefined) throw new Error("the gateway does not show the echo tool");
  const stop = async () => {
    client.close();
    await host.stop();
  };
  return { client, tool, pid: host.pid, settle: () => host.settled(), stop };
}
