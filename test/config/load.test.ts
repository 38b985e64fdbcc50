import { describe, expect, test } from "vitest";
import { createLoader, loadConfig, type DiscoveredPatterns } from "../../src/config/load.ts";
import type { AppConfig, Config, LoadContext, ParkedApp, SourceText } from "../../src/config/types.ts";
import { contextOf, fileSet, lines, load, withManifest, withTopology, type Workspace } from "./workspace.ts";
import { VALID, withFile } from "./valid-workspace.ts";

const DENIED = { code: "file-unreadable", reason: "cannot be read: permission denied" } as const;

function config(workspace: Workspace): Config {
  const result = load(workspace);
  if (!result.config) throw new Error(lines(result).join("\n"));
  return result.config;
}

function app(workspace: Workspace, name: string): AppConfig {
  const found = config(workspace).apps.find((a) => a.package === name);
  if (found?.kind !== "app") throw new Error(`${name} is ${JSON.stringify(found)}`);
  return found;
}

const two = (manifest: string, topology: string, more: Partial<Workspace> = {}): Workspace => ({
  ...more,
  files: { "topology/topology.yaml": `topology: 1\n${topology}`, "apps/demo/manifest.yaml": manifest, ...more.files },
});

test("the guide's manifest is taken as it stands", () => {
  const guide = `package: im.polaris.weather
name: 天气应用
version: 0.2.0
type: mcp-server

mcp:
  transport: stdio
  entry: mcp_server.py
  command: ["uv", "run", "python"]
  args: ["apps/aurora-app-weather/mcp_server.py"]
  env:
    AURORA_APP_CONFIG: "apps/aurora-app-weather/config.json"
  health_timeout: 10
  restart:
    enabled: true
    max_attempts: 3
    backoff_seconds: 2

commands:
  - name: get_weather
    description: 查询指定城市天气
`;
  expect(lines(load(withManifest(guide)))).toEqual([]);
  expect(app(withManifest(guide), "im.polaris.weather")).toMatchObject({
    dir: "/ws/apps/demo",
    display: "apps/demo/manifest.yaml",
    trusted: false,
    fromManifest: true,
    settings: {
      version: "0.2.0",
      mcp: {
        cwd: "/ws",
        entry: "/ws/apps/demo/mcp_server.py",
        args: ["apps/aurora-app-weather/mcp_server.py"],
        env: { AURORA_APP_CONFIG: "apps/aurora-app-weather/config.json" },
      },
    },
  });
});

describe("manifest and topology together", () => {
  const manifest =
    "package: a\nname: A\nmcp: { command: [node, x.js], args: [p, q], env: { ONE: m, TWO: m, GONE: m }, restart: { enabled: true, max_attempts: 3 } }\nenv: { TWO: top }\ntools: { exclude: [x], rename: { a: b } }\n";

  test("maps merge, null removes, scalars and lists replace", () => {
    const merged = app(
      two(
        manifest,
        "apps:\n  a:\n    name: B\n    mcp: { args: [r], env: { ONE: t, GONE: null }, restart: { max_attempts: 5 } }\n    env: { THREE: top }\n    tools: { exclude: null, rename: { c: d } }\n",
      ),
      "a",
    );
    expect(merged.settings).toMatchObject({ name: "B", mcp: { command: ["node", "x.js"], args: ["r"], restart: { enabled: true, max_attempts: 5 } } });
    expect(merged.settings.mcp!.env).toEqual({ ONE: "t", TWO: "top", THREE: "top" });
    expect(merged.settings.tools).toEqual({ rename: { a: "b", c: "d" } });
    expect(merged.settings.env).toBeUndefined();
  });

  test("every setting is found where it is written", () => {
    const merged = app(two(manifest, "apps:\n  a:\n    name: B\n    env: { THREE: top }\n"), "a");
    expect(merged.place(["name"])).toMatchObject({ file: "topology/topology.yaml", line: 4, column: 11 });
    expect(merged.place(["mcp", "env", "THREE"], "key")).toMatchObject({ file: "topology/topology.yaml", line: 5, column: 12 });
    expect(merged.place(["mcp", "env", "TWO"])).toMatchObject({ file: "apps/demo/manifest.yaml", line: 4 });
    expect(merged.place(["mcp", "args", 1])).toMatchObject({ file: "apps/demo/manifest.yaml", line: 3, column: 41 });
    expect(merged.place(["mcp", "cwd"])).toMatchObject({ file: "apps/demo/manifest.yaml", line: 3, column: 1 });
  });

  test("a manifest's transport can be changed from the topology", () => {
    expect(app(two("package: a\nmcp: { command: node }\n", "apps: { a: { mcp: { command: null, url: 'https://x/mcp' } } }\n"), "a").settings.mcp).toEqual({
      transport: "http",
      url: "https://x/mcp",
    });
    const both = load(two("package: a\nmcp: { command: node }\n", "apps: { a: { mcp: { url: 'https://x/mcp' } } }\n"));
    expect(both.diagnostics[0]).toMatchObject({
      code: "two-transports",
      path: "apps.a.mcp.url",
      place: { file: "topology/topology.yaml", line: 2 },
      related: [{ place: { file: "apps/demo/manifest.yaml" } }],
    });
    expect(both.unitOk).toBe(true);
  });

  test("null has no meaning in a manifest", () => {
    expect(lines(load(withManifest("package: a\nmcp: { command: node, env: { A: null } }\n")))[0]).toContain(
      "error[wrong-type] env.A is null; it must be a text",
    );
  });

  test("an app needs no manifest", () => {
    expect(app(withTopology("topology: 1\napps:\n  org.x:\n    mcp: { url: 'https://x/mcp', headers: { A: null, B: c } }\n"), "org.x")).toMatchObject({
      display: "topology/topology.yaml",
      dir: "/ws/topology",
      fromManifest: false,
      trusted: false,
      settings: { package: "org.x", mcp: { transport: "http", headers: { B: "c" } } },
    });
  });
});

describe("paths", () => {
  test("are resolved against the file that writes them", () => {
    const resolved = app(
      two(
        "package: a\nmcp: { command: ./bin/run.sh, cwd: ., entry: s.py, args: [./x] }\ngrants: { roots: [data] }\n",
        "apps: { a: { mcp: { entry: ../e.py }, grants: { roots: [../r] } } }\n",
      ),
      "a",
    );
    expect(resolved.settings.mcp).toMatchObject({ command: "/ws/apps/demo/bin/run.sh", cwd: "/ws/apps/demo", entry: "/ws/e.py", args: ["./x"] });
    expect(resolved.settings.grants!.roots).toEqual(["/ws/r"]);
    const listed = app(withTopology("topology: 1\napps: { a: { mcp: { command: [../bin/x, y/z] }, grants: { roots: [file:///srv/x] } } }\n"), "a");
    expect(listed.settings).toMatchObject({ mcp: { command: ["/ws/bin/x", "y/z"], cwd: "/ws" }, grants: { roots: ["file:///srv/x"] } });
  });

  test("a program without a slash is looked up in PATH", () => {
    expect(app(withManifest("package: a\nmcp: { command: node }\n"), "a").settings.mcp!.command).toBe("node");
  });

  test("tls.ca of a manifest", () => {
    expect(app(withManifest("package: a\nmcp: { url: 'https://x/', tls: { ca: ca.pem } }\n"), "a").settings.mcp!.tls).toEqual({ ca: "/ws/apps/demo/ca.pem" });
  });

  test("the topology's own, with the folders that hang on data_dir filled in", () => {
    const full = config(
      withTopology(
        "topology: 1\ndata_dir: ../d\ninbox: { receipts: out }\nexports: [{ format: text, file: x.txt }]\ngateway: { clients: [{ name: a, token_file: t }], tls: { cert: c, key: k } }\n",
      ),
    ).topology.value;
    expect(full).toMatchObject({
      data_dir: "/ws/d",
      inbox: { dir: "/ws/d/kernel/inbox/pending", receipts: "/ws/topology/out" },
      audit: { file: "/ws/d/audit.jsonl" },
      exports: [{ file: "/ws/topology/x.txt" }],
      gateway: { clients: [{ token_file: "/ws/topology/t" }], tls: { cert: "/ws/topology/c", key: "/ws/topology/k" } },
    });
    expect(config(withTopology("topology: 1\ninbox: { receipts: off }\n")).topology.value).toMatchObject({
      data_dir: "/ws/data",
      inbox: { receipts: "off", dir: "/ws/data/kernel/inbox/pending" },
    });
  });
});

describe("an app that is out", () => {
  const state = (workspace: Workspace, name: string): ParkedApp => {
    const found = config(workspace).apps.find((a) => a.package === name);
    if (found?.kind !== "parked") throw new Error(`${name} is not parked`);
    return found;
  };

  test("a bad manifest parks its app and no other", () => {
    const result = load(withFile("apps/bad/manifest.yaml", "package: im.bad\nmcp: { comand: node }\n"));
    expect(result.unitOk).toBe(true);
    expect(result.config!.apps.map((a) => `${a.package} ${a.kind}`)).toEqual(["im.bad parked", "im.polaris.qq app", "org.example.search app"]);
    expect(state(withFile("apps/bad/manifest.yaml", "package: im.bad\nmcp: { comand: node }\n"), "im.bad")).toMatchObject({
      state: "failed",
      reason: 'unknown key "comand" in mcp (apps/bad/manifest.yaml:2)',
      diagnostics: [{ code: "unknown-key" }],
    });
  });

  test("a manifest that is no YAML is still known by its package", () => {
    expect(state(withManifest('package: "im.broken"  # x\nmcp: [\n'), "im.broken").state).toBe("failed");
    expect(state(withManifest("\tnothing\n"), "demo").state).toBe("failed");
  });

  test("a legacy manifest is skipped, whatever else it holds; one that only looks like it is told", () => {
    expect(
      state(withManifest("package: im.old\nname: x\nbrain_version: 1\nruntime: { any: thing }\ncommands: [{ name: a, parameters: [1] }]\n"), "im.old"),
    ).toMatchObject({ state: "skipped", reason: expect.stringContaining("neither type: mcp-server nor mcp") });
    expect(lines(load(withManifest("package: im.old\nmpc: { command: node }\n")))[0]).toContain('did you mean "mcp"?');
    expect(lines(load(withManifest("package: im.old\ncommand: node\n")))[0]).toContain('"command" belongs under "mcp"');
    expect(lines(load(withManifest("package: im.old\ntype: mcp_server\n")))[1]).toContain('did you mean "mcp-server"?');
  });

  test("enabled: false, in either file", () => {
    expect(state(withManifest("package: a\nenabled: false\nmcp: { command: node }\n"), "a")).toMatchObject({
      state: "disabled",
      reason: "enabled: false in apps/demo/manifest.yaml",
    });
    expect(state(two("package: a\nmcp: { command: node }\n", "apps: { a: { enabled: false } }\n"), "a").reason).toBe(
      "enabled: false in topology/topology.yaml",
    );
    expect(app(two("package: a\nenabled: false\nmcp: { command: node }\n", "apps: { a: { enabled: true } }\n"), "a").kind).toBe("app");
  });

  test("a package in two manifests runs from neither, and both places are told", () => {
    const result = load({
      files: {
        "topology/topology.yaml": "topology: 1\n",
        "apps/a/manifest.yaml": "package: x\nmcp: { command: node }\n",
        "apps/b/manifest.yaml": "# b\npackage: x\nmcp: { command: sh }\n",
      },
    });
    expect(result.diagnostics).toMatchObject([
      { code: "duplicate-package", place: { file: "apps/b/manifest.yaml", line: 2 }, related: [{ place: { file: "apps/a/manifest.yaml", line: 1 } }] },
    ]);
    expect(result.config!.apps).toMatchObject([{ kind: "parked", package: "x", state: "failed" }]);
  });

  test("an unreadable manifest", () => {
    const files = {
      ...fileSet(withTopology("topology: 1\n")),
      unreadable: [{ file: "/ws/apps/z/manifest.yaml", display: "apps/z/manifest.yaml", fault: DENIED, role: "manifest" as const }],
    };
    const result = loadConfig(files, contextOf({}));
    expect(result.unitOk).toBe(true);
    expect(result.config!.apps).toMatchObject([{ package: "z", state: "failed", reason: "apps/z/manifest.yaml cannot be read: permission denied" }]);
  });
});

describe("names and trust", () => {
  test.each(["call_timeout: 5", 'env: { A: "1" }', "mcp: { args: [x] }"])("an entry for an app that is not there names the near one: %s", (settings) => {
    const found = lines(load(two("package: im.polaris.weather\nmcp: { command: node }\n", `apps: { im.polaris.wether: { ${settings} } }\n`)));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(
      'topology/topology.yaml:2:9 error[unknown-app] apps names im.polaris.wether, but no manifest declares that package and the entry says not how it is reached | did you mean "im.polaris.weather"?',
    );
  });

  test("an entry of its own that says not how it is reached is no slip when no name is near", () => {
    const found = lines(load(two("package: im.polaris.weather\nmcp: { command: node }\n", 'apps: { org.example.search: { env: { A: "1" } } }\n')));
    expect(found).toEqual([expect.stringContaining("error[no-transport] org.example.search says not how it is reached")]);
  });

  test("an empty entry says that it does nothing", () => {
    expect(lines(load(two("package: a\nmcp: { command: node }\n", "apps:\n  a:\n")))[0]).toContain("3:3 warning[empty-entry] the entry of a is empty");
  });

  test("a package under apps has the form of one", () => {
    expect(lines(load(withTopology("topology: 1\napps: { 'a b': { mcp: { command: node } } }\n")))[0]).toContain(
      'error[bad-format] "a b" is not a dotted name',
    );
  });

  test("trust in a manifest counts only where discover says trusted; in the topology always", () => {
    const text = "package: a\nmcp: { command: node }\ntrust: high\n";
    const untrusted = load(withManifest(text));
    expect(lines(untrusted)[0]).toContain("3:1 warning[trust-ignored] the trust of a is ignored: discover does not say trusted");
    expect(untrusted.config!.apps[0]).toMatchObject({ trusted: false, trustFromTopology: false });
    expect((untrusted.config!.apps[0] as AppConfig).settings.trust).toBeUndefined();
    expect(app(withManifest(text, { trusted: true }), "a")).toMatchObject({ trusted: true, settings: { trust: "high" } });
    expect(app(two(text, "apps: { a: { trust: low } }\n"), "a")).toMatchObject({ trusted: false, trustFromTopology: true, settings: { trust: "low" } });
  });

  test("patterns without a match are a warning at their place", () => {
    const set = { ...fileSet(withTopology("topology: 1\npolicies: [policies/*.yaml]\n")), unmatched: [{ pattern: "policies/*.yaml", path: ["policies", 0] }] };
    expect(lines(loadConfig(set, contextOf({})))).toEqual([
      'topology/topology.yaml:2:12 warning[unmatched-pattern] the pattern "policies/*.yaml" matches no file',
    ]);
    const first = (text: string) =>
      loadConfig({ ...fileSet(withTopology(text)), unmatched: [{ pattern: "a/*", path: ["discover", 0] }] }, contextOf({})).diagnostics[0]?.help?.[0];
    expect(first("topology: 1\ndiscover: [a/*]\n")).toMatch(/^aurora-mcp apps new hello .*import FILE/);
    expect(first("topology: 1\ndiscover: [a/*]\napps: { a: { mcp: { command: node } } }\n")).toBeUndefined();
  });
});

describe("the unit", () => {
  test.each([
    ["topology/topology.yaml", "topology: 1\nnames: x\n"],
    ["topology/policies/main.yaml", "ruels: []\n"],
    ["topology/signals/main.yaml", "rules: [{ id: a }]\n"],
    ["topology/policies/main.yaml", "\t\n"],
  ])("an error in %s is an error of the unit", (name, text) => {
    expect(load(withFile(name, text)).unitOk).toBe(false);
  });

  test("a topology that cannot be used at all gives no config, and the other files are still checked", () => {
    const result = load({ ...VALID, files: { ...VALID.files, "topology/topology.yaml": "topology: [\n", "topology/policies/main.yaml": "ruels: []\n" } });
    expect(result.config).toBeNull();
    expect(new Set(result.diagnostics.map((d) => d.place!.file))).toEqual(new Set(["topology/topology.yaml", "topology/policies/main.yaml"]));
  });

  test("what can be used of a topology with errors is there for further checks, and fits its type", () => {
    const result = load(withTopology("topology: 1\nname: 5\nlimits: { tools_per_app: 5, list_pages: x }\n"));
    expect(result.config!.topology.value).toMatchObject({ topology: 1, limits: { tools_per_app: 5 } });
    expect(result.config!.topology.value.name).toBeUndefined();
  });

  test.each(["policies", "discover"])("files of %s that may be missing are an error of the unit, and no app is called unknown for it", (key) => {
    const fault = { code: "folder-unreadable", message: "apps cannot be read: permission denied", help: "mend it" } as const;
    const set = {
      ...fileSet(withTopology(`topology: 1\n${key}: [a/*.yaml]\napps: { x: {} }\n`)),
      unmatched: [{ pattern: "/a/*.yaml", path: [key, 0], fault }],
    };
    const result = loadConfig(set, contextOf({}));
    expect(result.unitOk).toBe(false);
    expect(lines(result)[0]).toMatch(/^topology\/topology.yaml:2:\d+ error\[folder-unreadable\] apps cannot be read: permission denied \| mend it$/);
    expect(lines(result).some((line) => line.includes("unknown-app"))).toBe(key === "policies");
  });

  test("an unreadable policy file is an error of the unit", () => {
    const files = {
      ...fileSet(withTopology("topology: 1\n")),
      unreadable: [{ file: "/ws/topology/policies/a.yaml", display: "topology/policies/a.yaml", fault: DENIED, role: "policy" as const }],
    };
    expect(loadConfig(files, contextOf({}))).toMatchObject({ unitOk: false, diagnostics: [{ code: "file-unreadable" }] });
  });
});

describe("discovery", () => {
  const discover = (topology: SourceText, env: Record<string, string> = {}): DiscoveredPatterns => createLoader().discover(topology, contextOf({ env }));

  test("patterns are absolute and know where they stand", () => {
    expect(discover({ file: "/ws/topology/topology.yaml", display: "t", text: VALID.files["topology/topology.yaml"]! })).toEqual({
      manifests: [{ pattern: "/ws/apps/*/manifest.yaml", trusted: true, path: ["discover", 0, "glob"] }],
      policies: [{ pattern: "/ws/topology/policies/*.yaml", path: ["policies", 0] }],
      signals: [{ pattern: "/ws/topology/signals/*.yaml", path: ["signals", 0] }],
    });
    const text = "topology: 1\ndiscover: [a.yaml, '${DIR}/b.yaml']\n";
    const source = { file: "/ws/topology/topology.yaml", display: "t", text };
    expect(discover(source, { DIR: "/srv" }).manifests.map((m) => m.pattern)).toEqual(["/ws/topology/a.yaml", "/srv/b.yaml"]);
  });

  test.each(["", "[", "discover: 5\n", "nodes: []\n", "discover: [{}]\n"])("a broken topology gives none: %j", (text) => {
    expect(discover({ file: "/ws/t.yaml", display: "t", text })).toEqual({ manifests: [], policies: [], signals: [] });
  });
});

describe("a loader that remembers", () => {
  const apps = (result: { config: Config | null }): Map<string, AppConfig | ParkedApp> => new Map(result.config!.apps.map((a) => [a.package, a]));

  test("gives the same result as a load from nothing, after any edit", () => {
    const loader = createLoader();
    const steps: Workspace[] = [
      VALID,
      withFile("apps/qq/manifest.yaml", "package: im.polaris.qq\nmcp: { command: node }\n"),
      withFile("topology/policies/main.yaml", "rules: 5\n"),
      VALID,
      { ...VALID, trusted: false },
      { ...VALID, env: { ...VALID.env!, PORT: "1" } },
    ];
    for (const workspace of steps) {
      const remembered = loader.load(fileSet(workspace), contextOf(workspace));
      const fresh = load(workspace);
      expect(JSON.stringify(remembered)).toBe(JSON.stringify(fresh));
    }
  });

  test("looks again at variables and secret files that were used, and only at those", () => {
    const loader = createLoader();
    let reads = 0;
    const context = (env: Record<string, string>, secret: string): LoadContext => ({
      env: { ...VALID.env, ...env },
      readSecretFile: () => {
        reads += 1;
        return secret;
      },
    });
    const first = loader.load(fileSet(VALID), context({}, "one"));
    const again = loader.load(fileSet(VALID), context({ OTHER: "x" }, "one"));
    expect(again.config!.policies[0]!.value).toBe(first.config!.policies[0]!.value);
    expect(reads).toBe(2);
    const changed = loader.load(fileSet(VALID), context({ SEARCH_TOKEN: "another-token" }, "two"));
    expect((apps(changed).get("im.polaris.qq") as AppConfig).settings.mcp!.env!["QQ_TOKEN"]).toBe("two");
    expect((apps(changed).get("org.example.search") as AppConfig).settings.mcp!.headers!["Authorization"]).toBe("Bearer another-token");
  });

  test("a one-line edit among 300 manifests parses one file", () => {
    const files: Record<string, string> = { "topology/topology.yaml": "topology: 1\n" };
    for (let i = 0; i < 300; i += 1)
      files[`apps/a${i}/manifest.yaml`] =
        `package: a${i}\nname: App ${i}\nversion: 1.0.${i}\nmcp:\n  command: [node, server.js]\n  args: ["--n", "${i}"]\n  env: { A: b, C: d }\n  restart: { enabled: true, max_attempts: 3 }\n`;
    const loader = createLoader();
    const time = (workspace: Workspace): number => {
      const set = fileSet(workspace);
      const before = performance.now();
      loader.load(set, contextOf({}));
      return performance.now() - before;
    };
    const cold = time({ files });
    files["apps/a7/manifest.yaml"] = files["apps/a7/manifest.yaml"]!.replace("App 7", "App seven");
    const warm = Math.min(time({ files }), time({ files }));
    expect(warm).toBeLessThan(cold / 3);
  });
});

test("keys such as __proto__ never reach an object of ours", () => {
  load(withManifest('package: a\nmcp: { command: node, env: { "__proto__": x } }\n"constructor": { prototype: { polluted: 1 } }\n'));
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
});
