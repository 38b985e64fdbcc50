import { escapeInvisible } from "../../base/text.ts";
import type { AppStatus } from "../../kit-api.ts";
import type { Plan } from "../../plan/types.ts";
import { wholeNumber } from "../arguments.ts";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { attach, withHost } from "../connect.ts";
import { requireApp } from "../known-app.ts";
import { openWorkspace, requireRunnable } from "../open-workspace.ts";
import { printApps } from "../print-status.ts";

const list = defineCommand({
  usage: "apps list",
  summary: "List the apps with their states; without a running host, as the files say them.",
  examples: ["aurora-mcp apps list", "aurora-mcp apps list --json"],
  run: async (context, options) => {
    const workspace = await openWorkspace(context, options);
    const host = await attach(context, workspace);
    let apps: readonly AppStatus[];
    if (host === null) {
      requireRunnable(context, options, workspace);
      apps = appsOf(workspace.plan);
    } else {
      apps = (await host.status()).apps;
      host.close();
    }
    if (options.json) context.json(apps);
    else context.out(printApps(apps, context.style));
    if (host === null) context.note("no host runs here; start one with: aurora-mcp up");
  },
});

/** The apps of a plan that nobody runs. */
function appsOf(plan: Plan): AppStatus[] {
  const idle = { pid: null, protocol: null, tools: 0, restarts: 0, next_attempt: null, calls: 0, sessions: null, dropped: [], warnings: [], findings: [] };
  const apps: AppStatus[] = [
    ...[...plan.apps.values()].map((app): AppStatus => ({
      ...idle,
      package: app.package,
      name: app.name,
      state: "stopped",
      transport: app.connect.transport,
      version: app.version,
      reason: null,
      source: app.source,
    })),
    ...[...plan.parked.values()].map((app): AppStatus => ({
      ...idle,
      package: app.package,
      name: app.package,
      state: app.state,
      transport: null,
      version: null,
      reason: app.reason,
      source: app.display,
    })),
  ];
  return apps.sort((a, b) => (a.package < b.package ? -1 : 1));
}

const restart = defineCommand({
  usage: "apps restart <package>",
  summary: "Start an app anew, also one that is parked or failed.",
  examples: ["aurora-mcp apps restart im.polaris.weather"],
  run: (context, options, [app]) =>
    withHost(context, options, "attach", async (host) => {
      await requireApp(host, app);
      const status = await host.restartApp(app!);
      if (options.json) context.json(status);
      else context.out(printApps([status], context.style));
      return status.state === "ready" ? EXIT.ok : EXIT.problems;
    }),
});

const logs = defineCommand<{ follow?: boolean; tail?: number }>({
  usage: "apps logs <package>",
  summary: "Show what an app wrote to stderr.",
  examples: ["aurora-mcp apps logs im.polaris.clock", "aurora-mcp apps logs im.polaris.clock --follow --tail 20"],
  options: (command) =>
    command.option("-f, --follow", "go on with new lines until Ctrl-C").option("--tail <lines>", "only so many of the last lines", wholeNumber(0)),
  run: (context, options, [app]) =>
    withHost(context, options, "attach", async (host) => {
      await requireApp(host, app);
      const show = (line: string): void => (options.json ? context.out(JSON.stringify({ app, line })) : context.out(escapeInvisible(line)));
      if (options.follow) return host.followLog(app!, show, { signal: context.signal, ...(options.tail === undefined ? {} : { tail: options.tail }) });
      const lines = await host.appLog(app!, options.tail);
      if (options.json) context.json(lines);
      else for (const line of lines) show(line);
    }),
});

/** `apps list`, `apps restart`, `apps logs`. */
export const appsCommands = [list, restart, logs];
