import { realpath } from "node:fs/promises";
import net, { type AddressInfo } from "node:net";
import path from "node:path";
import { afterEach, beforeAll, expect, it } from "vitest";
import { builtCli, runCli, runCliJson, startCli } from "../support/built-cli.ts";
import { scriptedApp, topologyText } from "../support/kit.ts";
import { makeWorkspace } from "../support/workspace.ts";

let cleanup: (() => unknown)[] = [];
beforeAll(async () => void (await builtCli()), 120_000);
afterEach(async () => {
  for (const undo of cleanup.reverse()) await undo();
  cleanup = [];
});

async function workspaceAt(port: number, gateway: object = {}) {
  const workspace = await makeWorkspace({
    "topology/topology.yaml": topologyText({ "org.example.app": scriptedApp({}) }, { gateway: { listen: `127.0.0.1:${port}`, ...gateway } }),
  });
  cleanup.push(() => workspace.remove());
  return workspace;
}

const portIn = (text: string): number => Number(/127\.0\.0\.1:([0-9]+)/.exec(text)![1]);

it.each(["token", "none"])(
  "the port of another workspace's host is told as such, and no app is started for it (auth %s)",
  { timeout: 120_000 },
  async (mode) => {
    const first = await workspaceAt(0, { auth: { mode } });
    const host = await startCli(["up"], { cwd: first.root });
    cleanup.push(async () => (host.child.kill("SIGTERM"), host.done));
    await host.until(/^gateway /m, 60_000);
    const second = await workspaceAt(portIn(host.stdout()));
    for (const command of [
      ["serve", "--stdio"],
      ["up", "--log-format", "text"],
    ]) {
      const { code, stderr } = await runCli(command, { cwd: second.root });
      expect({ command, code, stderr }).toEqual({
        command,
        code: 2,
        stderr: expect.stringMatching(/gateway\.listen: 127\.0\.0\.1:[0-9]+ is in use by another Aurora host/),
      });
      expect(stderr).not.toContain("org.example.app");
    }
    const { code, value } = await runCliJson(["doctor"], { cwd: second.root });
    expect([code, JSON.stringify(value)]).toEqual([1, expect.stringContaining("another Aurora host")]);
  },
);

it("the port of any other program is told as such", { timeout: 120_000 }, async () => {
  const server = net.createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  cleanup.push(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const workspace = await workspaceAt((server.address() as AddressInfo).port);
  const { code, stderr } = await runCli(["serve", "--stdio"], { cwd: workspace.root });
  expect([code, stderr]).toEqual([2, expect.stringContaining("is in use by another program; choose another port (0 is any free one)")]);
  expect(stderr).not.toContain("org.example.app");
});

it.runIf(process.platform === "linux")("names the topology that the other host was started for", { timeout: 120_000 }, async () => {
  const first = await workspaceAt(0);
  const host = await startCli(["up", "--topology", path.relative(first.root, first.topology)], { cwd: first.root });
  cleanup.push(async () => (host.child.kill("SIGTERM"), host.done));
  await host.until(/^gateway /m, 60_000);
  const second = await workspaceAt(portIn(host.stdout()));
  expect((await runCli(["up"], { cwd: second.root })).stderr).toContain(`(pid ${host.child.pid}, of ${await realpath(first.topology)})`);
});
