import { readFile } from "node:fs/promises";
import { LOCAL_DOOR } from "../../control/http-server.ts";
import { CALLER, readToken, tokenFiles } from "../../control/tokens.ts";
import { version } from "../../kit/version.ts";
import { settled } from "../../settled.ts";
import type { RunnableWorkspace } from "../../workspace.ts";
import { CliError } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { attach } from "../connect.ts";
import type { Context } from "../context.ts";
import { openWorkspace, requireRunnable } from "../open-workspace.ts";

/** `serve --stdio`: all apps as one MCP server on stdin and stdout. */
export const serveCommand = defineCommand<{ stdio?: boolean }>({
  usage: "serve",
  summary: "Be one MCP server with all apps, on stdin and stdout, for Claude Desktop, Cursor, VS Code and others.",
  details: "Attaches to the running host of the workspace, or starts one that ends with the client. stdout carries protocol messages only; logs go to stderr.",
  examples: ["aurora-mcp serve --stdio --topology /path/to/topology/topology.yaml"],
  options: (command) => command.option("--stdio", "speak MCP on stdin and stdout"),
  run: async (context, options) => {
    if (!options.stdio) throw new CliError("say how to serve: --stdio (a running host serves HTTP by itself, see gateway in topology.yaml)");
    const workspace = await openWorkspace(context, options);
    const running = await attach(context, workspace);
    if (running !== null) {
      running.close();
      const { bridgeStdio } = await import("../../mcp/serve-bridge.ts");
      const [token, certificate] = await Promise.all([
        readToken(tokenFiles(running.host.data_dir).caller),
        running.host.tls_cert === null ? null : readFile(running.host.tls_cert, "utf8"),
      ]);
      return bridgeStdio({ url: `${running.host.url}/mcp`, token, certificate, input: process.stdin, output: process.stdout, signal: context.signal });
    }
    requireRunnable(context, options, workspace);
    return serveAlone(context, workspace);
  },
});

/** How long a client's first message waits for apps that are slow to start: what they have decides what the client is offered. Milliseconds. */
const READY_WAIT = 4000;

/** A host of its own, with its door open: `approvals`, `status` and further clients find it. */
async function serveAlone(context: Context, workspace: RunnableWorkspace): Promise<void> {
  const { plan, masker } = workspace;
  const [{ createLogger, startHost }, { createGateway }, { serveStdio }] = await Promise.all([
    import("../../daemon.ts"),
    import("../../mcp/gateway.ts"),
    import("../../mcp/serve-stdio.ts"),
  ]);
  const log = createLogger({ level: plan.log.level, format: "text", masker });
  const taken = new AbortController();
  const signal = AbortSignal.any([context.signal, taken.signal]);
  const host = await startHost({
    workspace,
    env: context.env,
    log,
    version: version(),
    onTaken: () => taken.abort(),
    onKit: (kit) => void context.onForce(() => void kit.close({ force: true })),
  });
  try {
    await settled(host.kit, { limitMs: READY_WAIT, signal });
    const gateway = createGateway({ kit: host.kit, settings: () => plan.gateway ?? LOCAL_DOOR, info: { name: plan.name, version: version() } });
    await serveStdio({
      gateway,
      principal: { role: "caller", client: CALLER, sees: () => true },
      input: process.stdin,
      output: process.stdout,
      signal,
    });
    await gateway.close();
  } finally {
    await host.stop();
  }
}
