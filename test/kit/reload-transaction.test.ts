import { mkdir, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Logger } from "../../src/kit-api.ts";
import { createKit } from "../../src/kit.ts";
import { isRunning, scriptedApp, startKit, topologyText, until, type TestKit } from "../support/kit.ts";
import { makeWorkspace } from "../support/workspace.ts";

const LOW = "rules:\n  - { id: all-low, tools: ['*'], risk: low }\n";
const mcpOf = (script: object, more: object = {}): object => ({ ...(scriptedApp(script) as { mcp: object }).mcp, ...more });
const manifest = (name: string, script: object = {}, more: object = {}): string =>
  JSON.stringify({ package: name, type: "mcp-server", trust: "high", mcp: mcpOf(script), ...more }, null, 1);
const DISCOVER = { discover: [{ glob: "../apps/*/manifest.yaml", trusted: true }], policies: ["policies/*.yaml"], signals: ["signals/*.yaml"] };

let t: TestKit;
afterEach(() => t.stop());
const app = (name: string) => t.kit.status().apps.find((a) => a.package === name);
const call = (name: string) => t.kit.callTool(`${name}.echo`, {});
const configEvents = async (): Promise<string[]> =>
  (await t.inbox()).filter((e) => e.payload.type.startsWith("config.")).map((e) => `${e.payload.type}: ${e.payload.summary}`);
const start = async (files: Record<string, string> = {}, options: { watch?: boolean; topology?: object } = {}): Promise<void> => {
  const all = {
    "topology/topology.yaml": topologyText({}, { ...DISCOVER, ...options.topology }),
    "topology/policies/p.yaml": LOW,
    "apps/a/manifest.yaml": manifest("org.a"),
    "apps/b/manifest.yaml": manifest("org.b"),
    ...files,
  };
  t = await startKit(all, { watch: options.watch ?? false });
};

describe("the unit and the apps beside it", () => {
  it("takes a changed manifest over while a policy is broken, and the policy's last good state stays", async () => {
    await start();
    await t.workspace.write("topology/policies/p.yaml", "rules: [");
    await t.workspace.write("apps/b/manifest.yaml", manifest("org.b", {}, { call_timeout: "3s" }));
    await t.workspace.write("apps/c/manifest.yaml", manifest("org.c"));
    const result = await t.kit.reload();
    expect(result).toMatchObject({
      result: "partial",
      changes: { start: ["org.c"], live: ["org.b"], policy: false },
      errors: [{ file: "topology/policies/p.yaml" }],
    });
    expect(t.kit.status().config.state).toBe("rejected");
    await until(() => app("org.c")?.state === "ready");
    expect((await call("org.c")).ok).toBe(true);
    expect((await t.kit.reload()).result).toBe("rejected");
  });

  it("does so while topology.yaml itself cannot be read as YAML", async () => {
    await start();
    await t.workspace.write("topology/topology.yaml", "topology: 1\n\tx: [");
    await t.workspace.write("apps/c/manifest.yaml", manifest("org.c"));
    await rm(path.join(t.workspace.root, "apps/b"), { recursive: true });
    expect(await t.kit.reload()).toMatchObject({ result: "partial", changes: { start: ["org.c"], stop: ["org.b"] } });
    await t.workspace.write("topology/topology.yaml", topologyText({}, DISCOVER));
    expect(await t.kit.reload()).toMatchObject({ result: "unchanged", errors: [] });
  });

  it("keeps an app whose broken manifest lost even its package, although topology.yaml has an entry for it", async () => {
    await start({}, { topology: { apps: { "org.a": { env: { X: "1" } } } } });
    const pid = t.pid("org.a");
    await t.workspace.write("apps/a/manifest.yaml", "{ pack");
    expect((await t.kit.reload()).result).toBe("partial");
    expect(app("org.a")).toMatchObject({ state: "ready", pid });
    await t.workspace.write("apps/b/manifest.yaml", manifest("org.b", {}, { call_timeout: "3s" }));
    expect((await t.kit.reload()).changes.live).toEqual(["org.b"]);
  });

  it("stops an app whose folder is deleted, and starts it again when the folder is back", async () => {
    await start({}, { watch: true });
    const pid = t.pid("org.b")!;
    await rm(path.join(t.workspace.root, "apps/b"), { recursive: true });
    await until(async () => app("org.b") === undefined && !(await isRunning(pid)));
    await t.workspace.write("apps/b/manifest.yaml", manifest("org.b"));
    await until(() => app("org.b")?.state === "ready");
    expect(t.pid("org.b")).not.toBe(pid);
  });

  it("sees files in folders that did not exist, for apps, policies and signals, and follows a rename", async () => {
    await start({}, { watch: true, topology: { policies: ["policies/*.yaml", "more/policies/*.yaml"], signals: ["later/*.yaml"] } });
    const pid = t.pid("org.a");
    await t.workspace.write("topology/more/policies/q.yaml", "rules:\n  - { id: no-b, apps: [org.b], tools: ['*'], action: deny }\n");
    await t.workspace.write("topology/later/s.yaml", "rules:\n  - { id: no-started, when: { kind: lifecycle, method: started }, drop: true }\n");
    await t.workspace.write("apps/new/manifest.yaml", manifest("org.new"));
    await until(() => app("org.new")?.state === "ready");
    await until(async () => (await call("org.b")).error?.error_code === "POLICY_DENIED");
    const root = t.workspace.root;
    await rename(path.join(root, "topology/more/policies/q.yaml"), path.join(root, "topology/more/policies/a.yaml"));
    await rename(path.join(root, "apps/new"), path.join(root, "apps/newer"));
    await until(async () => String((await call("org.b")).error?.message).includes("more/policies/a.yaml"));
    await until(() => app("org.new")?.source === "apps/newer/manifest.yaml");
    expect(t.pid("org.a")).toBe(pid);
    expect((await t.inbox()).filter((e) => e.payload.type === "lifecycle.started" && e.header.source.app === "org.new")).toEqual([]);
  });
});

describe("what is told", () => {
  it("tells a fault once, its end once, and also when the edit is only taken back", async () => {
    await start();
    const good = topologyText({}, DISCOVER);
    await t.workspace.write("topology/topology.yaml", good.replace("data_dir", "data_dirr"));
    expect((await t.kit.reload()).result).toBe("rejected");
    expect((await t.kit.reload()).result).toBe("rejected");
    await t.workspace.write("topology/topology.yaml", good);
    expect((await t.kit.reload()).result).toBe("unchanged");
    await until(async () => (await configEvents()).length >= 2);
    expect(await configEvents()).toEqual([
      "config.rejected: configuration rejected; the last good one stays",
      "config.applied: configuration valid again; what runs is what it says",
    ]);
    const [rejected] = (await t.inbox()).filter((e) => e.payload.type === "config.rejected");
    expect(JSON.stringify(rejected)).toContain("did you mean");
  });

  it("tells a broken manifest as rejected too", async () => {
    await start();
    await t.workspace.write("apps/b/manifest.yaml", manifest("org.b").replace('"mcp"', '"mpc"'));
    await t.kit.reload();
    await until(async () => (await configEvents()).length >= 1);
    expect(await configEvents()).toEqual(["config.rejected: part of the configuration was rejected; its last good version stays"]);
  });

  it("explains with the place where a rule stands now, after an edit that changes nothing else", async () => {
    await start({ "topology/policies/p.yaml": "rules:\n  - { id: no-a, apps: [org.a], action: deny }\n" });
    await t.workspace.write("topology/policies/p.yaml", "# two\n# lines\nrules:\n  - { id: no-a, apps: [org.a], action: deny }\n");
    expect((await t.kit.reload()).result).toBe("unchanged");
    expect((await call("org.a")).error?.details).toMatchObject({ rule: "no-a", line: 4 });
  });
});

describe("what a restart is for, and what not", () => {
  it("consumes a change once: a later edit of b does not restart a again", async () => {
    await start();
    await t.workspace.write("apps/a/manifest.yaml", manifest("org.a", {}, { env: { X: "1" } }));
    expect((await t.kit.reload()).changes.restart).toEqual(["org.a"]);
    await until(() => app("org.a")!.restarts === 1);
    const pid = t.pid("org.a");
    for (const value of ["1", "2"]) {
      await t.workspace.write("apps/b/manifest.yaml", manifest("org.b", {}, { env: { X: value } }));
      expect((await t.kit.reload()).changes).toMatchObject({ restart: ["org.b"], unchanged: ["org.a"] });
    }
    expect(t.pid("org.a")).toBe(pid);
  });

  it("restarts an app whose ${file:…} secret changed on the disk, and shows the secret nowhere", async () => {
    await start(
      { "apps/a/token.txt": "first-s3cret-value\n", "apps/a/manifest.yaml": manifest("org.a", {}, { env: { APP_TOKEN: "${file:token.txt}" } }) },
      { watch: true },
    );
    const pid = t.pid("org.a");
    await writeFile(path.join(t.workspace.root, "apps/a/token.txt"), "second-s3cret-value\n");
    await until(() => t.pid("org.a") !== pid && app("org.a")?.state === "ready");
    expect(JSON.stringify([t.kit.status(), await t.inbox(), await t.kit.plan()])).not.toMatch(/(first|second)-s3cret-value/);
  });

  it("lists every server again when the topology's limits of lists change", async () => {
    await start();
    const pid = t.pid("org.a");
    await t.workspace.write("topology/topology.yaml", topologyText({}, { ...DISCOVER, limits: { tools_per_app: 1 } }));
    expect((await t.kit.reload()).changes.relist).toEqual(["org.a", "org.b"]);
    await until(() => app("org.a")!.tools === 1 && app("org.b")!.tools === 1);
    expect(t.pid("org.a")).toBe(pid);
  });

  it("tells a running server its changed log level and subscriptions", async () => {
    const script = {
      hello: { capabilities: { tools: {}, logging: {}, resources: { subscribe: true } } },
      on: {
        "resources/list": [{ result: { resources: [] } }],
        "resources/templates/list": [{ result: { resourceTemplates: [] } }],
        "logging/setLevel": [{ result: {} }],
        "resources/subscribe": [{ result: {} }],
        "resources/unsubscribe": [{ result: {} }],
      },
    };
    await start({ "apps/a/manifest.yaml": manifest("org.a", script, { log_level: "error", subscribe: ["x://1"] }) });
    const pid = t.pid("org.a");
    await t.workspace.write("apps/a/manifest.yaml", manifest("org.a", script, { log_level: "debug", subscribe: ["x://2"] }));
    expect((await t.kit.reload()).changes.live).toEqual(["org.a"]);
    const told = async (): Promise<unknown[]> => {
      const { result } = await t.kit.callTool("org.a.journal", {});
      const lines = JSON.parse((result as { content: { text: string }[] }).content[0]!.text) as { method: string; params?: { level?: string; uri?: string } }[];
      return lines.filter((l) => /setLevel|subscribe/.test(l.method)).map((l) => [l.method, l.params?.level ?? l.params?.uri]);
    };
    await until(async () => (await told()).length >= 5);
    expect(new Set((await told()).map(String))).toEqual(
      new Set(["resources/subscribe,x://1", "logging/setLevel,error", "resources/subscribe,x://2", "resources/unsubscribe,x://1", "logging/setLevel,debug"]),
    );
    expect(t.pid("org.a")).toBe(pid);
  });

  it("judges pins by the changed trust at once", async () => {
    await start();
    expect((await call("org.a")).ok).toBe(true);
    await t.workspace.write("apps/a/manifest.yaml", manifest("org.a", {}, { trust: "low" }));
    await t.kit.reload();
    expect((await call("org.a")).error?.error_code).toBe("TOOL_QUARANTINED");
  });

  it("tries a failed app again when any of its settings change", async () => {
    await start({ "apps/a/manifest.yaml": manifest("org.a", {}, { mcp: mcpOf({ on: { start: [{ exit: 3 }] } }, { restart: { enabled: false } }) }) });
    expect(app("org.a")?.state).toBe("failed");
    await t.workspace.write(
      "apps/a/manifest.yaml",
      manifest("org.a", {}, { mcp: mcpOf({ on: { start: [{ exit: 3 }] } }, { restart: { enabled: true, max_attempts: 9 } }) }),
    );
    expect((await t.kit.reload()).changes.live).toEqual(["org.a"]);
    await until(() => app("org.a")?.state === "backoff");
  });
});

describe("changes that do not come up", () => {
  const stopFirst = (script: object): string => manifest("org.a", {}, { mcp: mcpOf(script, { handover: "stop_first" }) });
  const BAD = { on: { start: [{ exit: 4 }] } };

  it("forgets the fault of a change that is taken back", async () => {
    await start();
    await t.workspace.write("apps/a/manifest.yaml", manifest("org.a", BAD));
    await t.kit.reload();
    await until(() => app("org.a")?.reason?.includes("did not start") === true);
    await t.workspace.write("apps/a/manifest.yaml", manifest("org.a"));
    await t.kit.reload();
    expect(app("org.a")).toMatchObject({ state: "ready", reason: null, restarts: 0 });
  });

  it("goes back to the last good server when the running one dies and the change still does not start", async () => {
    await start();
    await t.workspace.write("apps/a/manifest.yaml", manifest("org.a", BAD));
    await t.kit.reload();
    await until(() => app("org.a")?.reason?.includes("the running server was kept") === true);
    const pid = t.pid("org.a")!;
    process.kill(pid, "SIGKILL");
    await until(() => app("org.a")?.state === "ready" && t.pid("org.a") !== pid);
    expect(app("org.a")?.reason).toContain("the old one was started again");
    expect((await call("org.a")).ok).toBe(true);
  });

  it("stop_first: goes back to the last good server even when a first try was overtaken by a second that fails", async () => {
    await start({ "apps/a/manifest.yaml": stopFirst({ n: 0 }) });
    await t.workspace.write("apps/a/manifest.yaml", stopFirst({ on: { start: [{ delay: 3_000 }] } }));
    await t.kit.reload();
    await until(() => app("org.a")?.state === "starting");
    await t.workspace.write("apps/a/manifest.yaml", stopFirst(BAD));
    await t.kit.reload();
    await until(() => app("org.a")?.reason?.includes("was started again") === true);
    expect((await call("org.a")).ok).toBe(true);
  });

  it("stop_first: put back at once after it was taken out, waits for its predecessor", async () => {
    const busy = { on: { "tools/call echo": [{ delay: 1_200 }, { result: { content: [] } }] } };
    await start({ "apps/a/manifest.yaml": stopFirst(busy) });
    const old = t.pid("org.a")!;
    const running = call("org.a");
    await until(() => app("org.a")?.calls === 1);
    await rm(path.join(t.workspace.root, "apps/a"), { recursive: true });
    await t.kit.reload();
    await t.workspace.write("apps/a/manifest.yaml", stopFirst(busy));
    await t.kit.reload();
    while (await isRunning(old)) expect(t.pid("org.a")).toBeNull();
    expect((await running).ok).toBe(true);
    await until(() => app("org.a")?.state === "ready");
  });

  it("stop_first: a call that comes while the old server drains waits for the new one", async () => {
    await start({ "apps/a/manifest.yaml": stopFirst({ on: { "tools/call echo": [{ delay: 1_000 }, { result: { content: [] } }] } }) });
    const running = call("org.a");
    await until(() => app("org.a")?.calls === 1);
    await t.workspace.write("apps/a/manifest.yaml", stopFirst({ n: 1 }));
    await t.kit.reload();
    await until(() => app("org.a")?.state === "stopping");
    const next = call("org.a");
    expect((await running).ok).toBe(true);
    expect((await next).ok).toBe(true);
  });

  it("closes in time although an old generation still drains", async () => {
    await start({ "apps/a/manifest.yaml": manifest("org.a", { on: { "tools/call echo": [{ delay: 60_000 }] } }) });
    const old = t.pid("org.a")!;
    const running = call("org.a");
    await until(() => app("org.a")?.calls === 1);
    await t.workspace.write("apps/a/manifest.yaml", manifest("org.a"));
    await t.kit.reload();
    await until(() => t.pid("org.a") !== old && app("org.a")?.state === "ready");
    const begun = performance.now();
    await t.kit.close();
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(await isRunning(old)).toBe(false);
    expect((await running).ok).toBe(false);
  });

  it("leaves nothing running when the host closes in the middle of a reload", async () => {
    await start();
    await t.workspace.write("apps/c/manifest.yaml", manifest("org.c"));
    const reload = t.kit.reload();
    await t.kit.close();
    await reload.catch(() => undefined);
    expect((await commandsUnder(t.workspace.root)).length).toBe(0);
  });
});

describe("plan", () => {
  it("shows rules, mappings, tokens and calls in flight, and what is wrong", async () => {
    await start({ "apps/b/manifest.yaml": manifest("org.b", { on: { "tools/call echo": [{ delay: 1_500 }, { result: { content: [] } }] } }) });
    const running = call("org.b");
    await until(() => app("org.b")?.calls === 1);
    await rm(path.join(t.workspace.root, "apps/b"), { recursive: true });
    await t.workspace.write(
      "topology/policies/p.yaml",
      "rules:\n  - { id: all-low, tools: ['*'], risk: medium }\n  - { id: new, tools: ['x'], action: deny }\ndata_flow: { action: deny }\n",
    );
    await t.workspace.write("topology/signals/s.yaml", "rules:\n  - { id: m, when: { method: x }, drop: true }\n");
    const { report } = await t.kit.plan();
    expect(report).toMatchObject({
      apps: { stop: ["org.b"] },
      calls_in_flight: { "org.b": 1 },
      rules: { added: ["new"], removed: [], changed: ["all-low"] },
      policy_settings: ["data_flow"],
      mappings: { added: ["m"] },
      errors: [],
    });
    const { before, after } = (report["tools"] as { tokens: { before: number; after: number } }).tokens;
    expect(before).toBeGreaterThan(after);
    expect(after).toBeGreaterThan(0);
    expect((await running).ok).toBe(true);
    await mkdir(path.join(t.workspace.root, "apps/d"), { recursive: true });
    await t.workspace.write("apps/d/manifest.yaml", "package: [");
    expect((await t.kit.plan()).report["errors"]).toMatchObject([{ file: "apps/d/manifest.yaml" }]);
  });
});

/** Servers whose environment was made in this workspace still running, by their working directory. */
async function commandsUnder(root: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(pids.map(async (pid) => ((await isRunning(Number(pid))) ? readlink(`/proc/${pid}/cwd`).catch(() => "") : "")));
  return folders.filter((folder) => folder.startsWith(root));
}

describe("processes and secrets", () => {
  it("has one process after ten edits in a row, each while the one before may still start", async () => {
    await start();
    for (let n = 1; n <= 10; n += 1) {
      await t.workspace.write("apps/b/manifest.yaml", manifest("org.b", {}, { env: { N: String(n) } }));
      await t.kit.reload();
      await new Promise((resolve) => setTimeout(resolve, (n % 3) * 250));
    }
    await until(async () => app("org.b")?.state === "ready" && (await commandsUnder(t.workspace.root)).length === 2);
    const { result } = await t.kit.callTool("org.b.journal", {});
    expect(result).toBeDefined();
    expect(await environmentOf(t.pid("org.b")!)).toContain("N=10");
  });

  it("shows a secret nowhere, although a command line, an environment and a server's last words hold it", async () => {
    const said: unknown[] = [];
    const log = Object.fromEntries(
      ["debug", "info", "warn", "error"].map((level) => [level, (...line: unknown[]) => void said.push(line)]),
    ) as unknown as Logger;
    (log as { child: unknown }).child = () => log;
    const workspace = await makeWorkspace({
      "topology/topology.yaml": topologyText({
        "org.gone": { mcp: { command: "no-such-command", args: ["--key=${DEMO_KEY}"], env: { GIT_PAT: "${DEMO_KEY}" } } },
        "org.loud": {
          mcp: {
            command: "node",
            args: ["-e", "console.error('key', process.env.GIT_PAT, process.argv); process.exit(1)", "x", "--key=${DEMO_KEY}"],
            env: { GIT_PAT: "${DEMO_KEY}" },
          },
        },
      }),
    });
    const kit = createKit({ topology: workspace.topology, watch: false, env: { ...process.env, DEMO_KEY: "zz-canary-123" }, log });
    t = { kit, workspace, stop: async () => (await kit.close(), workspace.remove()) } as TestKit;
    await kit.start();
    await until(() => kit.status().apps.every((row) => row.state !== "starting"));
    await workspace.write("topology/topology.yaml", `${await readFile(workspace.topology, "utf8")} x`);
    said.push(await kit.reload(), await kit.plan(), kit.status(), kit.appLog("org.loud"), kit.appLog("org.gone"));
    expect(kit.appLog("org.loud").join("\n")).toContain("key ***");
    await kit.close();
    const files = (await readdir(path.join(workspace.root, "data"), { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    for (const file of files) said.push(await readFile(path.join(file.parentPath, file.name), "utf8"));
    expect(files.length).toBeGreaterThan(2);
    expect(JSON.stringify(said)).not.toContain("zz-canary-123");
  });
});

async function environmentOf(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0");
}
