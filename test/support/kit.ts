import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { AmpEnvelope } from "../../src/amp/types.ts";
import type { Kit, Logger } from "../../src/kit-api.ts";
import { createKit } from "../../src/kit.ts";
import { makeWorkspace, type TestWorkspace } from "./workspace.ts";

const SCRIPTED = fileURLToPath(new URL("servers/scripted.mjs", import.meta.url));

/** A running kit over a workspace of its own, with real child processes. */
export interface TestKit {
  readonly kit: Kit;
  readonly workspace: TestWorkspace;
  /** Everything in the inbox, oldest first. */
  inbox(): Promise<AmpEnvelope[]>;
  pid(app: string): number | null;
  stop(): Promise<void>;
}

/** YAML of an app that runs the scripted server with a script. */
export function scriptedApp(script: object, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const { mcp, ...settings } = more as { mcp?: object };
  return { trust: "high", ...settings, mcp: { command: [process.execPath, SCRIPTED], args: [JSON.stringify(script)], ...mcp } };
}

/** The text of a topology.yaml; JSON is YAML. */
export function topologyText(apps: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ topology: 1, data_dir: "../data", apps, inbox: { fsync: false }, ...more }, null, 2);
}

/** Starts a kit over these files and waits until every app has settled. */
export async function startKit(
  files: Readonly<Record<string, string>>,
  options: { readonly watch?: boolean; readonly settle?: boolean; readonly env?: NodeJS.ProcessEnv; readonly log?: Logger } = {},
): Promise<TestKit> {
  const workspace = await makeWorkspace(files);
  const kit = createKit({
    topology: workspace.topology,
    watch: options.watch ?? false,
    ...(options.env ? { env: options.env } : {}),
    ...(options.log ? { log: options.log } : {}),
  });
  const stop = async (): Promise<void> => {
    await kit.close();
    await workspace.remove();
  };
  try {
    await kit.start();
    if (options.settle ?? true) await until(() => kit.status().apps.every((a) => a.state !== "starting"));
  } catch (error) {
    await stop();
    throw error;
  }
  const dir = path.join(workspace.root, "data/kernel/inbox/pending");
  return {
    kit,
    workspace,
    async inbox() {
      const names = (await readdir(dir).catch(() => [])).filter((n) => n.endsWith(".json") && !n.startsWith("."));
      const events = await Promise.all(names.map(async (n) => JSON.parse(await readFile(path.join(dir, n), "utf8")) as AmpEnvelope));
      return events.sort((a, b) => (a.header.timestamp < b.header.timestamp ? -1 : 1));
    },
    pid: (app) => kit.status().apps.find((a) => a.package === app)?.pid ?? null,
    stop,
  };
}

/** Waits until something holds; fails with a plain message after `ms`. */
export async function until(holds: () => boolean | Promise<boolean>, ms = 10_000, what = "what was waited for did not come"): Promise<void> {
  const end = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Whether a process with this id runs (a zombie does not). */
export async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => null);
  if (stat === null) return false;
  const state = stat.slice(stat.lastIndexOf(")") + 2).charAt(0);
  return state !== "Z" && state !== "X";
}
