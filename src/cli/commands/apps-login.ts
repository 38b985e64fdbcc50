import { spawn } from "node:child_process";
import type { AppPlan } from "../../plan/types.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import type { RunnableWorkspace } from "../../workspace.ts";
import { unknownApp } from "../known-app.ts";
import { openRunnable } from "../open-workspace.ts";

const loginCommand = defineCommand<{ browser?: boolean }>({
  usage: "apps login <package>",
  summary: "Sign in to an http app that uses OAuth; opens a browser.",
  details: "The tokens are kept in the data folder (mode 0600) and renewed by themselves. A running host uses them at its next attempt.",
  examples: ["aurora-mcp apps login org.example.search", "aurora-mcp apps login org.example.search --no-browser"],
  options: (command) => command.option("--no-browser", "only print the address to open"),
  run: async (context, options, [name]) => {
    const workspace = await openRunnable(context, options);
    const app = httpApp(workspace, name!);
    const { login } = await import("../../mcp/oauth-login.ts");
    const openBrowser = (url: string): void => {
      context.note(`open this address to sign in:\n  ${url}`);
      if (options.browser !== false && context.interactive) browse(url);
    };
    const done = await login(app, {
      dataDir: workspace.plan.dataDir,
      clientName: workspace.plan.name,
      hostEnv: context.env,
      openBrowser,
      signal: context.signal,
    });
    if (options.json)
      context.json({
        app: app.package,
        issuer: done.issuer,
        scope: done.scope,
        expires_at: done.expiresAt === null ? null : new Date(done.expiresAt).toISOString(),
      });
    else
      context.out(
        `signed in to ${app.package} at ${done.issuer}${done.scope === null ? "" : ` (${done.scope})`}\nif a host runs: aurora-mcp apps restart ${app.package}`,
      );
  },
});

const logoutCommand = defineCommand({
  usage: "apps logout <package>",
  summary: "Sign out of an http app: revoke its OAuth tokens and forget them.",
  details:
    "Asks the authorization server to revoke refresh and access token where it offers that (RFC 7009), for ten seconds at most, then forgets them here, however that went. Exit code 0 also when they could not be revoked; stderr says why.",
  examples: ["aurora-mcp apps logout org.example.search"],
  run: async (context, options, [name]) => {
    const workspace = await openRunnable(context, options);
    const app = httpApp(workspace, name!);
    const { logout } = await import("../../mcp/oauth-logout.ts");
    const { forgotten, revoked, problems } = await logout(app, { dataDir: workspace.plan.dataDir, hostEnv: context.env, signal: context.signal });
    for (const problem of problems) context.note(`${problem}; the tokens are forgotten here, but count there until they end`);
    if (options.json) context.json({ app: app.package, forgotten, revoked, problems });
    else context.out(forgotten ? `signed out of ${app.package}${revoked ? ", its tokens are revoked" : ""}` : `there was no sign-in to ${app.package}`);
  },
});

function httpApp({ plan }: RunnableWorkspace, name: string): AppPlan {
  const app = plan.apps.get(name);
  if (app === undefined) throw unknownApp([name], [...plan.apps.keys()]);
  if (app.connect.transport !== "http" || app.connect.oauth === null)
    throw new CliError(`${name} does not use OAuth; for an http app write auth: { oauth: {} } under its mcp`, EXIT.problems);
  return app;
}

/** Opens the person's browser; where that does not work, the printed address does. */
function browse(url: string): void {
  const [program, ...args] =
    process.platform === "darwin" ? ["open", url] : process.platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler", url] : ["xdg-open", url];
  spawn(program!, args, { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}

/** `apps login` and `apps logout`. */
export const appsLoginCommands = [loginCommand, logoutCommand];
