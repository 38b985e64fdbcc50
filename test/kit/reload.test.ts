import { rename, rm, symlink } from "node:fs/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Logger } from "../../src/runtime/ports.ts";
import { isRunning, scriptedApp, startKit, topologyText, until, type TestKit } from "../support/kit.ts";

const APPS = { "org.test.a": scriptedApp({}), "org.test.b": scriptedApp({}) };
const topology = (apps: object, more: object = {}): string => topologyText(apps as Record<string, unknown>, { policies: ["policies/*.yaml"], ...more });
const LOW = JSON.stringify({ rules: [{ id: "all-low", tools: ["*"], risk: "low" }] });
const slow = (ms: number): object => ({ on: { "tools/call echo": [{ delay: ms }, { result: { content: [{ type: "text", text: "done" }] } }] } });

describe("hot reload", () => {
  let t: TestKit;
  afterEach(() => t.stop());
  const start = async (apps: object = APPS, watch = false): Promise<void> => {
    t = await startKit({ "topology/topology.yaml": topology(apps), "topology/policies/p.yaml": LOW }, { watch });
  };
  const ready = (app: string) => until(() => t.kit.status().apps.find((a) => a.package === app)?.state === "ready");

  it("sees a saved file by itself: adds an app, and leaves the pids of the others alone", async () => {
    await start(APPS, true);
    const before = [t.pid("org.test.a"), t.pid("org.test.b")];
    await t.workspace.write("topology/topology.yaml", topology({ ...APPS, "org.test.c": scriptedApp({}) }));
    await until(() => t.kit.status().apps.length === 3);
    await ready("org.test.c");
    expect([t.pid("org.test.a"), t.pid("org.test.b")]).toEqual(before);
    expect(t.kit.catalog().byFull("org.test.c.echo")?.state).toBe("exposed");
  });

  it("changes nothing for comments, order, spacing and explicit defaults", async () => {
    await start();
    const before = [t.pid("org.test.a"), t.pid("org.test.b")];
    const reordered = Object.fromEntries(
      Object.entries(APPS)
        .reverse()
        .map(([name, app]) => [name, { ...(app as object), isolation: "shared", enabled: true, max_concurrent_calls: 64 }]),
    );
    await t.workspace.write(
      "topology/topology.yaml",
      `# a comment\n\n${topology(reordered, { reload: "auto", defaults: { call_timeout: "30s" } })}\n# the end\n`,
    );
    const result = await t.kit.reload();
    expect({ ...result.changes, unchanged: [] }).toMatchObject({ start: [], stop: [], restart: [], reconnect: [], live: [] });
    expect([t.pid("org.test.a"), t.pid("org.test.b")]).toEqual(before);
  });

  it("restarts only the app whose environment changed, and a removed key is a change", async () => {
    await start({ ...APPS, "org.test.b": scriptedApp({}, { env: { A: "1" } }) });
    const [a, b] = [t.pid("org.test.a"), t.pid("org.test.b")];
    await t.workspace.write("topology/topology.yaml", topology(APPS));
    const result = await t.kit.reload();
    expect(result.changes).toMatchObject({ restart: ["org.test.b"], unchanged: ["org.test.a"] });
    await until(() => t.pid("org.test.b") !== b && t.pid("org.test.b") !== null);
    expect(t.pid("org.test.a")).toBe(a);
    await until(async () => !(await isRunning(b!)));
  });

  it("keeps the last good configuration after a broken edit, says where it is broken, and takes the next good one", async () => {
    await start();
    const before = t.pid("org.test.a");
    await t.workspace.write("topology/topology.yaml", topology(APPS).replace('"data_dir"', '"data_dirr"'));
    const rejected = await t.kit.reload();
    expect(rejected.result).toBe("rejected");
    expect(rejected.text).toContain('did you mean "data_dir"?');
    expect(rejected.text).toMatch(/topology\/topology\.yaml:3:\d+/);
    expect(t.kit.status().config).toMatchObject({ state: "rejected", errors: [{ code: "unknown-key" }] });
    expect(t.pid("org.test.a")).toBe(before);
    expect((await t.kit.callTool("org.test.a.echo", {})).ok).toBe(true);
    await t.workspace.write("topology/topology.yaml", topology({ ...APPS, "org.test.c": scriptedApp({}) }));
    expect((await t.kit.reload()).result).toBe("applied");
    expect(t.kit.status().config).toMatchObject({ state: "applied", errors: [] });
    await ready("org.test.c");
    await until(async () => (await t.inbox()).filter((e) => e.payload.type.startsWith("config.")).length >= 2);
    expect((await t.inbox()).filter((e) => e.payload.type.startsWith("config.")).map((e) => e.payload.type)).toEqual(["config.rejected", "config.applied"]);
  });

  it("obeys a saved policy at the next call without touching a connection", async () => {
    await start();
    const before = t.pid("org.test.a");
    expect((await t.kit.callTool("org.test.a.echo", {})).ok).toBe(true);
    await t.workspace.write(
      "topology/policies/p.yaml",
      JSON.stringify({ rules: [{ id: "no-echo", apps: ["org.test.a"], tools: ["echo"], action: "deny", reason: "closed" }] }),
    );
    expect((await t.kit.reload()).changes).toMatchObject({ policy: true, restart: [], unchanged: ["org.test.a", "org.test.b"] });
    expect((await t.kit.callTool("org.test.a.echo", {})).error).toMatchObject({ error_code: "POLICY_DENIED", details: { rule: "no-echo", line: 1 } });
    expect(t.pid("org.test.a")).toBe(before);
    expect(t.kit.tools("openai").text).not.toContain("org_test_a_echo");
  });

  it("denies everything when the policy cannot be loaded at the first start", async () => {
    t = await startKit({ "topology/topology.yaml": topology(APPS), "topology/policies/p.yaml": "rules:\n  - {id: x, tools: ['a.*'], action: allow\n" });
    expect(t.kit.status().policy.loaded).toBe(false);
    expect((await t.kit.callTool("org.test.a.echo", {})).error?.error_code).toBe("POLICY_DENIED");
    await t.workspace.write("topology/policies/p.yaml", LOW);
    expect((await t.kit.reload()).result).toBe("applied");
    expect((await t.kit.callTool("org.test.a.echo", {})).ok).toBe(true);
  });

  it("starts the changed server beside the old one: a running call finishes on the old, the next runs on the new", async () => {
    await start({ ...APPS, "org.test.b": scriptedApp(slow(1_500)) });
    const old = t.pid("org.test.b");
    const running = t.kit.callTool("org.test.b.echo", {});
    await until(() => t.kit.status().apps.find((a) => a.package === "org.test.b")?.calls === 1);
    await t.workspace.write("topology/topology.yaml", topology(APPS));
    await t.kit.reload();
    await until(() => t.pid("org.test.b") !== old);
    expect((await t.kit.callTool("org.test.b.echo", {})).ok).toBe(true);
    expect((await running).result).toEqual({ content: [{ type: "text", text: "done" }] });
    await until(async () => !(await isRunning(old!)));
  });

  it("lets a running call of a removed app finish, then stops it", async () => {
    await start({ ...APPS, "org.test.b": scriptedApp(slow(1_000)) });
    const pid = t.pid("org.test.b");
    const running = t.kit.callTool("org.test.b.echo", {});
    await until(() => t.kit.status().apps.find((a) => a.package === "org.test.b")?.calls === 1);
    await t.workspace.write("topology/topology.yaml", topology({ "org.test.a": APPS["org.test.a"] }));
    await t.kit.reload();
    expect((await t.kit.callTool("org.test.b.echo", {})).error?.error_code).toBe("TOOL_NOT_FOUND");
    expect((await running).ok).toBe(true);
    await until(async () => !(await isRunning(pid!)));
  });

  it("ends a call with APP_REMOVED when the drain limit is over", async () => {
    await start({ ...APPS, "org.test.b": scriptedApp(slow(8_000), { drain_timeout: "300ms" }) });
    const running = t.kit.callTool("org.test.b.echo", {});
    await until(() => t.kit.status().apps.find((a) => a.package === "org.test.b")?.calls === 1);
    await t.workspace.write("topology/topology.yaml", topology({ "org.test.a": APPS["org.test.a"] }));
    await t.kit.reload();
    expect(await running).toMatchObject({ outcome: "unknown", error: { error_code: "APP_REMOVED" } });
  });

  it("keeps the running server when the changed one does not start", async () => {
    await start();
    const before = t.pid("org.test.b");
    await t.workspace.write("topology/topology.yaml", topology({ ...APPS, "org.test.b": scriptedApp({ on: { start: [{ stderr: "boom\n" }, { exit: 4 }] } }) }));
    await t.kit.reload();
    await until(() => t.kit.status().apps.find((a) => a.package === "org.test.b")?.reason !== null);
    const status = t.kit.status().apps.find((a) => a.package === "org.test.b")!;
    expect(status).toMatchObject({ state: "ready", pid: before });
    expect(status.reason).toContain("did not start");
    expect((await t.kit.callTool("org.test.b.echo", {})).ok).toBe(true);
  });

  it("stop_first: the old server goes first, and comes back when the new one does not start", async () => {
    const first = (script: object): object => scriptedApp(script, { mcp: { handover: "stop_first" } });
    await start({ ...APPS, "org.test.b": first({}) });
    const before = t.pid("org.test.b");
    await t.workspace.write("topology/topology.yaml", topology({ ...APPS, "org.test.b": first({ on: { start: [{ exit: 4 }] } }) }));
    await t.kit.reload();
    await until(
      () =>
        t.kit
          .status()
          .apps.find((a) => a.package === "org.test.b")
          ?.reason?.includes("was started again") === true,
    );
    expect(await isRunning(before!)).toBe(false);
    expect((await t.kit.callTool("org.test.b.echo", {})).ok).toBe(true);
  });

  it("ends with one process of the last configuration after many quick saves during a slow start", async () => {
    await start();
    // Other tests run servers of their own meanwhile: only those with this mark count.
    const mark = `saves-${process.pid}-${Date.now()}`;
    const script = (n: number): object => ({ on: { start: [{ delay: 400 }] }, mark, n });
    for (let n = 1; n <= 5; n += 1) {
      await t.workspace.write("topology/topology.yaml", topology({ ...APPS, "org.test.b": scriptedApp(script(n)) }));
      await t.kit.reload();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await until(
      () =>
        t.kit.status().apps.find((a) => a.package === "org.test.b")?.state === "ready" &&
        t.kit.status().apps.find((a) => a.package === "org.test.b")!.restarts > 0,
    );
    const pid = t.pid("org.test.b")!;
    await until(async () => (await commandLines()).filter((line) => line.text.includes(mark)).length === 1);
    const lines = (await commandLines()).filter((line) => line.text.includes(mark));
    expect(lines).toMatchObject([{ pid, text: expect.stringContaining('"n":5') }]);
  });

  it("parks an app with a broken manifest alone; one that ran goes on with its last good version", async () => {
    const manifest = (name: string): string => JSON.stringify({ package: name, type: "mcp-server", mcp: (scriptedApp({}) as { mcp: object }).mcp });
    t = await startKit({
      "topology/topology.yaml": topology({}, { discover: [{ glob: "../apps/*/manifest.yaml", trusted: true }] }),
      "topology/policies/p.yaml": LOW,
      "apps/x/manifest.yaml": manifest("org.test.x"),
      "apps/y/manifest.yaml": manifest("org.test.y"),
    });
    const pid = t.pid("org.test.x");
    await t.workspace.write("apps/x/manifest.yaml", manifest("org.test.x").replace('"mcp":', '"mpc":'));
    const result = await t.kit.reload();
    expect(result.result).toBe("partial");
    expect(t.pid("org.test.x")).toBe(pid);
    expect(t.kit.status().apps.find((a) => a.package === "org.test.x")).toMatchObject({
      state: "ready",
      reason: expect.stringContaining("last good version runs on"),
    });
    expect((await t.kit.callTool("org.test.y.echo", {})).ok).toBe(true);
    await rm(`${t.workspace.root}/apps/x`, { recursive: true });
    await t.kit.reload();
    await until(async () => !(await isRunning(pid!)));
    expect(t.kit.status().apps.map((a) => a.package)).toEqual(["org.test.y"]);
  });

  it("status has the warnings of the files with their places, apart from errors and free of secrets", async () => {
    await start();
    expect(t.kit.status().config.warnings).toEqual([]);
    await t.workspace.write(
      "topology/topology.yaml",
      topology(APPS, { policies: ["none-*.yaml"], inbox: { webhook: { url: "https://ann:literal-secret-77@127.0.0.1:9/" } } }),
    );
    const result = await t.kit.reload();
    expect(result.errors).toEqual([]);
    const { config } = t.kit.status();
    expect(config).toMatchObject({ state: "applied", errors: [] });
    expect(config.warnings).toEqual(result.warnings);
    expect(config.warnings).toContainEqual(
      expect.objectContaining({ code: "unmatched-pattern", file: "topology/topology.yaml", line: expect.any(Number), column: expect.any(Number) }),
    );
    expect(config.warnings).toContainEqual(expect.objectContaining({ code: "literal-secret", path: "inbox.webhook.url" }));
    expect(JSON.stringify([result, config])).not.toContain("literal-secret-77");
    await t.workspace.write("topology/topology.yaml", topology(APPS));
    await t.kit.reload();
    expect(t.kit.status().config.warnings).toEqual([]);
  });

  it("names the rules that a reload takes away, in plan, result and log, once", async () => {
    const said: string[] = [];
    const log: Logger = { debug: () => {}, info: () => {}, warn: (_fields, text) => said.push(text), error: () => {}, child: () => log };
    t = await startKit({ "topology/topology.yaml": topology(APPS), "topology/policies/p.yaml": LOW }, { log });
    const policies = `${t.workspace.root}/topology/policies`;
    const gone = (result: { readonly warnings: readonly { readonly message: string }[] }): string[] =>
      result.warnings.map((w) => w.message).filter((message) => message.endsWith(" is gone"));
    await rename(`${policies}/p.yaml`, `${policies}/other.yaml`);
    expect(gone(await t.kit.reload())).toEqual([]);
    await rename(`${policies}/other.yaml`, `${policies}/other.yml`);
    const expected = [expect.stringMatching(/^rule all-low \(topology\/policies\/(p|other)\.yaml:1\) is gone$/)];
    expect(gone(await t.kit.plan())).toEqual(expected);
    expect(said.filter((line) => line.endsWith(" is gone"))).toEqual([]);
    expect(gone(await t.kit.reload())).toEqual(expected);
    expect(gone(await t.kit.reload())).toEqual([]);
    expect(said.filter((line) => line.endsWith(" is gone"))).toEqual(expected);
  });

  it.skipIf(process.platform === "win32")("keeps every rule while the policies' folder cannot be looked through, and holds no manifest back", async () => {
    const manifest = (id: string): string => JSON.stringify({ package: id, ...(scriptedApp({}) as object) });
    const deny = JSON.stringify({ rules: [{ id: "no-echo", tools: ["echo"], action: "deny" }] });
    t = await startKit({
      "topology/topology.yaml": topology({}, { discover: ["../apps/*/manifest.yaml"] }),
      "topology/policies/p.yaml": deny,
      "apps/x/manifest.yaml": manifest("org.test.x"),
    });
    const policies = `${t.workspace.root}/topology/policies`;
    await rename(policies, `${policies}-away`);
    await symlink("nowhere", policies);
    await t.workspace.write("apps/y/manifest.yaml", manifest("org.test.y"));
    const result = await t.kit.reload();
    expect(result).toMatchObject({ result: "partial", changes: { start: ["org.test.y"], policy: false }, errors: [{ code: "folder-unreadable" }] });
    expect((await t.kit.callTool("org.test.x.echo", {})).error?.message).toContain("rule no-echo");
    // The same for the folder of the manifests: no app is stopped for it.
    await rename(`${policies}-away`, `${policies}-2`);
    await rm(policies);
    await rename(`${policies}-2`, policies);
    await rename(`${t.workspace.root}/apps`, `${t.workspace.root}/apps-away`);
    await t.workspace.write("apps", "");
    expect(await t.kit.reload()).toMatchObject({
      result: "rejected",
      changes: { stop: [], empty: true },
      errors: [{ code: "folder-unreadable", path: "discover[0]" }],
    });
  });

  it.each(["auto", "confirm"])("names settings that wait for a restart of the host until they are back, under reload: %s", async (reload) => {
    const said: string[] = [];
    const log: Logger = {
      debug: () => {},
      info: (_fields, text) => said.push(text),
      warn: (_fields, text) => said.push(text),
      error: () => {},
      child: () => log,
    };
    const text = (more: object): string => topology(APPS, { reload, ...more });
    t = await startKit({ "topology/topology.yaml": text({}), "topology/policies/p.yaml": LOW }, { log });
    const told = (): string[] => said.splice(0).filter((line) => line.includes("restart"));
    const named = async () => [(await t.kit.reload({ apply: true })).changes.host, (await t.kit.plan()).report["host"], t.kit.status().config.host_changes];
    said.length = 0;

    await t.workspace.write("topology/topology.yaml", text({ audit: { file: "../data/other.jsonl" } }));
    expect((await t.kit.plan()).changes).toMatchObject({ host: ["audit.file"], empty: false });
    expect(await named()).toEqual([["audit.file"], ["audit.file"], ["audit.file"]]);
    expect(told()).toEqual(["these settings change only when the host is restarted"]);
    // What waits is still named when the files are looked at again, and with other changes; but it is news only once.
    expect(await t.kit.reload()).toMatchObject({ result: "unchanged", revision: 2, changes: { host: ["audit.file"], empty: false } });
    expect((await t.kit.plan()).report).toMatchObject({ changes: 1, host: ["audit.file"] });
    await t.workspace.write("topology/policies/p.yaml", LOW.replace("all-low", "low"));
    expect(await named()).toEqual([["audit.file"], ["audit.file"], ["audit.file"]]);
    expect(told()).toEqual([]);

    await t.workspace.write("topology/topology.yaml", text({}));
    expect((await t.kit.plan()).changes).toMatchObject({ host: [], empty: true });
    expect(await named()).toEqual([[], [], []]);
    expect(told()).toEqual(["no setting waits for a restart of the host any more"]);
  });

  it("waits for a person's leave under reload: confirm", async () => {
    t = await startKit({ "topology/topology.yaml": topology(APPS, { reload: "confirm" }), "topology/policies/p.yaml": LOW });
    await t.workspace.write("topology/topology.yaml", topology({ ...APPS, "org.test.c": scriptedApp({}) }, { reload: "confirm" }));
    expect((await t.kit.reload()).result).toBe("pending");
    expect(t.kit.status().apps).toHaveLength(2);
    expect(t.kit.status().config.state).toBe("pending");
    expect((await t.kit.reload({ apply: true })).result).toBe("applied");
    await ready("org.test.c");
  });

  it("shows in a plan how an app would restart", async () => {
    await start();
    const changed = (more: object): string => topology({ ...APPS, "org.test.a": scriptedApp({}, { mcp: { env: { CHANGED: "1" }, ...more } }) });
    for (const handover of ["overlap", "stop_first"]) {
      await t.workspace.write("topology/topology.yaml", changed({ handover }));
      expect((await t.kit.plan()).report).toMatchObject({ apps: { restart: ["org.test.a"] }, handover: { "org.test.a": handover } });
    }
  });

  it("shows in a plan what would happen, and does nothing", async () => {
    await start();
    await t.workspace.write("topology/topology.yaml", topology({ "org.test.a": APPS["org.test.a"], "org.test.c": scriptedApp({}) }));
    await t.workspace.write("topology/policies/p.yaml", JSON.stringify({ rules: [{ id: "a-high", apps: ["org.test.a"], risk: "high" }] }));
    const plan = await t.kit.plan();
    expect(plan.report).toMatchObject({ apps: { start: ["org.test.c"], stop: ["org.test.b"], unchanged: ["org.test.a"] }, policy: true });
    expect((plan.report["tools"] as { changed: { name: string; risk: string[] }[] }).changed).toContainEqual(
      expect.objectContaining({ name: "org.test.a.echo", risk: ["low", "high"] }),
    );
    expect((plan.report["tools"] as { removed: string[] }).removed).toContain("org.test.b.echo");
    expect(t.kit.status().apps.map((a) => a.package)).toEqual(["org.test.a", "org.test.b"]);
  });
});

async function commandLines(): Promise<{ pid: number; text: string }[]> {
  const { readdir, readFile } = await import("node:fs/promises");
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const lines = await Promise.all(
    pids.map(async (pid) => ({ pid, text: (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ") })),
  );
  const alive = await Promise.all(lines.map(async (line) => line.text.includes("scripted.mjs") && (await isRunning(line.pid))));
  return lines.filter((_, i) => alive[i]);
}
