import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile, symlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { builtCli, runCli, runCliJson, type CliResult } from "../support/built-cli.ts";

// Every command is a process of its own; a busy machine starts them slowly.
vi.setConfig({ testTimeout: 120_000 });

let root: string;
const run = (...args: string[]): Promise<CliResult> => runCli(args, { cwd: root });
const json = (...args: string[]): ReturnType<typeof runCliJson> => runCliJson(args, { cwd: root });

beforeAll(async () => {
  await builtCli();
  root = await realpath(await mkdtemp(path.join(os.tmpdir(), "aurora-cli-")));
}, 120_000);
afterAll(() => rm(root, { recursive: true, force: true }));

describe("a new workspace", () => {
  it("init writes a start that validates without a word", async () => {
    const made = await run("init", "--yes", "--app", "hello", "--listen", "127.0.0.1:0", "--name", 'my "host"');
    expect(made).toMatchObject({ code: 0 });
    expect(await readFile(path.join(root, ".gitignore"), "utf8")).toBe("/data/\n");
    const checked = await json("validate");
    expect(checked).toEqual({ code: 0, value: [] });
    expect((await run("validate")).stdout).toContain(`${root}/apps/aurora-app-hello/mcp-server.mjs`);
  });

  it("points every YAML at the schemas of the package", async () => {
    for (const file of ["topology/topology.yaml", "topology/policies/default.yaml", "topology/signals/example.yaml", "apps/aurora-app-hello/manifest.yaml"]) {
      const [first] = (await readFile(path.join(root, file), "utf8")).split("\n");
      const schema = /^# yaml-language-server: \$schema=(.+)$/.exec(first!)?.[1];
      expect(JSON.parse(await readFile(path.resolve(root, path.dirname(file), schema!), "utf8"))).toHaveProperty("$id");
    }
  });

  it("init without an app leads to one, and so does validate", async () => {
    const empty = await realpath(await mkdtemp(path.join(os.tmpdir(), "aurora-cli-empty-")));
    onTestFinished(() => rm(empty, { recursive: true, force: true }));
    const made = await runCli(["init", "--yes", "--no-app"], { cwd: empty });
    expect(made.stderr).toMatch(/next: {2}aurora-mcp apps new hello .*import FILE.*aurora-mcp validate && aurora-mcp up/);
    expect((await runCli(["validate"], { cwd: empty })).stdout).toMatch(/unmatched-pattern[^]*aurora-mcp apps new hello/);
    expect(await runCli(["apps", "new", "hello"], { cwd: empty })).toMatchObject({ code: 0 });
    expect(await runCliJson(["validate"], { cwd: empty })).toEqual({ code: 0, value: [] });
  });

  it("a file that cannot be read is named plainly", async () => {
    const missing = path.join(root, "nofile");
    expect(await run("import", "nofile")).toMatchObject({ code: 2, stderr: expect.stringContaining(`cannot read the servers: ${missing} does not exist`) });
    expect((await run("policy", "test", "nofile")).stderr).toContain(`cannot read the fixtures: ${missing} does not exist`);
    expect((await run("call", "x", "--args", "@nofile")).stderr).toContain(`cannot read the arguments: ${missing} does not exist`);
    expect((await run("import", "topology")).stderr).toContain("topology is a folder, not a file");
  });

  it("init never replaces a topology", async () => {
    expect(await run("init", "--yes")).toMatchObject({ code: 2, stderr: expect.stringContaining("topology.yaml is there already") });
  });

  it("init writes nothing at all when one of its words or files does not fit", async () => {
    const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), "aurora-init-")));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    for (const [flag, word] of [
      ["--app", "Bad Name"],
      ["--listen", "127.0.0.1:70000"],
      ["--listen", "0.0.0.0:80"],
      ["--listen", "[::]:0"],
      ["--listen", "host.example:7800"],
      ["--name", "x".repeat(101)],
    ])
      expect(await runCli(["init", "--yes", flag!, word!], { cwd: folder })).toMatchObject({ code: 2, stdout: "" });
    expect(await readdir(folder)).toEqual([]);
    const open = await runCli(["init", "--yes", "--listen", "0.0.0.0:80"], { cwd: folder });
    expect(open.stderr).toMatch(/0\.0\.0\.0:80 is open to other machines.*such as 127\.0\.0\.1:7800.*gateway\.tls/s);
    await mkdir(path.join(folder, "topology", "policies"), { recursive: true });
    await writeFile(path.join(folder, "topology", "policies", "default.yaml"), "rules: []\n");
    expect(await runCli(["init", "--yes"], { cwd: folder })).toMatchObject({ code: 2, stderr: expect.stringMatching(/default\.yaml is there already/) });
    expect(await readdir(path.join(folder, "topology"))).toEqual(["policies"]);
  });

  it("import names every package that is there already, and does not claim to have added nothing", async () => {
    const file = path.join(root, "servers.json");
    const names = ["a", "b", "c"];
    await writeFile(file, JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, { url: `https://bob:lit-pw-${name}@h.example/` }])) }));
    const topology = path.join(root, "topology/topology.yaml");
    const before = await readFile(topology, "utf8");
    const first = await run("import", file);
    expect(first.stdout + first.stderr).not.toMatch(/bob|lit-pw/);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("https://${B_CREDENTIALS}@h.example/") });
    const again = await run("import", file);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    for (const name of names) expect(again.stderr).toContain(`already has an entry for imported.${name}`);
    await writeFile(topology, before);
    await writeFile(file, JSON.stringify({ mcpServers: { none: { foo: 1 } } }));
    expect(await run("import", file)).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/none: left out[\s\S]*nothing was changed/) });
    await writeFile(file, '{"mcpServers": {}');
    expect(await run("import", file)).toMatchObject({ code: 1, stderr: expect.stringContaining("line 1, column 18") });
    await rm(file);
  });

  it("apps add and import write nothing that topology.yaml could not hold, but leave variables to the host", async () => {
    const topology = path.join(root, "topology/topology.yaml");
    const before = await readFile(topology, "utf8");
    const bad = ["apps", "add", "org.my.w2", "--url", "htp://x", "--header", "Authorization=Bearer sk-abcdefghijklmnopqrstuv22"];
    const said = await run(...bad);
    expect(said).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/mcp\.url[\s\S]*htp:\/\/x[\s\S]*nothing was changed/) });
    expect(said.stderr).not.toContain("sk-abc");
    expect(await run(...bad, "--dry-run")).toMatchObject({ code: 1, stdout: "" });
    expect(await json(...bad)).toMatchObject({ code: 1, value: [{ severity: "error", path: "apps.org.my.w2.mcp.url" }] });
    const file = path.join(root, "servers.json");
    await writeFile(file, JSON.stringify({ mcpServers: { a: { url: "htp://x" } } }));
    expect(await run("import", file)).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing was changed") });
    await rm(file);
    expect(await readFile(topology, "utf8")).toBe(before);
    const kept = await run("apps", "add", "org.my.w3", "--url", "${NOT_SET_HERE}/mcp");
    expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining("org.my.w3"), stderr: expect.stringContaining("NOT_SET_HERE") });
    // What is broken already holds no new app back.
    expect(await run("apps", "add", "org.my.w4", "--", "node")).toMatchObject({ code: 0 });
    await writeFile(topology, before);
  });

  it("apps add and import say which apps wait for a person, and how to accept them", async () => {
    const topology = path.join(root, "topology/topology.yaml");
    const before = await readFile(topology, "utf8");
    const add = (name: string, ...more: string[]): string[] => ["apps", "add", name, ...more, "--", "node"];
    expect((await run(...add("org.my.low"))).stderr).toMatch(
      /no tool of org\.my\.low is shown .*its trust is low.*\n {2}aurora-mcp lock --accept org\.my\.low\n/,
    );
    expect((await run(...add("org.my.mid", "--trust", "medium"))).stderr).not.toContain("lock --accept");
    await writeFile(topology, `${before}\npins: enforce\n`);
    expect((await run(...add("org.my.mid", "--trust", "medium", "--dry-run"))).stderr).toMatch(/pins: enforce.*\n {2}aurora-mcp lock --accept org\.my\.mid\n/);
    await writeFile(topology, before);
    const file = path.join(root, "servers.json");
    await writeFile(file, JSON.stringify({ mcpServers: { a: { command: "node" }, b: { command: "node", disabled: true } } }));
    expect((await json("import", file)).value).toMatchObject({ apps: ["imported.a", "imported.b"], waiting: ["imported.a"] });
    await rm(file);
    await writeFile(topology, before);
  });

  it("the scaffolded app passes its own tests and apps check", async () => {
    await promisify(execFile)(process.execPath, ["--test"], { cwd: path.join(root, "apps/aurora-app-hello") });
    expect(await json("apps", "check")).toEqual({ code: 0, value: [] });
  });

  it("apps new renames what is the app's own, and refuses bad names and a second one", async () => {
    const made = await json("apps", "new", "shop-list", "--package", "org.example.shop");
    expect(made).toMatchObject({ code: 0, value: { package: "org.example.shop" } });
    const server = await readFile(path.join(root, "apps/aurora-app-shop-list/mcp-server.mjs"), "utf8");
    expect(server).toContain('const PACKAGE = "org.example.shop"');
    expect(server).not.toContain("org.example.hello");
    await promisify(execFile)(process.execPath, ["--test"], { cwd: path.join(root, "apps/aurora-app-shop-list") });
    expect(await json("apps", "check", "org.example.shop")).toEqual({ code: 0, value: [] });
    expect(await run("apps", "new", "shop-list")).toMatchObject({ code: 2, stderr: expect.stringContaining("choose another name") });
    for (const bad of ["../evil", "Über", "a b", "-x"])
      expect(await run("apps", "new", "--", bad)).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be the name") });
    await rm(path.join(root, "apps/aurora-app-shop-list"), { recursive: true });
  });
});

describe("apps check", () => {
  const manifest = (): string => path.join(root, "apps/aurora-app-hello/manifest.yaml");
  const server = (): string => path.join(root, "apps/aurora-app-hello/mcp-server.mjs");
  const broken = async (file: string, ...edits: [from: string, to: string][]): Promise<any[]> => {
    const text = await readFile(file, "utf8");
    await writeFile(
      file,
      edits.reduce((now, [from, to]) => {
        expect(now).toContain(from);
        return now.replace(from, () => to);
      }, text),
    );
    try {
      const { code, value } = await json("apps", "check");
      expect(code).toBe(1);
      return value;
    } finally {
      await writeFile(file, text);
    }
  };

  it("sees drift in both directions", async () => {
    const found = await broken(manifest(), ["name: greet,", "name: great,"]);
    expect(found).toEqual([
      expect.objectContaining({ rule: "drift", tool: "great", severity: "error" }),
      expect.objectContaining({ rule: "drift", tool: "greet", severity: "error" }),
    ]);
  });
  it("sees text on stdout", async () => {
    const found = await broken(server(), ["log(`${PACKAGE} ${VERSION} is up`);", "console.log('debug: I am up');"]);
    expect(found).toEqual([expect.objectContaining({ rule: "stdout", severity: "error", message: expect.stringContaining("debug: I am up") })]);
  });
  it("sees a name without the package, and a tool without description", async () => {
    const named = await broken(server(), ["name: `${PACKAGE}.greet`,", 'name: "greet",']);
    expect(named).toContainEqual(expect.objectContaining({ rule: "names", tool: "greet", severity: "error" }));
    expect(await broken(server(), ['description: "Greet somebody by name.",', ""])).toContainEqual(
      expect.objectContaining({ rule: "schemas", message: "has no description" }),
    );
  });
  it("calls a read-only tool without required arguments, and looks at the shape of its result", async () => {
    const found = await broken(server(), ['required: ["name"],\n      additional', "required: [],\n      additional"], ["{ ok: true, data }", "{ ok: false }"]);
    expect(found).toContainEqual(expect.objectContaining({ rule: "results", tool: "greet", message: "gives ok: false together with isError: false" }));
  });
  it("says why an app does not start", async () => {
    const found = await broken(server(), ['import { createInterface } from "node:readline";', "throw new Error('no such luck');"]);
    expect(found).toEqual([
      expect.objectContaining({ rule: "start", severity: "error", details: expect.arrayContaining([expect.stringContaining("no such luck")]) }),
    ]);
  });
  it("refuses an app that it does not know", async () => {
    expect(await run("apps", "check", "org.example.nobody")).toMatchObject({ code: 1, stderr: expect.stringContaining("org.example.hello") });
  });
});

describe("without a host", () => {
  it.each([
    ["status"],
    ["reload"],
    ["apply"],
    ["approvals list"],
    ["sessions list"],
    ["events tail"],
    ["apps restart org.example.hello"],
    ["apps logs org.example.hello"],
    ["approvals approve x"],
  ])("%s exits 3 and says how to start one", async (line) => {
    const { code, stdout, stderr } = await run(...line.split(" "));
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("aurora-mcp up");
  });

  it("plan shows what up would start, and exits 2", async () => {
    const { code, value } = await json("plan");
    expect(code).toBe(2);
    expect(value).toMatchObject({
      changes: 5,
      apps: { start: ["org.example.hello"], stop: [], restart: [], reconnect: [], unchanged: [] },
      tools: { added: [], removed: [], changed: [] },
    });
  });

  it("apps list shows what the files say", async () => {
    expect((await json("apps", "list")).value).toEqual([expect.objectContaining({ package: "org.example.hello", state: "stopped", pid: null })]);
  });

  it("doctor finds nothing wrong here, and the program that is missing elsewhere", async () => {
    const well = await json("doctor");
    expect(well.code, JSON.stringify(well.value)).toBe(0);
    const file = path.join(root, "apps/aurora-app-hello/manifest.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("command: [node]", "command: [no-such-program]\n  env: { PATH: /nowhere }"));
    const ill = await json("doctor");
    await writeFile(file, text);
    expect(ill.code).toBe(1);
    expect(ill.value).toContainEqual(
      expect.objectContaining({ state: "problem", message: expect.stringMatching(/"no-such-program" is not on PATH: \/nowhere/) }),
    );
  });

  it("doctor warns of a policy file that no pattern finds", async () => {
    const file = path.join(root, "topology/policies/mine.yml");
    await writeFile(file, "rules: [{ id: mine, tools: [x], action: deny }]\n");
    const found = await json("doctor");
    await rm(file);
    expect(found).toMatchObject({ code: 0 });
    expect(found.value).toContainEqual(
      expect.objectContaining({ name: "workspace", state: "warning", message: expect.stringContaining("no pattern finds topology/policies/mine.yml") }),
    );
  });

  it("doctor warns of an app that can write the workspace", async () => {
    const file = path.join(root, "topology/topology.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(
      file,
      `${text}\napps:\n  org.example.hello: { grants: { roots: [".."] } }\n  org.example.files: { trust: high, mcp: { command: node, args: ["--dir=apps"] } }\n  org.example.here: { mcp: { command: node } }\n  org.example.own: { trust: high, mcp: { command: node, args: ["--dir=data"] } }\n  org.example.link: { trust: high, mcp: { command: node, args: ["--dir=data/up"] }, grants: { roots: ["../data/up"] } }\n`,
    );
    await mkdir(path.join(root, "data"), { recursive: true });
    await symlink("..", path.join(root, "data/up"));
    const found = await json("doctor");
    await writeFile(file, text);
    await rm(path.join(root, "data/up"));
    expect(found.value).toContainEqual(
      expect.objectContaining({ name: "writes org.example.link", message: expect.stringMatching(/root .*data\/up and argument --dir=data\/up let/) }),
    );
    expect(found.value).toContainEqual(
      expect.objectContaining({ name: "writes org.example.hello", state: "warning", help: expect.stringContaining("can run programs as you") }),
    );
    expect(found.value).toContainEqual(expect.objectContaining({ name: "writes org.example.here", help: expect.stringContaining("mcp.cwd") }));
    // The folder of the manifests is as good as the topology.
    expect(found.value).toContainEqual(
      expect.objectContaining({ name: "writes org.example.files", state: "warning", message: expect.stringContaining("argument --dir=apps") }),
    );
    expect(found.value.map((check: { name: string }) => check.name)).not.toContain("writes org.example.own");
  });
});

describe("findings", { timeout: 240_000 }, () => {
  it("validate exits 1 with place and hint, 2 without a workspace, and --strict counts warnings", async () => {
    const file = path.join(root, "topology/topology.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("\ngateway:", "\ngatewayy:"));
    const { code, value } = await json("validate");
    const compact = await run("validate", "--format", "compact");
    const other = await run("call", "greet");
    await writeFile(file, text);
    expect(code).toBe(1);
    expect(value).toEqual([expect.objectContaining({ file: "topology/topology.yaml", code: "unknown-key", severity: "error", column: 1 })]);
    expect(compact.stdout).toMatch(/^topology\/topology\.yaml:\d+:1: error\[unknown-key\]/);
    expect(other).toMatchObject({ code: 1, stdout: "" });
    expect(other.stderr).toContain("error[unknown-key]");
    expect(await runCli(["validate"], { cwd: os.tmpdir() })).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("aurora-mcp init") });
    expect(await run("validate", "--topology", "nowhere.yaml")).toMatchObject({ code: 2, stderr: expect.stringContaining("nowhere.yaml does not exist") });
    expect(await run("validate", "--format", "xml")).toMatchObject({ code: 2, stderr: expect.stringContaining("text, compact or json") });
  });
});

describe("fixtures", { timeout: 240_000 }, () => {
  it("policy test runs them offline", async () => {
    await writeFile(
      path.join(root, "tests.yaml"),
      "# what must hold\n- { tool: org.example.hello.greet, args: { name: x }, expect: allow }\n- { tool: org.example.hello/greet, expect: { action: deny } }\n\n- tool: gret\n  expect: allow\n",
    );
    const { code, value } = await json("policy", "test", "tests.yaml");
    expect(code).toBe(1);
    expect(value.map((trial: any) => trial.ok)).toEqual([true, false, false]);
    expect(value[2].problems[0]).toContain("greet");
    expect(value.map((trial: any) => trial.line)).toEqual([2, 3, 5]);
    expect((await run("policy", "test", "tests.yaml")).stdout).toMatch(
      /^FAIL {2}tests\.yaml:3: 2\. org\.example\.hello\/greet.*\nFAIL {2}tests\.yaml:5: 3\. gret/ms,
    );
    await writeFile(path.join(root, "tests.yaml"), "- { tool: greet, args: { name: x }, expect: { action: allow, risk: low } }\n");
    expect(await run("policy", "test", "tests.yaml")).toMatchObject({ code: 0, stdout: expect.stringContaining("1 passed, 0 failed") });
    await writeFile(path.join(root, "tests.yaml"), "- { tool: greet, expekt: allow }\n");
    expect(await run("policy", "test", "tests.yaml")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('tests.yaml:1: fixture 1: unknown key "expekt"'),
    });
  });

  it("signals test runs them offline", async () => {
    await writeFile(
      path.join(root, "signals.yaml"),
      "tests:\n  - name: dropped\n    signal: { app: org.example.hello, method: notifications/progress }\n    expect: []\n  - name: started\n    signal: { app: org.example.hello, kind: lifecycle, method: started }\n    expect: [{ type: lifecycle.started }]\n",
    );
    expect(await json("signals", "test", "signals.yaml")).toMatchObject({
      code: 0,
      value: [
        { name: "dropped", ok: true, line: 2 },
        { name: "started", ok: true, line: 5 },
      ],
    });
  });

  it("signals test has texts of chats in summaries exactly where log.chat_text has", async () => {
    const topology = path.join(root, "topology", "topology.yaml");
    const before = await readFile(topology, "utf8");
    onTestFinished(() => writeFile(topology, before));
    const rule = path.join(root, "topology", "signals", "chat.yaml");
    await writeFile(
      rule,
      'rules: [{ id: chat, when: { method: notifications/chat }, emit: { type: message.received, summary: "says {params.text}", data: { text: "{params.text}" } } }]\n',
    );
    onTestFinished(() => rm(rule));
    const test = (summary: string): Promise<void> =>
      writeFile(
        path.join(root, "chat-tests.yaml"),
        `tests:\n  - signal: { app: org.example.hello, method: notifications/chat, params: { text: good morning } }\n    expect: [{ summary: "${summary}" }]\n`,
      );
    await test("says …");
    expect(await run("signals", "test", "chat-tests.yaml")).toMatchObject({ code: 0 });
    await writeFile(topology, before.replace(/^log:.*\n/m, "").concat("\nlog: { chat_text: true }\n"));
    expect(await run("signals", "test", "chat-tests.yaml")).toMatchObject({ code: 1, stdout: expect.stringContaining('got "says good morning"') });
    await test("says good morning");
    expect(await run("signals", "test", "chat-tests.yaml")).toMatchObject({ code: 0 });
  });
});

describe("topology.yaml that gives no text", { timeout: 240_000 }, () => {
  const cases: [string, string, string | Buffer | null, string][] = [
    ["larger than 1 MiB", "file-too-large", "#".repeat(1024 * 1024 + 1), "1:1"],
    ["not UTF-8", "not-utf8", Buffer.from("topology: 1\nname: caf\xe9\n", "latin1"), "2:10"],
    ["a folder", "file-unreadable", null, "1:1"],
    ["empty", "file-empty", "", "1:1"],
  ];

  it.each(cases)("%s: a finding with its place, in text and JSON, whatever the command", async (_, code, content, at) => {
    const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), "aurora-unreadable-")));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = path.join(folder, "topology", "topology.yaml");
    await mkdir(content === null ? file : path.dirname(file), { recursive: true });
    if (content !== null) await writeFile(file, content);
    const [line, column] = at.split(":").map(Number);
    for (const command of ["validate", "plan", "config", "up"]) {
      const told = await runCli([command], { cwd: folder });
      expect(told.code, command).toBe(1);
      expect(told.stdout + told.stderr, command).toMatch(
        new RegExp(`error\\[${code}\\]: .+\\n +--> topology/topology.yaml:${at}\\n[^]+ = .+\\n[^]*1 error in 1 of 1 file`),
      );
      const { code: exit, value } = await runCliJson([command], { cwd: folder });
      expect({ exit, value }, command).toMatchObject({ exit: 1, value: [{ file: "topology/topology.yaml", line, column, code, help: [expect.any(String)] }] });
    }
  });
});

describe("config of files with errors", () => {
  it("shows what is sound, says what is wrong on stderr, and exits 1", async () => {
    const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), "aurora-config-")));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await mkdir(path.join(folder, "topology"));
    await writeFile(path.join(folder, "topology", "topology.yaml"), "topology: 1\nname: mine\nname: other\nwatch: sometimes\n");
    const shown = await runCli(["config"], { cwd: folder });
    expect(shown).toMatchObject({ code: 1, stdout: expect.stringContaining("name: mine") });
    expect(shown.stderr).toMatch(/duplicate key name[^]+"sometimes" is not one of the words allowed[^]+2 errors/);
  });
});

describe("signals explain", { timeout: 240_000 }, () => {
  const progress = '{ "app": "org.example.hello", "method": "notifications/progress" }';

  it("says which rule takes a signal and why the others do not, under both names", async () => {
    const { code, value } = await json("signals", "explain", progress);
    expect({ code, dropped: value.dropped, events: value.events, refused: value.refused }).toEqual({ code: 0, dropped: true, events: [], refused: null });
    expect(value.rules.filter((rule: any) => rule.verdict === "decides")).toEqual([
      expect.objectContaining({ rule: "no-progress", file: "topology/signals/example.yaml", line: 7 }),
    ]);
    expect(value.rules.some((rule: any) => rule.verdict === "no" && rule.reason !== "")).toBe(true);
    const told = await run("explain-signal", '{ "app": "org.example.hello", "kind": "lifecycle", "method": "started" }');
    expect(told).toMatchObject({ code: 0, stdout: expect.stringMatching(/^decides\s.*built in[^]*event {2}lifecycle\.started/m) });
  });

  it("an event that is refused says why; a signal that cannot be read exits 2", async () => {
    const refused = await json("signals", "explain", '{ "app": "org.example.hello", "kind": "event", "method": "aurora/event", "params": { "data": {} } }');
    expect(refused).toMatchObject({ code: 0, value: { rules: [], events: [], refused: expect.stringContaining("type") } });
    expect(await run("signals", "explain", '{ "app": "a", "kind": "lifecicle", "method": "started" }')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/kind must be one of lifecycle, .*; did you mean "lifecycle"\?/),
    });
    expect(await run("signals", "explain", "{}")).toMatchObject({ code: 2, stderr: expect.stringContaining("needs app and method") });
    expect(await run("signals", "explain", "nope")).toMatchObject({ code: 2, stderr: expect.stringContaining("the signal from the command line") });
  });
});

describe("policy suggest", { timeout: 240_000 }, () => {
  it("--out writes a draft that is not in force, and replaces nothing", async () => {
    const draft = path.join(root, "policy-draft.yaml");
    expect(await run("policy", "suggest", "--out", "policy-draft.yaml")).toMatchObject({ code: 0, stderr: expect.stringContaining("nothing has changed yet") });
    expect(await readFile(draft, "utf8")).toContain("rules:");
    expect(await run("policy", "suggest", "--out", "policy-draft.yaml")).toMatchObject({ code: 2, stderr: expect.stringContaining("is there already") });
    const inForce = await run("policy", "suggest", "--out", "topology/policies/draft.yaml");
    expect(inForce).toMatchObject({ code: 2, stderr: expect.stringContaining("would be in force at once") });
    await expect(readFile(path.join(root, "topology/policies/draft.yaml"))).rejects.toThrow("ENOENT");
    await rm(draft);
  });
});

describe("help", { timeout: 240_000 }, () => {
  it("every command has a summary, an example and the global options", async () => {
    const { commands } = await import("../../src/cli/commands.ts");
    const { createProgram } = await import("../../src/cli/program.ts");
    const program = createProgram("0", async () => {});
    for (const spec of commands) {
      const words = spec.usage.split(" ").filter((word) => /^[a-z]/.test(word));
      const command = words.reduce((at, word) => at.commands.find((c) => c.name() === word)!, program);
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) });
      command.outputHelp();
      expect(help, spec.usage).toContain("Examples:\n  $ aurora-mcp ");
      expect(help, spec.usage).toContain("--topology");
      expect(help, spec.usage).toContain("--json");
      for (const example of spec.examples) expect(example, spec.usage).toContain(`aurora-mcp ${words.join(" ")}`);
    }
  });

  it("unknown words and options exit 2 and name what is near", async () => {
    expect(await run("export", "--format", "opnai")).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean openai?") });
    expect(await run("stauts")).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean status?") });
    expect(await run("status", "--jsn")).toMatchObject({ code: 2, stderr: expect.stringContaining("--json") });
    expect(await run("--help")).toMatchObject({ code: 0 });
    expect(await run("--version")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});
