import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createContext } from "../../src/cli/context.ts";
import { runCli as runInProcess } from "../../src/cli/program.ts";
import { builtCli, runCli, startCli, type CliResult, type RunningCli } from "../support/built-cli.ts";
import { scriptedApp, topologyText } from "../support/kit.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

let workspace: TestWorkspace;
let marker: string;
let cleanup: (() => Promise<void> | void)[] = [];

/** A workspace with these apps; a marker in their command lines finds their processes. */
async function workspaceOf(apps: Record<string, object>, more: Record<string, unknown> = {}): Promise<void> {
  marker = randomUUID();
  const entries = Object.fromEntries(Object.entries(apps).map(([name, script]) => [name, scriptedApp({ ...script, marker })]));
  workspace = await makeWorkspace({ "topology/topology.yaml": topologyText(entries, { gateway: { listen: "127.0.0.1:0" }, ...more }) });
  cleanup.push(() => workspace.remove());
}

async function up(env: NodeJS.ProcessEnv = {}): Promise<RunningCli> {
  const host = await startCli(["up", "--topology", workspace.topology, "--log-format", "text"], { cwd: workspace.root, env });
  cleanup.push(() => void host.child.kill("SIGKILL"));
  host.child.stdin.end();
  await host.until(/^gateway /m, 30_000);
  return host;
}

it("up ends when it was told to stop while it read the files", async () => {
  await workspaceOf({ "org.example.a": {} });
  const context = createContext();
  context.release();
  const told = { ...context, cwd: workspace.root, signal: AbortSignal.abort(), received: "SIGTERM" as const };
  expect(await runInProcess(["up", "--topology", workspace.topology], told, "0")).toBe(143);
  expect(await processes()).toEqual([]);
});

async function processes(): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,args="], { maxBuffer: 16 * 1024 * 1024 });
  return stdout
    .split("\n")
    .filter((line) => line.includes(marker) && line.includes("scripted.mjs"))
    .map((line) => Number.parseInt(line, 10));
}

async function untilProcesses(count: number): Promise<void> {
  for (const end = Date.now() + 30_000; (await processes()).length !== count; await sleep(100))
    if (Date.now() > end) throw new Error(`waited for ${count} processes, found ${(await processes()).length}`);
}

beforeAll(async () => void (await builtCli()), 120_000);
afterEach(async () => {
  // Whatever a failed test left behind carries its marker.
  for (const pid of await processes()) process.kill(pid, "SIGKILL");
  for (const undo of cleanup.reverse()) await undo();
  cleanup = [];
});

const STUBBORN = { ignoreTerm: true, ignoreEof: true };
const six = Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`org.example.stubborn${n}`, STUBBORN]));

describe("stopping", { timeout: 240_000 }, () => {
  it("stops six servers that ignore EOF and TERM side by side on one SIGINT, and says who is waited for", async () => {
    await workspaceOf(six);
    const host = await up();
    await untilProcesses(6);
    const startedAt = Date.now();
    host.child.kill("SIGINT");
    expect(await host.done).toMatchObject({ code: 0 });
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(await processes()).toEqual([]);
    expect(host.stderr()).toMatch(/still stopping: .*org\.example\.stubborn1/);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("kills them at once on a second %s", async (signal, code) => {
    await workspaceOf(six);
    const host = await up();
    await untilProcesses(6);
    host.child.kill(signal);
    await sleep(300);
    const startedAt = Date.now();
    host.child.kill(signal);
    expect(await host.done).toMatchObject({ code });
    expect(Date.now() - startedAt).toBeLessThan(1000);
    await untilProcesses(0);
  });

  it("begins with closing stdin: a server that ends only at EOF ends by itself", async () => {
    await workspaceOf({ "org.example.eof": { ignoreTerm: true } });
    const host = await up();
    await untilProcesses(1);
    const startedAt = Date.now();
    host.child.kill("SIGTERM");
    expect(await host.done).toMatchObject({ code: 0 });
    expect(Date.now() - startedAt).toBeLessThan(2000);
    expect(await processes()).toEqual([]);
  });

  it("does not wait for an idle event stream", async () => {
    await workspaceOf({ "org.example.good": {} });
    const host = await up();
    await untilProcesses(1);
    const run = JSON.parse(await readFile(path.join(workspace.root, "data/run/host.json"), "utf8")) as { url: string };
    const token = (await readFile(path.join(workspace.root, "data/run/operator.token"), "utf8")).trim();
    const stream = http.get(`${run.url}/api/events`, { headers: { Authorization: `Bearer ${token}` } });
    const ended = new Promise<void>((resolve) => stream.on("response", (res) => res.resume().on("close", resolve)).on("error", () => resolve()));
    await new Promise((resolve) => stream.once("response", resolve));
    const startedAt = Date.now();
    host.child.kill("SIGTERM");
    expect(await host.done).toMatchObject({ code: 0, stderr: expect.not.stringContaining("ERROR") });
    // The grace for running calls is five seconds; an idle stream gets none of it.
    expect(Date.now() - startedAt).toBeLessThan(2500);
    await ended;
  });

  it("keeps the healthy apps when one cannot start, and ends with 0 on TERM", async () => {
    await workspaceOf({ "org.example.good": {} });
    const topology = JSON.parse(await readFile(workspace.topology, "utf8")) as { apps: Record<string, unknown> };
    topology.apps["org.example.bad"] = { mcp: { command: ["/no/such"] } };
    await writeFile(workspace.topology, JSON.stringify(topology));
    const host = await up();
    expect(host.stdout()).toMatch(/org\.example\.bad +failed .*\/no\/such/);
    const called = await runCli(["call", "org.example.good.echo", "--args", "{}", "--json"], { cwd: workspace.root });
    expect(JSON.parse(called.stdout)).toMatchObject({ outcome: "succeeded", ok: true });
    const status = await runCli(["status", "--json"], { cwd: workspace.root });
    expect(JSON.parse(status.stdout).apps).toEqual([
      expect.objectContaining({ package: "org.example.bad", state: "failed" }),
      expect.objectContaining({ package: "org.example.good", state: "ready" }),
    ]);
    host.child.kill("SIGTERM");
    expect(await host.done).toMatchObject({ code: 0 });
  });

  it("kills all groups and exits 1 after an uncaught error", async () => {
    await workspaceOf(six);
    const bomb = "data:text/javascript,process.on('SIGUSR2',()=>{throw(Error('boom'))})";
    const host = await up({ NODE_OPTIONS: `--import ${bomb}` });
    await untilProcesses(6);
    host.child.kill("SIGUSR2");
    expect(await host.done).toMatchObject({ code: 1, stderr: expect.stringContaining("boom") });
    await untilProcesses(0);
  });
});

describe("a host that was killed with SIGKILL", { timeout: 240_000 }, () => {
  it("leaves servers that the next one ends before it starts its own (google-researcher-mcp#108)", async () => {
    await workspaceOf({ "org.example.a": STUBBORN, "org.example.b": STUBBORN });
    const first = await up();
    await untilProcesses(2);
    const left = await processes();
    first.child.kill("SIGKILL");
    await first.done;
    expect(await processes()).toEqual(left);
    const second = await up();
    await untilProcesses(2);
    expect((await processes()).filter((pid) => left.includes(pid))).toEqual([]);
    expect(second.stderr()).toContain("ended processes that an earlier host left behind");
    second.child.kill("SIGTERM");
    second.child.kill("SIGTERM");
    await second.done;
    await untilProcesses(0);
  });
});

describe("hang-up", { timeout: 240_000 }, () => {
  it("without a terminal reloads", async () => {
    await workspaceOf({ "org.example.good": {} }, { reload: "off" });
    const host = await up();
    await untilProcesses(1);
    const before = await processes();
    const topology = JSON.parse(await readFile(workspace.topology, "utf8")) as { apps: Record<string, unknown> };
    topology.apps["org.example.more"] = scriptedApp({ marker });
    await writeFile(workspace.topology, JSON.stringify(topology));
    host.child.kill("SIGHUP");
    await untilProcesses(2);
    expect(await processes()).toEqual(expect.arrayContaining(before));
    host.child.kill("SIGTERM");
    expect(await host.done).toMatchObject({ code: 0 });
  });

  it("by a closed terminal stops everything", async () => {
    await workspaceOf(six);
    const main = await builtCli();
    const terminal = spawn("script", ["-qec", `exec '${process.execPath}' '${main}' up --topology '${workspace.topology}'`, "/dev/null"], {
      cwd: workspace.root,
      stdio: ["pipe", "pipe", "ignore"],
    });
    let shown = "";
    terminal.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
    cleanup.push(() => void terminal.kill("SIGKILL"));
    await untilProcesses(6);
    for (const end = Date.now() + 30_000; !shown.includes("gateway"); await sleep(50)) if (Date.now() > end) throw new Error(`no table: ${shown}`);
    // The program that holds the terminal is gone: the kernel hangs up on everybody in it.
    terminal.kill("SIGKILL");
    await untilProcesses(0);
  });
});

describe("starting", { timeout: 240_000 }, () => {
  it("a second up names the running one, and leaves it alone", async () => {
    await workspaceOf({ "org.example.good": {} });
    const host = await up();
    const second = await runCli(["up", "--topology", workspace.topology]);
    expect(second).toMatchObject({ code: 2, stderr: expect.stringContaining(`pid ${host.child.pid}`) });
    expect(await runCli(["status"], { cwd: workspace.root })).toMatchObject({ code: 0 });
    host.child.kill("SIGTERM");
    await host.done;
  });

  it("a busy port names the setting, and nothing stays behind", async () => {
    const other = http.createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    cleanup.push(() => void other.close());
    const { port } = other.address() as { port: number };
    await workspaceOf({ "org.example.good": {} }, { gateway: { listen: `127.0.0.1:${port}` } });
    expect(await runCli(["up"], { cwd: workspace.root })).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/gateway\.listen/) });
    expect(await processes()).toEqual([]);
  });

  it("two tools of one name under naming: none are a start-up error", async () => {
    await workspaceOf({ "org.example.a": {}, "org.example.b": {} }, { gateway: { listen: "127.0.0.1:0", naming: "none" } });
    expect(await runCli(["up", "--once"], { cwd: workspace.root })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/gateway\.naming is none.*org\.example\.a\.echo and org\.example\.b\.echo/),
    });
    expect(await processes()).toEqual([]);
  });

  it("--once prints the table and stops", async () => {
    await workspaceOf({ "org.example.good": {} });
    const once = await runCli(["up", "--once"], { cwd: workspace.root });
    expect(once).toMatchObject({ code: 0, stdout: expect.stringMatching(/org\.example\.good +ready +2/) });
    expect(await processes()).toEqual([]);
  });

  it("with a broken policy starts, denies every call, and takes the mended policy over", async () => {
    await workspaceOf({ "org.example.good": {} }, { policies: ["policies/*.yaml"], reload: "off" });
    await workspace.write("topology/policies/p.yaml", "rules: [");
    const host = await up();
    const call = (): Promise<CliResult> => runCli(["call", "org.example.good.echo", "--args", "{}", "--json"], { cwd: workspace.root });
    expect(JSON.parse((await call()).stdout)).toMatchObject({ ok: false, error: { error_code: "POLICY_DENIED" } });
    expect(JSON.parse((await runCli(["status", "--json"], { cwd: workspace.root })).stdout)).toMatchObject({
      config: { state: "rejected", errors: [{ file: "topology/policies/p.yaml", line: 1 }] },
    });
    await workspace.write("topology/policies/p.yaml", "rules:\n  - { id: all-low, tools: ['*'], risk: low }\n");
    expect(await runCli(["plan"], { cwd: workspace.root })).toMatchObject({ code: 2, stdout: expect.stringContaining("+ rule all-low") });
    expect(await runCli(["reload"], { cwd: workspace.root })).toMatchObject({ code: 0 });
    expect(await call()).toMatchObject({ code: 0 });
    await workspace.write("topology/topology.yaml", "topology: 2\n");
    expect(await runCli(["plan"], { cwd: workspace.root })).toMatchObject({ code: 1, stdout: expect.stringContaining("topology/topology.yaml:1:11") });
    expect(await runCli(["up"], { cwd: workspace.root })).toMatchObject({ code: 1 });
    host.child.kill("SIGTERM");
    expect(await host.done).toMatchObject({ code: 0, stderr: expect.stringContaining("every call is denied") });
  });

  it("is still found after an edit of data_dir, which waits for a restart", async () => {
    await workspaceOf({ "org.example.good": {} });
    const host = await up();
    await writeFile(workspace.topology, (await readFile(workspace.topology, "utf8")).replace('"../data"', '"../other"'));
    await host.until(/data_dir/, 30_000);
    for (const end = Date.now() + 10_000; (await runCli(["status"], { cwd: workspace.root })).code !== 0; await sleep(100))
      if (Date.now() > end) throw new Error("status does not find the host");
    const status = JSON.parse((await runCli(["status", "--json"], { cwd: workspace.root })).stdout);
    expect(status.config.host_changes).toContain("data_dir");
    expect(await runCli(["reload"], { cwd: workspace.root })).toMatchObject({ code: 0 });
    expect(await runCli(["up"], { cwd: workspace.root })).toMatchObject({ code: 2, stderr: expect.stringContaining(`pid ${host.child.pid}`) });
    host.child.kill("SIGTERM");
    expect(await host.done).toMatchObject({ code: 0 });
    expect(await runCli(["status"], { cwd: workspace.root })).toMatchObject({ code: 3 });
  });

  it("with reload: off is found at once after an edit of data_dir, also of a broken file, and by every command", async () => {
    await workspaceOf({ "org.example.good": {} }, { reload: "off" });
    const host = await up();
    const edit = async (from: string, to: string): Promise<void> =>
      writeFile(workspace.topology, (await readFile(workspace.topology, "utf8")).replace(from, to));
    await edit('"../data"', '"../other"');
    const status = await runCli(["status", "--json"], { cwd: workspace.root });
    expect(status).toMatchObject({ code: 0, stderr: expect.stringMatching(/runs with data_dir \S+\/data; .* counts when the host is restarted/) });
    expect(await runCli(["plan"], { cwd: workspace.root })).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("data_dir changes only when the host is restarted"),
    });
    expect(await runCli(["up"], { cwd: workspace.root })).toMatchObject({ code: 2, stderr: expect.stringContaining(`pid ${host.child.pid}`) });
    await host.until(/reload is off/, 30_000);
    await edit("{", "{ [");
    expect(await runCli(["status"], { cwd: workspace.root })).toMatchObject({ code: 0 });
    host.child.kill("SIGTERM");
    expect(await host.done).toMatchObject({ code: 0 });
    expect(await runCli(["status"], { cwd: workspace.root })).toMatchObject({ code: 3 });
  });

  it("with reload: off and a data_dir of its own is found under whatever it is edited to", async () => {
    await workspaceOf({ "org.example.good": {} }, { reload: "off", data_dir: "../own" });
    const host = await up();
    await writeFile(workspace.topology, (await readFile(workspace.topology, "utf8")).replace('"../own"', '"../other"'));
    await host.until(/reload is off/, 30_000);
    for (const end = Date.now() + 10_000; (await runCli(["status"], { cwd: workspace.root })).code !== 0; await sleep(100))
      if (Date.now() > end) throw new Error("status does not find the host");
    host.child.kill("SIGTERM");
    expect(await host.done).toMatchObject({ code: 0 });
  });

  it("without a usable configuration exits 1, without a workspace 2", async () => {
    await workspaceOf({});
    await writeFile(workspace.topology, "topology: 1\nnodes: {}\n");
    expect(await runCli(["up"], { cwd: workspace.root })).toMatchObject({ code: 1, stderr: expect.stringContaining("brain") });
    expect(await runCli(["up"], { cwd: "/" })).toMatchObject({ code: 2 });
  });
});
