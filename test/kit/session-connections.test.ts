import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { isRunning, scriptedApp, startKit, topologyText, until, type TestKit } from "../support/kit.ts";

const APP = "org.test.a";
const TOOLS = ["echo", "die", "hang", "wait", "journal"].map((name) => ({ name, inputSchema: { type: "object" } }));
const SCRIPT = {
  on: {
    "tools/list": [{ result: { tools: TOOLS } }],
    "tools/call die": [{ exit: 7 }],
    "tools/call hang": [{ kill: "SIGSTOP" }],
    "tools/call wait": [{ delay: 1500 }, { result: { content: [] } }],
  },
};

describe("the connection of one calling session (isolation: session)", () => {
  let t: TestKit;
  afterEach(() => t.stop());

  const topology = (settings: object, script: object = SCRIPT, wrapper: readonly string[] = []): string => {
    const app = scriptedApp(script, { isolation: "session", ...settings }) as { mcp: { command: string[] } };
    app.mcp.command.unshift(...wrapper);
    return topologyText({ [APP]: app }, { policies: ["policies/*.yaml"] });
  };
  const start = async (settings: object = {}, script: object = SCRIPT, wrapper: readonly string[] = []): Promise<void> => {
    t = await startKit({
      "topology/topology.yaml": topology(settings, script, wrapper),
      "topology/policies/p.yaml": JSON.stringify({ rules: [{ id: "low", tools: ["*"], risk: "low" }] }),
    });
  };
  const call = (tool: string, session: string, options: object = {}) => t.kit.callTool(`${APP}.${tool}`, {}, { client: "c", session, ...options });
  const status = () => t.kit.status().apps[0]!;
  const sessions = () => status().sessions!;
  const pids = (): number[] => sessions().open.map((each) => each.pid!);
  const gone = (pid: number): Promise<void> => until(async () => !(await isRunning(pid)));

  it("that hangs is noticed when a call times out, ends with its other calls, and is replaced at the next use; nobody else notices", async () => {
    await start({ call_timeout: "10s", mcp: { health_timeout: "500ms" } });
    await call("echo", "other");
    const other = pids();
    await call("echo", "s");
    const hung = pids().find((pid) => !other.includes(pid))!;
    const waiting = call("wait", "s");
    await until(() => sessions().open.some((each) => each.calls === 1));
    await t.workspace.write("topology/topology.yaml", topology({ call_timeout: "400ms", mcp: { health_timeout: "500ms" } }));
    expect(await t.kit.reload()).toMatchObject({ result: "applied" });
    expect((await call("hang", "s")).error).toMatchObject({ error_code: "TIMEOUT" });
    expect(await waiting).toMatchObject({
      outcome: "unknown",
      error: { error_code: "APP_UNAVAILABLE", message: expect.stringContaining("no sign of life for 500ms") },
    });
    await gone(hung);
    expect(await call("echo", "s")).toMatchObject({ ok: true });
    expect(pids()).toEqual(expect.arrayContaining(other));
    expect(sessions()).toMatchObject({ lost: 1, reason: "gave no sign of life for 500ms" });
    expect(status()).toMatchObject({ state: "ready", restarts: 0 });
  });

  it("counts towards max_sessions until its process is gone, however slowly that goes", async () => {
    await start({ max_sessions: 2 }, { ...SCRIPT, ignoreTerm: true, ignoreEof: true });
    const seen: number[] = [];
    for (const session of ["a", "b", "c"]) {
      expect(await call("echo", session)).toMatchObject({ ok: true });
      seen.push(...pids().filter((pid) => !seen.includes(pid)));
      const running = await Promise.all(seen.map(isRunning));
      expect(running.filter(Boolean).length).toBeLessThanOrEqual(2);
    }
    expect(seen).toHaveLength(3);
  });

  it("that dies fails its calls at once with an unknown outcome, is told, and is opened anew at the next use", async () => {
    await start();
    await call("echo", "s");
    const [first] = pids();
    const waiting = call("wait", "s");
    expect((await call("die", "s")).error).toMatchObject({ error_code: "APP_UNAVAILABLE", message: expect.stringContaining("exited with code 7") });
    expect(await waiting).toMatchObject({ outcome: "unknown", error: { error_code: "APP_UNAVAILABLE" } });
    expect(sessions()).toMatchObject({ open: [], lost: 1, reason: expect.stringContaining("exited with code 7") });
    expect(await call("echo", "s")).toMatchObject({ ok: true });
    expect(pids()).not.toEqual([first]);
    await until(async () => (await t.inbox()).some((event) => JSON.stringify(event).includes("the connection of one session ended: exited with code 7")));
  });

  it("ends with its session, also while it is being opened, and a session of the same name begins anew", async () => {
    await start({}, SCRIPT, ["sh", "-c", 'if [ -e mute ]; then echo $$$$ > muted; exec sleep 60; fi; exec "$0" "$@"']);
    await call("echo", "s");
    const [first] = pids();
    await t.kit.endSession!("s", "c");
    expect(pids()).toEqual([]);
    expect(await call("echo", "s")).toMatchObject({ ok: true });
    await gone(first!);
    // The end of the first has not taken the second with it.
    expect(pids()).toHaveLength(1);
    expect(await call("echo", "s")).toMatchObject({ ok: true });

    await t.workspace.write("mute", "");
    const opening = call("echo", "other");
    let pid = 0;
    await until(async () => (pid = Number(await readFile(path.join(t.workspace.root, "muted"), "utf8").catch(() => "0"))) > 0);
    await t.kit.endSession!("other", "c");
    expect(await opening).toMatchObject({ outcome: "failed", error: { error_code: "APP_UNAVAILABLE" } });
    await gone(pid);
  });

  it("is opened once for all calls that want it, whichever of them is given up meanwhile", async () => {
    await start();
    const abort = new AbortController();
    const first = call("echo", "s", { signal: abort.signal });
    const others = [call("echo", "s"), call("echo", "s")];
    abort.abort();
    expect((await first).error).toMatchObject({ error_code: "CANCELLED" });
    expect(await Promise.all(others)).toMatchObject([{ ok: true }, { ok: true }]);
    expect(pids()).toHaveLength(1);
  });

  it("that cannot be opened says why, and is not tried again with every call", async () => {
    await start({}, SCRIPT, ["sh", "-c", 'if [ -e broken ]; then echo x >> tries; echo "no licence" >&2; exit 3; fi; exec "$0" "$@"']);
    await t.workspace.write("broken", "");
    for (let n = 0; n < 6; n += 1)
      expect((await call("echo", `s${n}`)).error).toMatchObject({ error_code: "APP_UNAVAILABLE", message: expect.stringContaining("no licence") });
    expect((await call("echo", "s")).error).toMatchObject({
      message: expect.stringContaining("next attempt in"),
      details: { retry_after_ms: expect.any(Number) },
    });
    expect((await readFile(path.join(t.workspace.root, "tries"), "utf8")).trim().split("\n")).toHaveLength(2);
    expect(status()).toMatchObject({ state: "ready", sessions: { open: [], lost: 0 } });
  });

  it("is one of max_sessions: the longest unused makes room, and when all are in use the call is refused", async () => {
    await start({ max_sessions: 2 });
    await call("echo", "a");
    const [first] = pids();
    await call("echo", "b");
    await call("echo", "a");
    await call("echo", "c");
    expect(pids()).toHaveLength(2);
    expect(pids()).toContain(first);
    const busy = [call("wait", "a"), call("wait", "c")];
    await until(() => sessions().open.every((each) => each.calls === 1));
    expect((await call("echo", "d")).error).toMatchObject({ error_code: "APP_UNAVAILABLE", message: expect.stringContaining("max_sessions: 2") });
    expect(await Promise.all(busy)).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it.each(["reload", "restart"] as const)(
    "is replaced after a %s: running calls end on the old one, later ones go to a new one, and nothing is left",
    async (how) => {
      await start();
      await call("echo", "s");
      await call("echo", "idle");
      const before = [...pids(), status().pid!];
      const waiting = call("wait", "s");
      await until(() => sessions().open.some((each) => each.calls === 1));
      if (how === "restart") await t.kit.restartApp(APP);
      else {
        await t.workspace.write("topology/topology.yaml", topology({ mcp: { env: { X: "1" } } }));
        await t.kit.reload();
      }
      await until(() => status().pid !== before[2] && status().state === "ready");
      expect(await call("echo", "s")).toMatchObject({ ok: true });
      expect(before).not.toContain(pids()[0]);
      expect(await waiting).toMatchObject({ ok: true });
      await Promise.all(before.map(gone));
    },
  );

  it("ends when its app is taken out", async () => {
    await start();
    await call("echo", "s");
    const before = [...pids(), status().pid!];
    await t.workspace.write("topology/topology.yaml", topologyText({}));
    await t.kit.reload();
    await Promise.all(before.map(gone));
  });

  it("goes on with its calls when the app's shared connection dies", async () => {
    await start();
    await call("echo", "s");
    const waiting = call("wait", "s");
    await until(() => sessions().open.some((each) => each.calls === 1));
    const [mine] = pids();
    process.kill(status().pid!, "SIGKILL");
    expect(await waiting).toMatchObject({ ok: true });
    await until(() => status().state === "ready");
    expect(await call("echo", "s")).toMatchObject({ ok: true });
    await gone(mine!);
  });

  it("leaves nothing when the host stops in the middle of everything", async () => {
    await start({}, { ...SCRIPT, ignoreTerm: true, ignoreEof: true });
    await call("echo", "s");
    await call("echo", "ended");
    const before = pids();
    await t.kit.endSession!("ended", "c");
    const opening = call("echo", "late");
    await t.kit.close();
    expect(await opening).toMatchObject({ ok: false });
    for (const pid of before) expect(await isRunning(pid)).toBe(false);
  });
});
