import { spawn, type ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtCli } from "../support/built-cli.ts";
import { until } from "../support/kit.ts";
import { startHost, type Host } from "./support/host.ts";
import { INSTALL_MS, pythonWith, type Python } from "./support/python.ts";

const require = createRequire(import.meta.url);
const node = JSON.stringify(process.execPath);
/** A program of an npm package, by the place of its package.json. */
const program = (manifest: string, file: string): string => path.join(path.dirname(manifest), file);
const everything = program(require.resolve("@modelcontextprotocol/server-everything/package.json"), "dist/index.js");
const filesystem = program(require.resolve("@modelcontextprotocol/server-filesystem/package.json"), "dist/index.js");
const memory = program(require.resolve("@modelcontextprotocol/server-memory/package.json"), "dist/index.js");
const mcpRemote = program(require.resolve("mcp-remote/package.json"), "dist/proxy.js");
const quoted = (text: string): string => JSON.stringify(text);

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]!.text;

/** The MCP SDK's own client at the gateway of a host. */
async function clientOf(host: Host): Promise<Client> {
  const client = new Client({ name: "interop", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(host.url), { requestInit: { headers: { authorization: `Bearer ${host.token}` } } }) as never);
  return client;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("servers of others behind the gateway", () => {
  let host: Host;
  let client: Client;
  let remote: ChildProcess;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "aurora-interop-"));
    const port = await freePort();
    remote = spawn(process.execPath, [everything, "streamableHttp"], { env: { ...process.env, PORT: String(port) }, stdio: "ignore" });
    await until(
      () =>
        fetch(`http://127.0.0.1:${port}/mcp`).then(
          () => true,
          () => false,
        ),
      30_000,
      "server-everything does not listen",
    );
    host = await startHost({
      "topology/topology.yaml": `
topology: 1
data_dir: ../data
apps:
  org.example.everything: { trust: medium, mcp: { command: [${node}, ${quoted(everything)}, stdio] } }
  org.example.remote: { trust: medium, mcp: { url: "http://127.0.0.1:${port}/mcp" } }
  org.example.files: { trust: medium, mcp: { command: [${node}, ${quoted(filesystem)}, ${quoted(folder)}] } }
  org.example.memory: { trust: medium, mcp: { command: [${node}, ${quoted(memory)}], env: { MEMORY_FILE_PATH: ${quoted(path.join(folder, "memory.jsonl"))} } } }
policies: [policies/*.yaml]
gateway: { listen: "127.0.0.1:0" }
`,
      "topology/policies/files.yaml": "rules: [{ id: own-folder, apps: [org.example.files, org.example.memory], action: allow }]\n",
    });
    client = await clientOf(host);
  });
  afterAll(async () => {
    await client?.close();
    await host?.stop();
    remote?.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });

  test("all four are ready, with all their tools", async () => {
    process.stdout.write(`  tools: ${JSON.stringify(host.apps)}\n`);
    expect(Object.values(host.apps).every((tools) => tools > 8)).toBe(true);
    expect((await client.listTools()).tools).toHaveLength(Object.values(host.apps).reduce((sum, tools) => sum + tools));
  });

  test.each(["everything", "remote"])("server-everything as %s: text, structured result, progress, images", async (app) => {
    const name = (tool: string): string => `org_example_${app}_${tool}`;
    expect(textOf(await client.callTool({ name: name("echo"), arguments: { message: "日本 🎉" } }))).toContain("日本 🎉");
    const weather = await client.callTool({ name: name("get-structured-content"), arguments: { location: "New York" } });
    expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
    const progress: number[] = [];
    await client.callTool({ name: name("trigger-long-running-operation"), arguments: { duration: 0.3, steps: 3 } }, undefined, {
      onprogress: (p) => progress.push(p.progress),
    });
    expect(progress).toEqual([1, 2, 3]);
    const image = (await client.callTool({ name: name("get-tiny-image"), arguments: {} })) as { content: { type: string }[] };
    expect(image.content.map((block) => block.type)).toContain("image");
    await expect(client.callTool({ name: name("echo"), arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });

  test("server-filesystem writes and reads in its folder, and refuses what is outside", async () => {
    const file = path.join(folder, "a.txt");
    await client.callTool({ name: "org_example_files_write_file", arguments: { path: file, content: "written through the gateway" } });
    expect(textOf(await client.callTool({ name: "org_example_files_read_text_file", arguments: { path: file } }))).toBe("written through the gateway");
    expect(await client.callTool({ name: "org_example_files_read_text_file", arguments: { path: "/etc/hostname" } })).toMatchObject({ isError: true });
  });

  test("server-memory keeps entities", async () => {
    await client.callTool({
      name: "org_example_memory_create_entities",
      arguments: { entities: [{ name: "Aurora", entityType: "bot", observations: ["likes tea"] }] },
    });
    const found = await client.callTool({ name: "org_example_memory_search_nodes", arguments: { query: "tea" } });
    expect(found.structuredContent).toMatchObject({ entities: [{ name: "Aurora" }] });
  });

  test("resources and prompts come through", async () => {
    const { resources } = await client.listResources();
    expect(resources.length).toBeGreaterThan(0);
    expect((await client.readResource({ uri: resources[0]!.uri })).contents).toHaveLength(1);
    expect((await client.listPrompts()).prompts.map((prompt) => prompt.name)).toContain("org_example_everything_simple-prompt");
    expect((await client.getPrompt({ name: "org_example_everything_simple-prompt" })).messages.length).toBeGreaterThan(0);
  });
});

/** The Python SDK in its two lines. */
const PYTHON_SDKS = ["1.30.0", "2.3.0"] as const;
const pythons = new Map<string, Python | null>();
for (const version of PYTHON_SDKS) pythons.set(version, await pythonWith([`mcp==${version}`]));

describe.each(PYTHON_SDKS)("servers of the Python SDK %s", (version) => {
  const python = pythons.get(version)!;
  let host: Host;
  let client: Client;
  beforeAll(async () => {
    if (python === null) return;
    const command = [python.program, python.script("fastmcp_server.py")].map(quoted).join(", ");
    host = await startHost({
      "topology/topology.yaml": `{ topology: 1, data_dir: ../data, apps: { org.example.python: { trust: high, mcp: { command: [${command}] } } }, gateway: { listen: "127.0.0.1:0", naming: none } }\n`,
    });
    client = await clientOf(host);
  }, INSTALL_MS);
  afterAll(async () => {
    await client?.close();
    await host?.stop();
  });

  test.skipIf(python === null)("tools, models as arguments, failures, progress, resources, prompts", async () => {
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["add", "count", "fail", "greet"]);
    expect((await client.callTool({ name: "add", arguments: { a: 40, b: 2 } })).structuredContent).toEqual({ result: 42 });
    expect((await client.callTool({ name: "greet", arguments: { person: { name: "Ada" }, polite: true } })).structuredContent).toEqual({
      greeting: "Good day, Ada",
    });
    const failed = await client.callTool({ name: "fail", arguments: {} });
    expect([failed.isError, textOf(failed)]).toEqual([true, expect.stringContaining("fail")]);
    await expect(client.callTool({ name: "add", arguments: { a: "forty" } })).rejects.toMatchObject({ code: -32602 });
    const progress: number[] = [];
    await client.callTool({ name: "count", arguments: { steps: 3 } }, undefined, { onprogress: (p) => progress.push(p.progress) });
    expect(progress).toEqual([1, 2, 3]);
    expect((await client.readResource({ uri: "note://hello" })).contents[0]).toMatchObject({ text: "hello from Python" });
    expect((await client.getPrompt({ name: "ask", arguments: { topic: "MCP" } })).messages[0]!.content).toMatchObject({ text: "What is MCP?" });
  });
});

describe("clients of others at the gateway", () => {
  let host: Host;
  beforeAll(async () => {
    host = await startHost({
      "topology/topology.yaml": `
topology: 1
name: interop
data_dir: ../data
apps: { org.example.everything: { trust: medium, mcp: { command: [${node}, ${quoted(everything)}, stdio] } } }
gateway: { listen: "127.0.0.1:0", naming: none }
`,
    });
  });
  afterAll(() => host?.stop());

  test("mcp-remote, as clients without HTTP start it", async () => {
    const config = await mkdtemp(path.join(tmpdir(), "aurora-mcp-remote-"));
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [mcpRemote, host.url, "--header", `Authorization:Bearer ${host.token}`, "--allow-http", "--transport", "http-only"],
      env: { PATH: process.env["PATH"] ?? "", HOME: config, MCP_REMOTE_CONFIG_DIR: config },
      stderr: "ignore",
    });
    const client = new Client({ name: "interop", version: "1" });
    try {
      await client.connect(transport as never, { timeout: 60_000 });
      expect(client.getServerVersion()?.name).toBe("interop");
      expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("echo");
      expect(textOf(await client.callTool({ name: "echo", arguments: { message: "over two hops" } }))).toContain("over two hops");
      expect((await client.callTool({ name: "echo", arguments: {} }).catch((error: unknown) => error)) as object).toMatchObject({ code: -32602 });
    } finally {
      await client.close();
      await rm(config, { recursive: true, force: true });
    }
  });

  for (const version of PYTHON_SDKS) {
    const python = pythons.get(version)!;
    for (const way of ["http", "stdio"] as const) {
      test.skipIf(python === null)(`the Python SDK ${version} over ${way}`, async () => {
        const stdio = ["stdio", process.execPath, await builtCli(), "serve", "--stdio", "--topology", path.join(host.root, "topology/topology.yaml")];
        const seen = await python!.json("client.py", { args: way === "http" ? [host.url, host.token] : stdio });
        expect(seen).toMatchObject({
          server: "interop",
          tools: expect.arrayContaining(["echo", "get-sum"]),
          echo: { content: [{ text: expect.stringContaining("日本 🎉") }] },
          progress: [1, 2, 3],
          unknown: expect.stringContaining("Unknown tool: no-such-tool"),
          resource: { uri: expect.any(String) },
          prompts: expect.arrayContaining(["simple-prompt"]),
          messages: 1,
        });
      });
    }
  }
});
