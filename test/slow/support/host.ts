import { readFile } from "node:fs/promises";
import path from "node:path";
import { startCli } from "../../support/built-cli.ts";
import { until } from "../../support/kit.ts";
import { makeWorkspace } from "../../support/workspace.ts";

/** A host of its own: the real `aurora-mcp up` in a new workspace. */
export interface Host {
  readonly root: string;
  /** Of the gateway, with /mcp. */
  readonly url: string;
  /** Where the control API is. */
  readonly origin: string;
  /** The caller's token. */
  readonly token: string;
  /** Names of apps and their number of tools, as they were when the host was ready. */
  readonly apps: Readonly<Record<string, number>>;
  /** Ends the host with TERM and removes the workspace; fails when it does not end in order. */
  stop(): Promise<void>;
}

interface AppRow {
  readonly package: string;
  readonly state: string;
  readonly tools: number;
  readonly reason: string | null;
}

/** Starts a host over these files (`topology/topology.yaml` is one) and waits until every app is ready. */
export async function startHost(
  files: Readonly<Record<string, string>>,
  options: { readonly env?: NodeJS.ProcessEnv; readonly timeoutMs?: number } = {},
): Promise<Host> {
  const workspace = await makeWorkspace(files);
  const cli = await startCli(["up", "--json", "--topology", workspace.topology], {
    cwd: workspace.root,
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  const stop = async (): Promise<void> => {
    cli.child.kill("SIGTERM");
    const killer = setTimeout(() => cli.child.kill("SIGKILL"), 30_000);
    const { code, signal, stderr } = await cli.done;
    clearTimeout(killer);
    await workspace.remove();
    if (code !== 0) throw new Error(`the host ended with code ${code}, signal ${signal}:\n${stderr}`);
  };
  try {
    await cli.until(/"gateway":.*\n/, options.timeoutMs ?? 60_000);
    const { gateway } = JSON.parse(cli.stdout()) as { gateway: { url: string } };
    const { origin } = new URL(gateway.url);
    // With `auth: none` there is no token to read.
    const token = (await readFile(path.join(workspace.root, "data/run/caller.token"), "utf8").catch(() => "")).trim();
    // The host is ready with whatever app is healthy by then; these tests want all.
    let apps: readonly AppRow[] = [];
    const allReady = async (): Promise<boolean> => {
      const answer = await fetch(`${origin}/api/apps`, { headers: token === "" ? {} : { authorization: `Bearer ${token}` } });
      apps = (await answer.json()) as AppRow[];
      return apps.every((app) => app.state === "ready");
    };
    await until(allReady, 60_000).catch(() => {
      throw new Error(`not every app is ready: ${apps.map((app) => `${app.package} ${app.state} ${app.reason ?? ""}`).join("; ")}\n${cli.stderr()}`);
    });
    return { root: workspace.root, url: gateway.url, origin, token, apps: Object.fromEntries(apps.map((app) => [app.package, app.tools])), stop };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}
