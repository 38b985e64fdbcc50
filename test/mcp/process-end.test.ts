import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { Children } from "../../src/mcp/children.ts";
import { startTimeOf } from "../../src/mcp/process-group.ts";
import { builtCli } from "../support/built-cli.ts";
import { SERVERS, appPlan, scripted, stdioSpec } from "../support/app-plan.ts";
import { atEnd, connectorFor, open, temporaryFolder, until } from "./support.ts";

const deaf = { ignoreTerm: true, ignoreEof: true };

function alive(pid: number): boolean {
  return startTimeOf(pid) !== null;
}

/** A server behind a wrapper; `pids` gives the wrapper's and the server's. */
function wrapped(script: object): { spec: ReturnType<typeof stdioSpec>; pids: () => number[] } {
  const file = join(temporaryFolder(), "pids");
  return {
    spec: stdioSpec(join(SERVERS, "wrapper.sh"), [process.execPath, JSON.stringify(script), file]),
    pids: () => readFileSync(file, "utf8").trim().split(" ").map(Number),
  };
}

async function timed(action: Promise<unknown>): Promise<number> {
  const started = Date.now();
  await action;
  return Date.now() - started;
}

describe("close", () => {
  it("begins with the end of stdin, which is enough for most (command-code#515)", async () => {
    const { connection } = await open(scripted({ ignoreTerm: true }));
    const { pid } = connection;
    expect(await timed(connection.close())).toBeLessThan(1800);
    expect(alive(pid!)).toBe(false);
  });

  it("goes on to SIGTERM and SIGKILL", async () => {
    const { connection } = await open(scripted(deaf));
    const { pid } = connection;
    const closed = new Promise((resolve) => connection.onClosed(resolve));
    const ms = await timed(connection.close());
    expect(ms).toBeGreaterThan(3500);
    expect(ms).toBeLessThan(8000);
    expect(alive(pid!)).toBe(false);
    expect(await closed).toMatchObject({ planned: true, signal: "SIGKILL" });
  });

  it("kills at once when forced, also a stop that is under way; and is the same promise each time", async () => {
    const { connection } = await open(scripted(deaf));
    const slow = connection.close();
    expect(connection.close()).toBe(slow);
    const ms = await timed(connection.close({ force: true }));
    expect(ms).toBeLessThan(1500);
    await slow;
    expect(alive(connection.pid!)).toBe(false);
  });

  it("stops six deaf servers in parallel in less than 10 s (avelino/mcp#42)", async () => {
    const connector = connectorFor();
    const opened = await Promise.all(Array.from({ length: 6 }, () => open(scripted(deaf), {}, { connector })));
    expect(await timed(Promise.all(opened.map(({ connection }) => connection.close())))).toBeLessThan(10_000);
    for (const { connection } of opened) expect(alive(connection.pid!)).toBe(false);
  });

  it("ends the server behind a wrapper too (google-researcher-mcp#108)", async () => {
    const { spec, pids } = wrapped(deaf);
    const { connection } = await open(spec);
    const all = await until(() => pids().length === 2 && pids());
    await connection.close();
    expect(all.filter(alive)).toEqual([]);
  });

  it('leaves nothing of `sh -c "sleep & exec server"`', async () => {
    const file = join(temporaryFolder(), "pid");
    const { connection } = await open(stdioSpec("sh", ["-c", `sleep 900 & echo $! > '${file}'; exec '${process.execPath}' scripted.mjs '{}'`]));
    const sleeper = Number(readFileSync(file, "utf8"));
    expect(alive(sleeper)).toBe(true);
    await connection.close();
    expect(alive(sleeper)).toBe(false);
  });
});

describe("a server that dies", () => {
  it("ends the connection at once although a grandchild holds its pipes, and takes the grandchild along", async () => {
    const { spec, pids } = wrapped(deaf);
    const { connection } = await open(spec);
    const [wrapper, server] = await until(() => pids().length === 2 && pids());
    const call = connection
      .request("tools/call", { name: "echo" }, { timeoutMs: 10_000 })
      .then(() => connection.request("ping", {}))
      .catch(() => {});
    const closed = new Promise((resolve) => connection.onClosed(resolve));
    process.kill(wrapper!, "SIGKILL");
    expect(await timed(closed)).toBeLessThan(2000);
    expect(await closed).toMatchObject({ planned: false, signal: "SIGKILL" });
    await call;
    await until(() => !alive(server!));
  });
});

describe("orphans of a dead host", () => {
  /** Writes the record that a host leaves. */
  function leaveRecord(dataDir: string, host: object, children: object[]): void {
    const folder = join(dataDir, "run", "children");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "1234567.json"), JSON.stringify({ host, children }));
  }
  function sleeper(): number {
    const child = spawn("sleep", ["900"], { detached: true, stdio: "ignore" });
    atEnd(() => child.kill("SIGKILL"));
    return child.pid!;
  }
  const dead = { pid: 1_234_567, start: "boot:1" };

  it("are ended, once", async () => {
    const dataDir = temporaryFolder();
    const pid = sleeper();
    leaveRecord(dataDir, dead, [{ pid, start: startTimeOf(pid)! }]);
    expect(await connectorFor({ dataDir }).reapOrphans()).toBe(1);
    expect(alive(pid)).toBe(false);
    expect(await connectorFor({ dataDir }).reapOrphans()).toBe(0);
  });

  it("are not confused with another process that has the pid now", async () => {
    const dataDir = temporaryFolder();
    const pid = sleeper();
    leaveRecord(dataDir, dead, [{ pid, start: `${startTimeOf(pid)!}0` }]);
    expect(await connectorFor({ dataDir }).reapOrphans()).toBe(0);
    expect(alive(pid)).toBe(true);
  });

  it("are ended when only the server behind the wrapper is left", async () => {
    const dataDir = temporaryFolder();
    const file = join(dataDir, "pid");
    const wrapper = spawn("sh", ["-c", `sleep 900 & echo $! > '${file}'; wait`], { detached: true, stdio: "ignore" });
    const inner = await until(() => existsSync(file) && Number(readFileSync(file, "utf8")));
    const start = startTimeOf(wrapper.pid!)!;
    wrapper.kill("SIGKILL");
    await until(() => !alive(wrapper.pid!));
    leaveRecord(dataDir, dead, [{ pid: wrapper.pid!, start }]);
    expect(await connectorFor({ dataDir }).reapOrphans()).toBe(1);
    await until(() => !alive(inner));
  });

  it("are not the children of another host that lives", async () => {
    const dataDir = temporaryFolder();
    const [host, pid] = [sleeper(), sleeper()];
    leaveRecord(dataDir, { pid: host, start: startTimeOf(host)! }, [{ pid, start: startTimeOf(pid)! }]);
    expect(await connectorFor({ dataDir }).reapOrphans()).toBe(0);
    expect(alive(pid)).toBe(true);
  });

  it.each([
    "",
    "{",
    "null",
    '{"host":{"pid":1,"start":"x"},"children":[]}',
    '{"host":{"pid":1234567,"start":"x"},"children":[{"pid":1,"start":"x"},{"pid":-1,"start":"x"},{"pid":0,"start":"x"},7]}',
  ])("tolerate a damaged record %j", async (text) => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, "run", "children"), { recursive: true });
    writeFileSync(join(dataDir, "run", "children", "1.json"), text);
    expect(await connectorFor({ dataDir }).reapOrphans()).toBe(0);
  });

  it("are written down while they run and forgotten when they end", async () => {
    const dataDir = temporaryFolder();
    const { connection } = await open(scripted({}), {}, { connector: connectorFor({ dataDir }) });
    const folder = join(dataDir, "run", "children");
    const [file] = readdirSync(folder);
    expect(JSON.parse(readFileSync(join(folder, file!), "utf8"))).toEqual({
      host: { pid: process.pid, start: startTimeOf(process.pid) },
      children: [{ pid: connection.pid, start: startTimeOf(connection.pid!) }],
    });
    await connection.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("cannot be written down where the data folder cannot be written, and run all the same", async () => {
    const dataDir = join(temporaryFolder(), "file");
    writeFileSync(dataDir, "not a folder");
    const warnings: string[] = [];
    const log = { debug() {}, info() {}, error() {}, warn: (_fields: object, message: string) => void warnings.push(message), child: () => log };
    const { connection } = await open(scripted({}), {}, { connector: connectorFor({ dataDir, log }) });
    expect(connection.closed).toBe(false);
    expect(warnings.join()).toContain("the record of child processes cannot be written");
  });

  it("are left by a host killed with SIGKILL and ended by the next; a host that dies of an uncaught error leaves none", async () => {
    const source = join(dirname(dirname(await builtCli())), "mcp", "connector.js");
    const dataDir = temporaryFolder();
    const startHost = async (): Promise<{ host: ReturnType<typeof spawn>; pids: number[] }> => {
      const { spec, pids } = wrapped(deaf);
      const host = spawn(process.execPath, ["host.mjs", JSON.stringify({ dataDir, plans: [appPlan(spec)], source })], {
        cwd: SERVERS,
        stdio: ["ignore", "pipe", "ignore"],
      });
      atEnd(() => host.kill("SIGKILL"));
      await new Promise((resolve) => host.stdout!.once("data", resolve));
      return { host, pids: pids() };
    };
    const killed = await startHost();
    killed.host.kill("SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(killed.pids.every(alive)).toBe(true);
    expect(await connectorFor({ dataDir }).reapOrphans()).toBe(1);
    await until(() => killed.pids.every((pid) => !alive(pid)));
    const failed = await startHost();
    failed.host.kill("SIGUSR2");
    await until(() => failed.pids.every((pid) => !alive(pid)));
  }, 60_000);
});

describe("killAll", () => {
  it("ends every group without waiting", async () => {
    const connector = connectorFor();
    const { spec, pids } = wrapped(deaf);
    const { connection } = await open(spec, {}, { connector });
    const closed = new Promise((resolve) => connection.onClosed(resolve));
    const all = await until(() => pids().length === 2 && pids());
    connector.killAll();
    await until(() => all.every((pid) => !alive(pid)));
    expect(await closed).toMatchObject({ signal: "SIGKILL" });
  });

  it("signals nothing once its groups are gone", () => {
    const children = new Children(temporaryFolder(), () => {});
    const child = spawn("sleep", ["900"], { detached: true, stdio: "ignore" });
    atEnd(() => child.kill("SIGKILL"));
    children.add(child.pid!);
    children.remove(child.pid!);
    children.killAll();
    expect(alive(child.pid!)).toBe(true);
  });
});
