import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { builtCli, projectRoot } from "../support/built-cli.ts";
import { httpMcpServer } from "../support/http-mcp-server.ts";
import { scriptedApp, topologyText } from "../support/kit.ts";
import { makeWorkspace } from "../support/workspace.ts";

/** A program that waits for one call and nothing else, and is closed when that has ended. */
const PROGRAM = `
const { createKit } = await import(process.argv[1]);
const kit = createKit({ topology: process.argv[2], watch: false });
await kit.start();
while (kit.status().apps[0].state === "starting") await new Promise((resolve) => setTimeout(resolve, 20));
const { error } = await kit.callTool("org.test.a.echo", {});
console.log(error.error_code);
await kit.close();
`;

it.each(["stdio", "http"])("a program that only waits for a call lives until its deadline, whoever is silent: a server over %s", async (transport) => {
  await builtCli();
  const server = await httpMcpServer(({ message }) => message.method === "tools/call");
  const app =
    transport === "stdio"
      ? scriptedApp({ on: { "tools/call": [{ silent: true }] } })
      : ({ trust: "high", mcp: { url: server.url } } as Record<string, unknown>);
  const workspace = await makeWorkspace({ "topology/topology.yaml": topologyText({ "org.test.a": { ...app, call_timeout: "1s" } }) });
  try {
    const index = path.join(projectRoot, "dist", "index.js");
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM, index, workspace.topology], { timeout: 30_000 });
    expect(stdout.trim().split("\n").at(-1)).toBe("TIMEOUT");
  } finally {
    await server.close();
    await workspace.remove();
  }
});
