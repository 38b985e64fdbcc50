import { spawn } from "node:child_process";
import { appendFile, readFile, realpath, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtCli, runCli, runCliJson, startCli, type CliResult, type RunningCli } from "../support/built-cli.ts";
import { scriptedApp, topologyText } from "../support/kit.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

let workspace: TestWorkspace;
let root: string;
let main: string;
let host: RunningCli;

const run = (...args: string[]): Promise<CliResult> => runCli(args, { cwd: root });
const json = (...args: string[]): ReturnType<typeof runCliJson> => runCliJson(args, { cwd: root });

const tool = (name: string): object => ({ name, description: `Does ${name}.`, inputSchema: { type: "object", properties: { text: { type: "string" } } } });
const answer = { content: [{ type: "text", text: "done \u001b[2J" }] };
const script = {
  on: {
    "tools/list": [{ result: { tools: [tool("quick"), tool("slow"), tool("journal")] } }],
    "tools/call quick": [{ result: answer }],
    "tools/call slow": [{ delay: 60_000 }, { result: answer }],
  },
};
const policy = "approvals: { wait: 1s }\nrules:\n  - { id: ask-quick, apps: [org.example.asked], tools: [quick], action: ask, reason: try me }\n";
const odd = { name: "odd", inputSchema: { type: "string" } };
const freeScript = { on: { ...script.on, "tools/list": [{ result: { tools: [tool("quick"), tool("slow"), tool("journal"), odd] } }] } };
const apps = { "org.example.free": scriptedApp(freeScript), "org.example.asked": scriptedApp(script) };

beforeAll(async () => {
  main = await builtCli();
  workspace = await makeWorkspace({
    "topology/topology.yaml": topologyText(apps, {
      policies: ["policies/*.yaml"],
      exports: [{ format: "openai", file: "../tools.json" }],
      gateway: { listen: "127.0.0.1:0" },
    }),
    "topology/policies/p.yaml": policy,
  });
  root = await realpath(workspace.root);
  host = await startCli(["up"], { cwd: root });
  host.child.stdin.end();
  await host.until(/^gateway /m, 60_000);
  for (const end = Date.now() + 30_000; (await json("status")).value.apps.some((app: any) => app.state !== "ready"); await sleep(200))
    if (Date.now() > end) throw new Error(host.stderr());
}, 180_000);

afterAll(async () => {
  host.child.kill("SIGTERM");
  const { code } = await host.done;
  await workspace.remove();
  expect(code).toBe(0);
}, 30_000);

/** A command in a terminal of its own; `answers` are typed when their prompt has been shown. */
async function inTerminal(args: readonly string[], answers: readonly [prompt: string, typed: string][]): Promise<{ code: number | null; shown: string }> {
  const line = [process.execPath, main, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const terminal = spawn("script", ["-qec", line, "/dev/null"], { cwd: root, stdio: ["pipe", "pipe", "ignore"], env: { ...process.env, NO_COLOR: "1" } });
  let shown = "";
  terminal.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  const done = new Promise<number | null>((resolve) => terminal.once("close", resolve));
  for (const [prompt, typed] of answers) {
    for (const end = Date.now() + 30_000; !shown.includes(prompt); await sleep(50)) {
      if (Date.now() > end || terminal.exitCode !== null) throw new Error(`no "${prompt}" in: ${shown}`);
    }
    terminal.stdin.write(typed);
  }
  return { code: await done, shown };
}

describe("call", { timeout: 240_000 }, () => {
  it("prints the result with control characters escaped, and the shape that scripts read", async () => {
    expect(await run("call", "org.example.free.quick")).toMatchObject({ code: 0, stdout: "done \\u{1b}[2J\n" });
    const { code, value } = await json("call", "org.example.free.quick", "--args", '{"text":"x"}');
    expect(code).toBe(0);
    expect(value).toMatchObject({
      outcome: "succeeded",
      ok: true,
      error: null,
      result: { content: answer.content },
      call_id: expect.any(String),
      duration_ms: expect.any(Number),
    });
  });

  it("takes arguments from a file and from stdin, and says what is wrong with them", async () => {
    await writeFile(path.join(root, "args.json"), '{"text": 7}');
    expect((await json("call", "org.example.free.quick", "--args", "@args.json")).value).toMatchObject({
      ok: false,
      error: { error_code: "INVALID_ARGUMENTS" },
    });
    expect(await runCli(["call", "org.example.free.quick", "--args", "-"], { cwd: root, stdin: '{"text":"y"}' })).toMatchObject({ code: 0 });
    expect(await run("call", "org.example.free.quick", "--args", "{text: y}")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("not JSON"),
    });
    expect(await run("call", "org.example.free.quick", "--args", "[1]")).toMatchObject({ code: 2, stderr: expect.stringContaining("must be a JSON object") });
    expect(await run("call", "org.example.free.quick", "--args", "@nothing.json")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/cannot read the arguments: .*nothing\.json does not exist/),
    });
  });

  it("names near tools for a wrong one", async () => {
    const { code, value } = await json("call", "org.example.free.quik");
    expect(code).toBe(1);
    expect(value).toMatchObject({ outcome: "failed", error: { error_code: "TOOL_NOT_FOUND", message: expect.stringContaining("quick") } });
    expect((await run("call", "zzzzzz")).stderr).toContain('no tool is called "zzzzzz"\n  aurora-mcp tools list shows all\n');
    expect(JSON.stringify((await json("call", "zzzzzz")).value)).not.toContain("tools list");
  });

  it("Ctrl-C cancels the call at the server", async () => {
    const call = await startCli(["call", "org.example.free.slow"], { cwd: root });
    const journal = async (): Promise<string> => JSON.stringify((await json("call", "org.example.free.journal")).value.result);
    for (const end = Date.now() + 30_000; !(await journal()).includes("slow");) if (Date.now() > end) throw new Error("the call never came");
    call.child.kill("SIGINT");
    expect(await call.done).toMatchObject({ code: 130 });
    for (const end = Date.now() + 10_000; !(await journal()).includes("notifications/cancelled");) if (Date.now() > end) throw new Error("no cancel came");
  });

  it("without a terminal waits as any caller, and runs once with the approval", async () => {
    const asked = await json("call", "org.example.asked.quick", "--args", '{"text":"a"}');
    expect(asked).toMatchObject({ code: 1, value: { error: { error_code: "APPROVAL_REQUIRED" } } });
    const id = asked.value.error.details.approval_id as string;
    expect((await json("approvals", "list")).value).toContainEqual(
      expect.objectContaining({ id, tool: expect.stringContaining("quick"), arguments: { text: "a" }, session: "cli", state: "pending" }),
    );
    expect(await run("approvals", "approve", id)).toMatchObject({ code: 0, stdout: expect.stringContaining("approved") });
    expect((await json("call", "org.example.asked.quick", "--args", '{"text":"other"}', "--approval", id)).value.ok).toBe(false);
    expect(await json("call", "org.example.asked.quick", "--args", '{"text":"a"}', "--approval", id)).toMatchObject({
      code: 0,
      value: { outcome: "succeeded" },
    });
    const used = await run("call", "org.example.asked.quick", "--args", '{"text":"a"}', "--approval", id);
    expect(used).toMatchObject({ code: 1, stderr: expect.stringContaining("call again without it") });
    expect(used.stderr).not.toContain("approve it:");
    const waits = await run("call", "org.example.asked.quick", "--args", '{"text":"b"}');
    expect(waits).toMatchObject({ code: 1, stderr: expect.stringMatching(/approve it: {2}aurora-mcp approvals approve \S+/) });
    await run("approvals", "deny", /approvals approve (\S+)$/m.exec(waits.stderr)![1]!);
    expect(await run("approvals", "deny", "nobody-has-this-id")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/nobody-has-this-id.*approvals list --all/),
    });
  });

  it("asks the person at the terminal; yes is the approval, anything else is no", async () => {
    const spoof = { text: "x\u001b[1A\u202Eyes" };
    const yes = await inTerminal(["call", "org.example.asked.quick", "--args", JSON.stringify(spoof)], [["Run it? [y/N]", "y\n"]]);
    expect(yes).toMatchObject({ code: 0, shown: expect.stringContaining("done ") });
    expect(yes.shown).toContain("\\u001b[1A");
    expect(yes.shown).toContain("\\u{202e}");
    expect(yes.shown).not.toContain("\u202E");
    expect(yes.shown).toContain("try me");
    expect(yes.shown).toMatch(/rule ask-quick, .*p\.yaml:3/);
    const no = await inTerminal(["call", "org.example.asked.quick"], [["Run it? [y/N]", "\n"]]);
    expect(no).toMatchObject({ code: 1, shown: expect.stringContaining("APPROVAL_DENIED") });
    const left = await inTerminal(["call", "org.example.asked.quick"], [["Run it? [y/N]", "\u0003"]]);
    expect(left.code).toBe(130);
    const states = (await json("approvals", "list", "--all")).value.map((row: any) => row.state);
    expect(states).toEqual(expect.arrayContaining(["used", "denied"]));
  });
});

describe("looking", { timeout: 240_000 }, () => {
  it("tools list, search and show", async () => {
    const { value } = await json("tools", "list");
    expect(value).toHaveLength(6);
    expect(value[0]).toMatchObject({
      name: expect.any(String),
      short_name: expect.any(String),
      app: expect.any(String),
      tool: expect.any(String),
      risk: expect.any(String),
      risk_source: expect.any(String),
      action: expect.any(String),
      state: "exposed",
      tokens: expect.any(Number),
    });
    expect(value[0]).toHaveProperty("reason");
    expect((await json("tools", "search", "quick")).value.map((row: any) => row.tool)).toEqual(["quick", "quick"]);
    expect(await run("tools", "search", "zebra")).toMatchObject({ code: 1, stdout: "no tools\n" });
    expect((await json("tools", "show", "org.example.free.quick")).value).toMatchObject({ tool: "quick", definition: { inputSchema: { type: "object" } } });
    expect(await run("tools", "show", "quick")).toMatchObject({ code: 1, stderr: expect.stringContaining("org.example.asked.quick, org.example.free.quick") });
  });

  it("explain names the rule with file and line", async () => {
    const { value } = await json("explain", "org.example.asked.quick");
    expect(value).toMatchObject({ decision: "ask", rule: "ask-quick", file: expect.stringContaining("policies/p.yaml"), line: 3 });
    expect((await run("explain", "org.example.asked.quick")).stdout).toContain("policies/p.yaml:3");
  });

  it("status has the keys that scripts rely on", async () => {
    const { value } = await json("status");
    expect(value).toMatchObject({
      revision: expect.any(Number),
      state: "running",
      gateway: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/) },
      inbox: { dir: path.join(root, "data/kernel/inbox/pending"), written: expect.any(Number), pending: expect.any(Number), degraded: null },
      exports: [{ format: "openai", file: path.join(root, "tools.json"), tools: 6 }],
      config: { state: "applied", errors: [] },
    });
    expect(value.apps[0]).toMatchObject({
      package: "org.example.asked",
      state: "ready",
      pid: expect.any(Number),
      transport: "stdio",
      protocol: expect.any(String),
      version: expect.any(String),
      tools: 3,
      restarts: 0,
      next_attempt: null,
      reason: null,
    });
  });

  it("export --report says what a form changes, and other forms speak to programs and other hosts", async () => {
    const report = (await json("export", "--format", "openai-strict", "--report")).value;
    expect(report).toMatchObject({
      format: "openai-strict",
      tools: expect.arrayContaining([
        expect.objectContaining({
          tool: "org.example.free.quick",
          strict: true,
          changes: expect.arrayContaining([expect.objectContaining({ code: "optional.as_null", pointer: "/properties/text" })]),
        }),
      ]),
    });
    expect((await run("export", "--format", "ts")).stdout).toContain('"org_example_free_quick"');
    const claude = JSON.parse((await run("export", "--format", "claude-code-permissions", "--server", "kit")).stdout);
    expect(claude.permissions.ask).toContain("mcp__kit__org_example_asked_quick");
    expect(claude.permissions.allow).toContain("mcp__kit__org_example_free_quick");
    const proxy = (await run("export", "--format", "litellm-proxy")).stdout;
    expect(proxy).toMatch(/url: "http:\/\/127\.0\.0\.1:\d+\/mcp"/);
    expect(proxy).toContain("os.environ/");
    expect(await run("export", "--format", "ts", "--report")).toMatchObject({ code: 2 });
  });

  it("lint names what providers choke on, and tools list --cost sums the tokens", async () => {
    const findings = (await json("lint", "--schemas", "--target", "openai", "--target", "gemini", "org.example.free")).value;
    expect(findings.every((f: any) => f.app === "org.example.free")).toBe(true);
    expect(findings.filter((f: any) => f.severity === "error")).toMatchObject([
      { name: "odd", target: "all", code: "left_out", message: expect.stringMatching(/^left out by this host: .*inputSchema/) },
    ]);
    expect((await run("tools", "list", "--cost")).stdout).toMatch(/all 6 offered tools: about \d+ tokens in every request/);
  });

  it("export prints the bytes that the host writes, and --check tells a difference", async () => {
    const text = await readFile(path.join(root, "tools.json"), "utf8");
    expect((await run("export", "--format", "openai")).stdout).toBe(text);
    expect(await run("export", "--out", "tools.json", "--check")).toMatchObject({ code: 0 });
    await run("export", "--format", "anthropic", "--out", "sub/a.json");
    expect(await run("export", "--out", "sub")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("sub is a folder; name a file: --out sub/tools.json"),
    });
    expect(await run("events", "tail", "--since", "1h")).toMatchObject({ code: 2, stderr: expect.stringContaining("write --files too") });
    expect((await run("call", "org.example.free.quik")).stderr).not.toContain("near:");
    expect(JSON.parse(await readFile(path.join(root, "sub/a.json"), "utf8"))[0]).toHaveProperty("input_schema");
    await appendFile(path.join(root, "sub/a.json"), " ");
    expect(await run("export", "--format", "anthropic", "--out", "sub/a.json", "--check")).toMatchObject({ code: 1 });
    expect(await run("export", "--check")).toMatchObject({ code: 2 });
    expect(await run("export", "--append")).toMatchObject({ code: 2, stderr: expect.stringContaining("--out") });
    const lines = text
      .trimEnd()
      .split("\n")
      .slice(1, -1)
      .map((line) => line.replace(/,$/, ""));
    await writeFile(path.join(root, "sub/b.json"), `[\n${lines.slice(1).reverse().join(",\n")}\n]\n`);
    await run("export", "--out", "sub/b.json", "--append");
    expect(await readFile(path.join(root, "sub/b.json"), "utf8")).toBe(`[\n${[...lines.slice(1).reverse(), lines[0]].join(",\n")}\n]\n`);
    expect(await run("export", "--out", "sub/b.json", "--append", "--check")).toMatchObject({ code: 0 });
    expect(await run("export", "--format", "nothing")).toMatchObject({ code: 2, stderr: expect.stringContaining("gemini-legacy") });
  });

  it("events tail follows from now on, events from files need no host, and the audit log is whole", async () => {
    const tail = await startCli(["events", "tail", "--type", "tool.*", "--count", "1", "--json"], { cwd: root });
    for (const end = Date.now() + 30_000; tail.stdout() === "" && Date.now() < end;) await run("call", "org.example.free.quick");
    const { code, stdout } = await tail.done;
    expect(code).toBe(0);
    expect(stdout.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ header: { protocol: "amp/1.0", source: { app: "org.example.free" } }, payload: { type: "tool.completed" } });
    expect((await run("events", "tail", "--files", "--type", "lifecycle.started", "--app", "org.example.free")).stdout).toMatch(/lifecycle\.started/);
    expect(await run("audit", "verify")).toMatchObject({ code: 0 });
  });

  it("apps logs, restart, lock and lint answer", async () => {
    expect((await json("apps", "logs", "org.example.free")).value).toEqual(expect.any(Array));
    expect(await json("apps", "restart", "org.example.free")).toMatchObject({ code: 0, value: { package: "org.example.free", state: "ready" } });
    expect(await run("apps", "restart", "org.example.nobody")).toMatchObject({ code: 1, stderr: expect.stringContaining("org.example.nobody") });
    expect(await run("lock", "--accept", "org.example.nobody", "--yes")).toMatchObject({ code: 1, stderr: expect.stringContaining("org.example.nobody") });
    expect(await run("lock", "--accept")).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(await run("lock", "--accept", "org.example.free/quick", "--yes")).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(path.join(root, "topology/tools.lock.json"), "utf8"))).toMatchObject({
      apps: { "org.example.free": { tools: { quick: expect.stringMatching(/^sha256:/) } } },
    });
    expect(await run("lock", "--check")).toMatchObject({ code: 1 });
    expect(await run("lock", "--accept", "--yes")).toMatchObject({ code: 0 });
    expect(await run("lock", "--check")).toMatchObject({ code: 0 });
    expect(await run("lint")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^error org\.example\.free {2}tool odd {2}left out by this host: .* \[all: left_out\]\n$/),
    });
    expect(await run("lint", "org.example.asked")).toMatchObject({ code: 0, stdout: "no findings\n" });
  });

  it("an app that is not there is a mistake, with what is near, in every command that takes one", async () => {
    for (const args of [
      ["lint"],
      ["tools", "list", "--app"],
      ["apps", "restart"],
      ["apps", "logs"],
      ["apps", "check"],
      ["resources", "read", "x:y", "--app"],
    ]) {
      const typed = await run(...args, "org.example.fre");
      expect(typed, args.join(" ")).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("no app is called org.example.fre; did you mean org.example.free?"),
      });
    }
    expect(await run("lint", "nope")).toMatchObject({ code: 1, stderr: expect.stringContaining("there are: org.example.asked, org.example.free") });
    expect(await run("lint", "org.example.asked")).toMatchObject({ code: 0 });
  });

  it("explain and tools show say why a tool of a server was left out", async () => {
    for (const args of [
      ["explain", "org.example.free.odd"],
      ["explain", "odd"],
      ["tools", "show", "org.example.free.odd"],
    ])
      expect(await run(...args), args.join(" ")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('lists "odd", but it was left out: its inputSchema has'),
      });
    expect(await run("explain", "org.example.free.quik")).toMatchObject({ code: 1, stderr: expect.stringContaining("org.example.free.quick") });
  });

  it("serve --stdio passes a client through to the running host", async () => {
    const serve = await startCli(["serve", "--stdio"], { cwd: root });
    const ask = (id: number, method: string, params: object): void =>
      void serve.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } });
    await serve.until('"id":1');
    serve.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    ask(2, "tools/list", {});
    await serve.until('"id":2');
    serve.child.stdin.end();
    const { code, stdout } = await serve.done;
    expect(code).toBe(0);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.find((line) => line.id === 2).result.tools.map((t: any) => t.name)).toContain("org_example_free_quick");
  });
});

describe("changing", { timeout: 240_000 }, () => {
  const topology = (): string => path.join(root, "topology/topology.yaml");
  const touch = async (): Promise<void> => {
    const { atime, mtime } = await stat(topology());
    await utimes(topology(), atime, new Date(mtime.getTime() + 1000));
  };

  it("reload says unchanged, applied, rejected; plan exits 0, 2, 1; and a broken edit shows in status", async () => {
    await touch();
    expect(await json("reload")).toMatchObject({ code: 0, value: { result: "unchanged", errors: [] } });
    expect(await run("plan")).toMatchObject({ code: 0, stdout: "no changes\n" });
    const text = await readFile(topology(), "utf8");
    await writeFile(topology(), text.replace('"reload"', '"relod"').replace("{", '{ "rlimits": {}, "signals": ["none/*.yaml"],'));
    expect(await json("reload")).toMatchObject({ code: 1, value: { result: "rejected", errors: [expect.objectContaining({ code: "unknown-key" })] } });
    expect(await run("plan")).toMatchObject({ code: 1 });
    expect((await json("status")).value.config).toMatchObject({ state: "rejected", errors: [expect.objectContaining({ code: "unknown-key" })] });
    const shown = (await run("status")).stdout;
    expect(shown).toMatch(/^ {2}topology\/topology\.yaml:\d+: error\[unknown-key\]: unknown key /m);
    expect(shown).toMatch(/^ {2}topology\/topology\.yaml:\d+: warning\[unmatched-pattern\]: the pattern /m);
    await writeFile(topology(), text.replace("{", '{ "reload": "off",'));
    await json("reload");
    await writeFile(path.join(root, "topology/policies/p.yaml"), policy.replace("try me", "try it"));
    expect(await json("plan")).toMatchObject({ code: 2, value: { policy: expect.anything(), apps: { start: [], stop: [], restart: [], reconnect: [] } } });
    expect(await json("reload")).toMatchObject({ code: 0, value: { result: "applied" } });
  });

  it("apps add writes the lines, keeps the rest, and the host starts the app", async () => {
    const before = await readFile(topology(), "utf8");
    const dry = await json("apps", "add", "org.example.new", "--dry-run", "--", "node", "x.js");
    expect(dry.value.written).toBe(false);
    expect(await readFile(topology(), "utf8")).toBe(before);
    const scripted = (apps["org.example.free"] as any).mcp;
    const added = await run("apps", "add", "org.example.new", "--trust", "medium", "--env", "A=b", "--", ...scripted.command, ...scripted.args);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("org.example.new") });
    expect(await json("reload")).toMatchObject({ code: 0 });
    for (
      const end = Date.now() + 20_000;
      (await json("status")).value.apps.find((app: any) => app.package === "org.example.new")?.state !== "ready";
      await sleep(200)
    )
      if (Date.now() > end) throw new Error("it never came up");
    expect(await run("apps", "add", "org.example.new", "--", "node")).toMatchObject({ code: 1, stderr: expect.stringContaining("org.example.new") });
    expect(await run("apps", "add", "org.example.none")).toMatchObject({ code: 2, stderr: expect.stringContaining("--url") });
    expect(await run("apps", "add", "bad name", "--url", "http://127.0.0.1")).toMatchObject({ code: 2 });
  });

  it("import takes servers over, and literal tokens out", async () => {
    await writeFile(
      path.join(root, "mcp.json"),
      JSON.stringify({ mcpServers: { github: { command: "npx", args: ["-y", "gh"], env: { GITHUB_TOKEN: "ghp_abcdefghijklmnopqrstuvwxyz0123" } } } }),
    );
    const { code, stdout, stderr } = await run("import", "mcp.json", "--prefix", "org.example", "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toContain("org.example.github");
    expect(stdout + stderr).not.toContain("ghp_abc");
    expect(stderr).toContain("GITHUB_TOKEN");
    await writeFile(path.join(root, "mcp.json"), "{}");
    expect(await run("import", "mcp.json")).toMatchObject({ code: 1, stderr: expect.stringContaining("mcpServers") });
  });
});
