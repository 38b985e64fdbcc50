import { spawn } from "node:child_process";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { httpSpec, stdioSpec } from "../support/app-plan.ts";
import { atEnd, open, temporaryFolder, textOf, until } from "./support.ts";

const require = createRequire(import.meta.url);
const everything = join(dirname(require.resolve("@modelcontextprotocol/server-everything/package.json")), "dist/index.js");
const filesystem = join(dirname(require.resolve("@modelcontextprotocol/server-filesystem/package.json")), "dist/index.js");

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("server-everything", () => {
  it("is listed, called with progress, and closed over stdio", async () => {
    const { connection } = await open(stdioSpec(process.execPath, [everything, "stdio"]));
    expect(connection).toMatchObject({ transport: "stdio", closed: false, protocolVersion: "2025-11-25" });
    const listing = await connection.list();
    expect(listing.tools.map((tool) => tool.name)).toContain("echo");
    expect(listing.prompts.length).toBeGreaterThan(0);
    expect(listing.resources.length).toBeGreaterThan(0);
    expect(listing.dropped).toEqual([]);
    expect(textOf(await connection.request("tools/call", { name: "echo", arguments: { message: "日本 🎉" } }))).toContain("日本 🎉");
    const progress: number[] = [];
    await connection.request(
      "tools/call",
      { name: "trigger-long-running-operation", arguments: { duration: 0.3, steps: 3 } },
      { onProgress: (p) => progress.push(p.progress) },
    );
    expect(progress).toEqual([1, 2, 3]);
    await connection.close();
    expect(connection.closed).toBe(true);
  });

  it("is listed, called and closed over Streamable HTTP", async () => {
    const port = await freePort();
    const server = spawn(process.execPath, [everything, "streamableHttp"], { env: { ...process.env, PORT: String(port) }, stdio: "ignore" });
    atEnd(() => server.kill("SIGKILL"));
    await until(
      () =>
        fetch(`http://127.0.0.1:${port}/mcp`).then(
          () => true,
          () => false,
        ),
      15_000,
    );
    const { connection } = await open(httpSpec(`http://127.0.0.1:${port}/mcp`));
    const listing = await connection.list();
    expect(listing.tools.map((tool) => tool.name)).toContain("echo");
    const progress: number[] = [];
    await connection.request(
      "tools/call",
      { name: "trigger-long-running-operation", arguments: { duration: 0.3, steps: 3 } },
      { onProgress: (p) => progress.push(p.progress) },
    );
    expect(progress).toEqual([1, 2, 3]);
    expect(await connection.alive(2000)).toBe(true);
    await connection.close();
  });
});

describe("server-filesystem", () => {
  it("asks for the granted roots and reads a file in them", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a.txt"), "hello");
    const asked: string[] = [];
    const { connection } = await open(
      stdioSpec(process.execPath, [filesystem]),
      { grants: { roots: [folder] } },
      {
        hooks: {
          onServerRequest: async (request) => {
            asked.push(request.method);
            return { roots: [{ uri: `file://${folder}` }] };
          },
        },
      },
    );
    await until(() => asked.length > 0);
    expect(asked).toEqual(["roots/list"]);
    await until(async () => !(await connection.request("tools/call", { name: "list_allowed_directories", arguments: {} }).then(textOf)).endsWith(":\n"));
    expect(textOf(await connection.request("tools/call", { name: "read_text_file", arguments: { path: join(folder, "a.txt") } }))).toBe("hello");
  });
});
