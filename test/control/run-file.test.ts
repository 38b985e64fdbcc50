import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectToHost } from "../../src/control/client.ts";
import { claimRunFile, findRunningHost, HostRunningError, processStart, runFilePath } from "../../src/control/run-file.ts";
import { loadTokens, readToken, tokenFiles } from "../../src/control/tokens.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "aurora-run-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const since = "2026-01-01T00:00:00.000Z";
const claim = () => claimRunFile(dir, "/t/topology.yaml", since);

describe("host.json", () => {
  it("is there from the claim to the release, and names the running host to a second one", async () => {
    const mine = await claim();
    await mine.publish({ url: "http://127.0.0.1:7800", tlsCert: null });
    await expect(claim()).rejects.toThrow(HostRunningError);
    await expect(claim()).rejects.toThrow(`a host already runs for /t/topology.yaml: pid ${process.pid}, http://127.0.0.1:7800, since ${since}`);
    expect(await findRunningHost(dir)).toMatchObject({ pid: process.pid, url: "http://127.0.0.1:7800" });
    await mine.release();
    expect(await findRunningHost(dir)).toBeNull();
    expect(await readdir(join(dir, "run"))).toEqual([]);
  });

  it("can be shown in another data folder too, and is gone from both at the end", async () => {
    const mine = await claim();
    await mine.publish({ url: "http://127.0.0.1:7800", tlsCert: null });
    const other = join(dir, "other");
    await mine.showIn(other);
    await mine.showIn(other);
    expect(await findRunningHost(other)).toMatchObject({ pid: process.pid, url: "http://127.0.0.1:7800", data_dir: dir });
    await expect(claimRunFile(other, "/t/topology.yaml", since)).rejects.toThrow(HostRunningError);
    await mine.release();
    expect([await findRunningHost(dir), await findRunningHost(other)]).toEqual([null, null]);
  });

  it("is taken over from a host that died", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(()=>{},1000)"]);
    const file = runFilePath(dir);
    await (await claim()).release();
    await writeFile(
      file,
      JSON.stringify({ pid: child.pid, pid_start: await processStart(child.pid!), started_at: since, topology: "/t", url: null, tls_cert: null }),
    );
    await expect(claim()).rejects.toThrow(`pid ${child.pid}`);
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    await (await claim()).release();
  });

  it("is taken over when the pid belongs to a later process", async () => {
    await (await claim()).release();
    await writeFile(
      runFilePath(dir),
      JSON.stringify({ pid: process.pid, pid_start: "another boot/1", started_at: since, topology: "/t", url: null, tls_cert: null }),
    );
    expect(await findRunningHost(dir)).toBeNull();
    await (await claim()).release();
  });

  it.each(["", "{", "[]", '{"pid":"x"}', '{"pid":-1}', '{"__proto__":{"pid":1}}'])("is taken over when it holds %j", async (content) => {
    await (await claim()).release();
    await writeFile(runFilePath(dir), content);
    const mine = await claim();
    expect(JSON.parse(await readFile(runFilePath(dir), "utf8"))).toMatchObject({ pid: process.pid });
    await mine.release();
  });

  it("goes to one of several that start at once", async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, claim));
    expect(results.filter((r) => r.status === "fulfilled")).toHaveLength(1);
    for (const r of results) if (r.status === "rejected") expect(r.reason).toBeInstanceOf(HostRunningError);
  });

  it("is held: made anew where it is gone, damaged, or an older one of this host; left alone where another live host has it", async () => {
    const mine = await claim();
    const file = runFilePath(dir);
    const unpublished = await readFile(file, "utf8");
    await mine.publish({ url: "http://127.0.0.1:7800", tlsCert: null });
    const whole = await readFile(file, "utf8");
    expect(await mine.hold()).toEqual({ state: "held" });
    for (const damage of [() => rm(join(dir, "run"), { recursive: true }), () => writeFile(file, "{"), () => writeFile(file, unpublished)]) {
      await damage();
      expect(await mine.hold()).toEqual({ state: "remade" });
      expect([await readFile(file, "utf8"), await mine.hold()]).toEqual([whole, { state: "held" }]);
    }
    await rm(file);
    await writeFile(file, whole);
    expect([await mine.hold(), await mine.hold()]).toEqual([{ state: "back" }, { state: "held" }]);
    await rm(join(dir, "run"), { recursive: true });
    await writeFile(join(dir, "run"), "in the way");
    await expect(mine.hold()).rejects.toThrow(join(dir, "run"));
    expect(await findRunningHost(dir)).toBeNull();
    await rm(join(dir, "run"));
    expect(await mine.hold()).toEqual({ state: "remade" });
    const other = JSON.stringify({ pid: process.ppid, pid_start: await processStart(process.ppid), url: "http://127.0.0.1:7801" });
    await writeFile(file, other);
    expect(await mine.hold()).toMatchObject({ state: "taken", by: { pid: process.ppid, url: "http://127.0.0.1:7801" } });
    await mine.release();
    expect(await readFile(file, "utf8")).toBe(other);
  });

  it("gives no client while a host starts", async () => {
    const mine = await claim();
    expect(await connectToHost((await findRunningHost(dir))!)).toBeNull();
    await mine.release();
  });
});

describe("token files", () => {
  it("are made once, private and random", async () => {
    const client = { name: "bot", tokenFile: join(dir, "deep", "bot.token"), include: null, exclude: [] };
    await loadTokens(dir, [client]);
    const files = [...Object.values(tokenFiles(dir)), client.tokenFile];
    const first = await Promise.all(files.map(readToken));
    expect(new Set(first).size).toBe(3);
    for (const token of first) expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    for (const file of files) expect((await stat(file)).mode & 0o777).toBe(0o600);
    await loadTokens(dir, [client]);
    expect(await Promise.all(files.map(readToken))).toEqual(first);
  });

  it("open the door for their principal only", async () => {
    const tokens = await loadTokens(dir, [{ name: "bot", tokenFile: join(dir, "bot.token"), include: ["org.demo/*"], exclude: ["org.demo/wipe*"] }]);
    const { caller, operator } = tokenFiles(dir);
    expect(tokens.authenticate(`Bearer ${await readToken(operator)}`)).toMatchObject({ role: "operator", client: "operator" });
    expect(tokens.authenticate(`bearer ${await readToken(caller)}`)).toMatchObject({ role: "caller", client: "caller" });
    const bot = tokens.authenticate(`Bearer ${await readToken(join(dir, "bot.token"))}`)!;
    expect(bot).toMatchObject({ role: "caller", client: "bot" });
    expect([bot.sees("org.demo", "echo"), bot.sees("org.demo", "wipe_all"), bot.sees("org.demo2", "echo")]).toEqual([true, false, false]);
    const token = await readToken(caller);
    for (const wrong of [
      undefined,
      "",
      token,
      `Basic ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Bearer ${token} ${token}`,
      "Bearer ",
      `Bearer ${token.toUpperCase()}`,
    ])
      expect(tokens.authenticate(wrong)).toBeNull();
  });

  it("that are empty, short or the same are refused by name", async () => {
    const file = join(dir, "bot.token");
    const load = () => loadTokens(dir, [{ name: "bot", tokenFile: file, include: null, exclude: [] }]);
    for (const content of ["", "short", "two words of a sentence that is long"]) {
      await writeFile(file, content);
      await expect(load()).rejects.toThrow(`token file ${file}: a token is one word of at least 16 characters`);
    }
    await loadTokens(dir, []);
    await writeFile(file, await readToken(tokenFiles(dir).operator));
    await expect(load()).rejects.toThrow(`${file} holds the same token as ${tokenFiles(dir).operator}`);
  });

  it("that others can read are named in a warning", async () => {
    const file = join(dir, "bot.token");
    await writeFile(file, "a-token-that-is-long-enough\n", { mode: 0o644 });
    const { warnings } = await loadTokens(dir, [{ name: "bot", tokenFile: file, include: null, exclude: [] }]);
    expect(warnings).toEqual([`${file} can be read by others; run chmod 600 on it`]);
  });
});
