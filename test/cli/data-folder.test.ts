import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { runFilePath } from "../../src/control/run-file.ts";
import { tokenFiles } from "../../src/control/tokens.ts";
import { builtCli, runCli, runCliJson, startCli, type CliResult, type RunningCli } from "../support/built-cli.ts";
import { scriptedApp, topologyText } from "../support/kit.ts";
import { makeWorkspace } from "../support/workspace.ts";

const tool = (name: string): object => ({ name, inputSchema: { type: "object", properties: {} } });
const answers = {
  on: {
    "tools/list": [{ result: { tools: [tool("quick"), tool("asked")] } }],
    "tools/call quick": [{ result: { content: [{ type: "text", text: "done" }] } }],
    "tools/call asked": [{ result: { content: [{ type: "text", text: "done too" }] } }],
  },
};
const policy = "approvals: { wait: 1s }\nrules:\n  - { id: ask, apps: [org.example.app], tools: [asked], action: ask }\n";

let cleanup: (() => unknown)[] = [];
let host: Awaited<ReturnType<typeof hostOfItsOwn>>;
beforeAll(async () => void (await builtCli()), 120_000);
beforeEach(async () => void (host = await hostOfItsOwn()), 60_000);
afterEach(async () => {
  for (const undo of cleanup.reverse()) await undo();
  cleanup = [];
});

async function up(root: string): Promise<RunningCli> {
  const cli = await startCli(["up", "--log-format", "text"], { cwd: root });
  cleanup.push(() => (cli.child.kill("SIGTERM"), cli.done));
  await cli.until(/^gateway /m, 60_000);
  return cli;
}

async function hostOfItsOwn() {
  const workspace = await makeWorkspace({
    "topology/topology.yaml": topologyText({ "org.example.app": scriptedApp(answers) }, { policies: ["policies/*.yaml"], gateway: { listen: "127.0.0.1:0" } }),
    "topology/policies/p.yaml": policy,
  });
  cleanup.push(() => workspace.remove());
  const { root } = workspace;
  const data = path.join(root, "data");
  const cli = await up(root);
  return {
    root,
    data,
    away: path.join(root, "data.away"),
    cli,
    run: (...args: string[]): Promise<CliResult> => runCli(args, { cwd: root }),
    json: async (...args: string[]): Promise<any> => (await runCliJson(args, { cwd: root })).value,
    told: (text: string): number => cli.stderr().split(text).length - 1,
    runsAlone: async (): Promise<void> => {
      expect(JSON.parse(await readFile(runFilePath(data), "utf8"))).toMatchObject({ pid: cli.child.pid });
      const { apps } = (await runCliJson(["status"], { cwd: root })).value;
      expect(apps).toEqual([expect.objectContaining({ state: "ready", pid: expect.any(Number), restarts: 0 })]);
      expect((await runCli(["up"], { cwd: root })).stderr).toContain(`a host already runs for ${workspace.topology}: pid ${cli.child.pid}`);
    },
  };
}

it("moved away: the host is found again, with what waits for a person, and its files begin anew", { timeout: 120_000 }, async () => {
  const { root, data, away, cli, run, json, told, runsAlone } = host;
  await run("call", "quick");
  expect((await run("call", "asked")).code).toBe(1);
  const [waits] = await json("approvals", "list");
  const before = await readFile(path.join(data, "audit.jsonl"), "utf8");
  const oldToken = await readFile(tokenFiles(data).caller, "utf8");
  await rename(data, away);
  await cli.until("is made anew");
  await runsAlone();
  expect(await json("approvals", "list")).toEqual([waits]);
  expect(await readFile(tokenFiles(data).caller, "utf8")).not.toBe(oldToken);
  await run("approvals", "approve", waits.id);
  // The first record that must be safe is refused where the log went from under it; from then on they stand in the new one.
  for (const name of ["quick", "quick"]) await run("call", name);
  expect(await run("call", "quick")).toMatchObject({ code: 0, stdout: expect.stringContaining("done") });
  expect(await run("audit", "verify")).toMatchObject({ code: 0, stdout: expect.stringMatching(/the log begins with record [0-9]+; older files are not here/) });
  expect(await readFile(path.join(data, "audit.jsonl.head"), "utf8")).not.toBe(await readFile(path.join(away, "audit.jsonl.head"), "utf8"));
  expect((await readFile(path.join(away, "audit.jsonl"), "utf8")).startsWith(before)).toBe(true);
  expect(told("is made anew")).toBe(1);

  cli.child.kill("SIGTERM");
  expect((await cli.done).code).toBe(0);
  await up(root);
  const [kept] = await json("approvals", "list", "--all");
  expect(kept).toMatchObject({ id: waits.id, state: "approved" });
});

it("put back: the tokens of the folder that is there are in force", { timeout: 120_000 }, async () => {
  const { data, away, cli, run, runsAlone } = host;
  await rename(data, away);
  await cli.until("is made anew");
  await rename(data, `${data}.second`);
  await rename(away, data);
  await cli.until("was put back");
  await runsAlone();
  expect(await run("call", "quick")).toMatchObject({ code: 0 });
});

it("deleted, with a file in its place: told once, and mended as soon as the file is gone", { timeout: 120_000 }, async () => {
  const { data, cli, run, told, runsAlone } = host;
  await rm(data, { recursive: true });
  await writeFile(data, "in the way");
  await cli.until("cannot be made anew");
  const blind = await run("call", "quick");
  expect([blind.code, blind.stdout, blind.stderr]).toEqual([2, "", expect.stringContaining(`the data folder ${data} cannot be used: `)]);
  await rm(data);
  await cli.until("is made anew");
  await runsAlone();
  expect(await run("call", "quick")).toMatchObject({ code: 0 });
  expect(told("cannot be made anew")).toBe(1);
});

it("emptied and taken by another host: this one stops, and leaves the other's file alone", { timeout: 120_000 }, async () => {
  const first = host;
  const second = await hostOfItsOwn();
  const others = await readFile(runFilePath(second.data), "utf8");
  const ready = path.join(first.root, "ready");
  await mkdir(path.join(ready, "run"), { recursive: true });
  await writeFile(runFilePath(ready), others);
  await rename(runFilePath(ready), runFilePath(first.data));
  const { code, stderr } = await first.cli.done;
  expect([code, stderr]).toEqual([1, expect.stringContaining(`another host (pid ${second.cli.child.pid}, http`)]);
  expect(await readFile(runFilePath(first.data), "utf8")).toBe(others);
});
