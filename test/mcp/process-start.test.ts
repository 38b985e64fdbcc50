import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { StartError } from "../../src/runtime/ports.ts";
import type { AppPlan } from "../../src/plan/types.ts";
import { createMasker } from "../../src/base/masking.ts";
import { appPlan, scripted, stdioSpec } from "../support/app-plan.ts";
import { builtCli } from "../support/built-cli.ts";
import { connectorFor, open, temporaryFolder, textOf } from "./support.ts";

/** The error of a start that must fail, and how long it took. */
async function failedStart(
  connect: AppPlan["connect"],
  parts: Partial<AppPlan> = {},
  options: Parameters<typeof connectorFor>[0] = {},
): Promise<{ error: StartError; ms: number }> {
  const started = Date.now();
  const result: unknown = await connectorFor(options)
    .connect(appPlan(connect, parts), "shared", {}, new AbortController().signal)
    .then(
      async (connection) => {
        await connection.close({ force: true });
        return null;
      },
      (error: unknown) => error,
    );
  expect(result).toBeInstanceOf(StartError);
  return { error: result as StartError, ms: Date.now() - started };
}

describe("a server that ends before it answers initialize", () => {
  it("is reported with exit code, time, masked command line and stderr (mysql_mcp_server#49)", async () => {
    const spec = scripted({
      on: {
        start: [
          { stderr: 'Traceback (most recent call last):\n  File "server.py"\nModuleNotFoundError: no module named mysql\n' },
          { delay: 200 },
          { exit: 1 },
        ],
      },
    });
    const { error } = await failedStart({ ...spec, args: [...spec.args, "--password", "hunter2secret"] }, {}, { mask: createMasker(["hunter2secret"]).text });
    expect(error.message).toMatch(
      /exited with code 1 after \d\.\ds before it answered initialize; stderr says: ModuleNotFoundError: no module named mysql; command: .*scripted\.mjs/,
    );
    expect(error.message).toContain("ModuleNotFoundError: no module named mysql");
    expect(error.message).not.toContain("hunter2secret");
    expect(error.stderrTail).toEqual(["Traceback (most recent call last):", '  File "server.py"', "ModuleNotFoundError: no module named mysql"]);
    expect(error.retry).toBe(true);
  });

  it("is reported with the line that tells why, though others come after it, and with the last lines", async () => {
    const { error } = await failedStart(stdioSpec(process.execPath, ["/nowhere/no-such-server.mjs"]));
    expect(error.stderrTail.at(-1)).toMatch(/^Node\.js v/);
    expect(error.message).toContain("initialize; stderr says: Error: Cannot find module '/nowhere/no-such-server.mjs'; command: ");
    expect(error.message).toMatch(/; stderr ends with: .*code: 'MODULE_NOT_FOUND', \| .*Node\.js v/);
    expect(error.message).not.toContain("run_main_module");
  });

  it("is reported with what it wrote to stdout where stderr is silent, masked", async () => {
    const { error } = await failedStart(
      scripted({ on: { start: [{ stdout: "error: unknown option hunter2secret\n" }, { exit: 0 }] } }),
      {},
      { mask: createMasker(["hunter2secret"]).text },
    );
    expect(error.message).toMatch(/^the server exited with code 0 .*; it wrote to stdout what is not JSON-RPC: error: unknown option /);
    expect(error.message).not.toContain("hunter2secret");
  });

  it("quotes a bounded part of stderr, free of control characters and secrets", async () => {
    const long = `${"x".repeat(500)}\n`.repeat(20);
    const spec = scripted({ on: { start: [{ stderr: `${long}\u001b[31merror: hunter2secret was refused\u001b[0m\nbye\n` }, { delay: 200 }, { exit: 1 }] } });
    const { error } = await failedStart(spec, {}, { mask: createMasker(["hunter2secret"]).text });
    expect(error.message).toMatch(/initialize; stderr says: error: [^h]* was refused; command: /);
    // eslint-disable-next-line no-control-regex -- looks for them
    expect(error.message).not.toMatch(/hunter2secret|[\u0000-\u001f]/);
    expect(error.message.slice(error.message.indexOf("stderr ends with")).length).toBeLessThanOrEqual(1000);
  });

  it("is reported with the signal that ended it", async () => {
    const { error } = await failedStart(scripted({ on: { initialize: [{ kill: "SIGABRT" }] } }));
    expect(error.message).toContain("was ended by SIGABRT");
  });
});

describe("a program that cannot be started", () => {
  it("names the command, the PATH that was searched and the way out, and is not retried (rohlik-mcp#6)", async () => {
    const { error } = await failedStart(stdioSpec("no-such-npx", ["-y", "server"], { env: { PATH: "/usr/bin:/bin" } }));
    expect(error.retry).toBe(false);
    expect(error.message).toContain('"no-such-npx" is in no folder of PATH (/usr/bin:/bin)');
    expect(error.message).toMatch(/absolute path.*PATH under mcp\.env/);
  });

  it("names a missing file with a path", async () => {
    const { error } = await failedStart(stdioSpec("/no/such/program", []));
    expect(error.message).toContain("program not found: /no/such/program");
    expect(error.retry).toBe(false);
  });

  it("names a file that is not executable, and a missing interpreter", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "plain"), "x");
    writeFileSync(join(folder, "script"), "#!/no/such/interpreter\n", { mode: 0o755 });
    expect((await failedStart(stdioSpec(join(folder, "plain"), []))).error.message).toContain("may not be executed (EACCES)");
    expect((await failedStart(stdioSpec(join(folder, "script"), []))).error.message).toContain("the interpreter that its first line names was not found");
  });

  it("names a missing working directory, not the program", async () => {
    const { error } = await failedStart(stdioSpec(process.execPath, ["x.mjs"], { cwd: "/no/such/folder" }));
    expect(error.message).toBe("the working directory /no/such/folder does not exist; set mcp.cwd");
    expect(error.retry).toBe(false);
  });

  it("hints at a file named in args that stands elsewhere", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "sub"));
    writeFileSync(join(folder, "server.mjs"), "");
    const { error } = await failedStart(stdioSpec(process.execPath, ["server.mjs"], { cwd: join(folder, "sub") }));
    expect(error.message).toContain(`"server.mjs" does not exist under the working directory ${join(folder, "sub")}, but ${join(folder, "server.mjs")} does`);
  });

  it("takes a relative command from cwd, whatever the host's own folder is", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "run.sh"), `#!/bin/sh\nexec "${process.execPath}" "$1" '{}'\n`, { mode: 0o755 });
    const { connection } = await open(stdioSpec("./run.sh", [scripted({}).cwd + "scripted.mjs"], { cwd: folder }));
    expect(connection.closed).toBe(false);
  });
});

describe("start_timeout", () => {
  it("is honoured as written, names the setting, and leaves no process", async () => {
    const { error, ms } = await failedStart(scripted({ on: { initialize: [{ silent: true }] } }), { startTimeoutMs: 600 });
    expect(error.message).toContain("no answer to initialize within start_timeout (0.6s");
    expect(ms).toBeGreaterThanOrEqual(550);
    expect(error.retry).toBe(true);
  });

  it("tells the time of the start alone, however long the server takes to stop", async () => {
    const { error, ms } = await failedStart(scripted({ ignoreEof: true, on: { initialize: [{ silent: true }] } }), { startTimeoutMs: 600 });
    expect(ms).toBeGreaterThan(2000);
    expect(error.message).toMatch(/\(0\.6s; 0\.[6-9]s passed\)/);
  });

  it("waits for a slow server", async () => {
    const { connection } = await open(scripted({ on: { start: [{ delay: 800 }] } }), { startTimeoutMs: 20_000 });
    expect(connection.closed).toBe(false);
  });

  it("never sends a cancellation for initialize", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "seen");
    writeFileSync(join(folder, "s.sh"), `#!/bin/sh\ncat > "${file}"\n`, { mode: 0o755 });
    await failedStart(stdioSpec(join(folder, "s.sh"), []), { startTimeoutMs: 300 });
    const { readFileSync } = await import("node:fs");
    const lines = readFileSync(file, "utf8").trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { method: string }).method)).toEqual(["initialize"]);
  });

  it("ends at once when the start is aborted, without a process left", async () => {
    const abort = new AbortController();
    const connecting = connectorFor().connect(
      appPlan(scripted({ ignoreTerm: true, ignoreEof: true, on: { initialize: [{ silent: true }] } })),
      "shared",
      {},
      abort.signal,
    );
    setTimeout(() => abort.abort(), 200);
    const started = Date.now();
    await expect(connecting).rejects.toThrow("the start was cancelled");
    expect(Date.now() - started).toBeLessThan(1900);
  });
});

describe("protocol revisions", () => {
  it("fails with both revisions for an unknown one and is not retried (mcp-steroid#482)", async () => {
    const { error } = await failedStart(scripted({ hello: { protocolVersion: "2099-01-01" } }));
    expect(error.message).toMatch(/answered with 2099-01-01, this client asked for 2025-11-25/);
    expect(error.retry).toBe(false);
  });

  it.each(["2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"])("takes the older revision %s", async (protocolVersion) => {
    const { connection } = await open(scripted({ hello: { protocolVersion } }));
    expect(connection.protocolVersion).toBe(protocolVersion);
  });

  const only = (version: string, error: object): object => ({
    on: {
      initialize: [{ error }],
      "initialize#2": [{ result: { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } }],
    },
  });

  it.each([
    ["-32602 with data", { code: -32602, message: "Unsupported protocol version", data: { expected: "2025-06-18" } }],
    ["-32602 with the message", { code: -32602, message: "Unsupported protocol version, supported: 2025-06-18, 2024-11-05" }],
    ["-32022 with a list", { code: -32022, message: "Unsupported protocol version", data: { supported: ["2026-07-28", "2025-06-18"] } }],
    ["no hint at all: the next older", { code: -32602, message: "Invalid params" }],
  ])("asks once more when refused: %s (agentic-awesome-skills#1003)", async (_name, error) => {
    const { connection, notes } = await open(scripted(only("2025-06-18", error)));
    expect(connection.protocolVersion).toBe("2025-06-18");
    expect(notes.join()).toContain("asking again with 2025-06-18");
  });

  it("remembers the answer for the next start", async () => {
    const script = {
      on: {
        initialize: [{ error: { code: -32602, message: "supported: 2025-03-26" } }],
        "initialize#2": [{ result: { protocolVersion: "2025-03-26", capabilities: {}, serverInfo: { name: "s", version: "1" } } }],
      },
    };
    const connector = connectorFor();
    const first = await open(scripted(script), {}, { connector });
    await first.connection.close();
    // The second process refuses its first request too, so only a client that asked right would have got through: it asks for the next older one then.
    const asked: string[] = [];
    await connector.connect(appPlan(scripted(script)), "shared", { onLog: (line) => asked.push(line) }, new AbortController().signal).then(
      (c) => c.close({ force: true }),
      () => {},
    );
    expect(asked.join()).toContain("refused protocol revision 2025-03-26");
  });

  it("gives up with the reason when the server knows only newer revisions", async () => {
    const { error } = await failedStart(
      scripted({ on: { initialize: [{ error: { code: -32022, message: "Unsupported", data: { supported: ["2026-07-28"] } } }] } }),
    );
    expect(error.message).toMatch(/no common protocol revision: the server speaks 2026-07-28, this client 2025-11-25/);
    expect(error.retry).toBe(false);
  });

  it("does not ask a third time", async () => {
    const { error } = await failedStart(scripted({ on: { initialize: [{ error: { code: -32602, message: "Unsupported protocol version" } }] } }));
    expect(error.message).toContain("the server refused initialize");
  });
});

describe("the answer to initialize", () => {
  it("may have malformed capabilities (batpred#3501)", async () => {
    const { connection, notes } = await open(scripted({ hello: { capabilities: { tools: [{ name: "x" }], resources: null, prompts: true, logging: false } } }));
    expect(Object.keys(connection.capabilities).sort()).toEqual(["prompts", "tools"]);
    expect(notes.join()).toContain("capabilities.tools");
    expect((await connection.list()).tools).toHaveLength(2);
  });

  it.each([
    [{ capabilities: "yes" }],
    [{ serverInfo: null }],
    [{ serverInfo: { name: "x" } }],
    [{ instructions: 5 }],
    [{ protocolVersion: null }],
    [{ extra: { deep: [1] }, _meta: null }],
  ])("tolerates %j", async (hello) => {
    const { connection } = await open(scripted({ hello }));
    expect(connection.instructions).toBeNull();
    expect((await connection.list()).tools.map((t) => t.name)).toEqual(["echo", "journal"]);
  });

  it("may be followed by a server that pings first", async () => {
    const { connection } = await open(scripted({ on: { start: [{ request: { id: "p1", method: "ping" } }, { delay: 100 }] } }));
    const journal = JSON.parse(textOf(await connection.request("tools/call", { name: "journal" }))) as { id?: unknown; result?: unknown }[];
    expect(journal).toContainEqual({ jsonrpc: "2.0", id: "p1", result: {} });
  });

  it("is refused for the modern protocol, which is not built yet", async () => {
    const { error } = await failedStart(scripted({}), { protocol: "modern" });
    expect(error).toMatchObject({ retry: false });
  });
});

describe("the child's environment", () => {
  it("holds safe basics, inherit_env and env, and nothing else (mcp-use#2125)", async () => {
    const hostEnv = { ...process.env, CLOUD_SECRET: "s3cr3t", OPENAI_API_KEY: "sk-test-1", HTTP_PROXY: "http://proxy", BASH_FUNC: "() { :; }" };
    const { connection } = await open(
      scripted({}, { env: { A: "1" }, inheritEnv: ["HTTP_PROXY", "BASH_FUNC", "NOT_SET"] }),
      {},
      { connector: connectorFor({ hostEnv }) },
    );
    const env = JSON.parse(textOf(await connection.request("tools/call", { name: "env" }))) as Record<string, string>;
    expect(env).toMatchObject({ A: "1", HTTP_PROXY: "http://proxy", PATH: process.env["PATH"] });
    for (const name of ["CLOUD_SECRET", "OPENAI_API_KEY", "BASH_FUNC", "NOT_SET"]) expect(env).not.toHaveProperty(name);
  });
});

it("a host out of file descriptors cannot start a server; that is told, tried again, and ends nothing", { timeout: 120_000 }, async () => {
  const transport = join(dirname(await builtCli()), "../mcp/stdio-transport.js");
  const program = `
    const { openSync, closeSync } = await import("node:fs");
    const { StdioTransport } = await import(${JSON.stringify(transport)});
    const start = () => {
      const transport = new StdioTransport({ command: process.execPath, args: ["-e", ""], cwd: "/", env: {}, lineBytes: 1000, children: { add() {}, remove() {} }, onStderr() {}, onNote() {} });
      return transport.start().then(() => transport.close()).then(() => "started", (error) => error.message + (error.retry ? "; retry" : ""));
    };
    const taken = [];
    try { for (;;) taken.push(openSync("/dev/null")); } catch {}
    console.log(await start());
    taken.forEach((fd) => closeSync(fd));
    console.log(await start());`;
  const { stdout } = await promisify(execFile)("sh", ["-c", 'ulimit -n 100; exec "$0" --input-type=module -e "$1"', process.execPath, program]);
  expect(stdout).toMatch(/could not be started: .*EMFILE; retry\nstarted\n$/);
});
