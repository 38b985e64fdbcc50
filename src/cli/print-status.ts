import type { AppStatus, KitStatus } from "../kit-api.ts";
import { count, escapeInvisible, truncate } from "../base/text.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";

const LOOKS: Readonly<Record<AppStatus["state"], Parameters<Style>[0]>> = {
  ready: "green",
  starting: "yellow",
  backoff: "yellow",
  stopping: "yellow",
  parked: "red",
  failed: "red",
  stopped: "dim",
  disabled: "dim",
  skipped: "dim",
};

/** The apps as a table: state, tools, process, and the reason where one is not well. */
export function printApps(apps: readonly AppStatus[], style: Style): string {
  const rows = apps.map((app) => [
    app.package,
    app.state,
    String(app.tools),
    app.transport === "http" ? "http" : (app.pid?.toString() ?? "-"),
    String(app.restarts),
    truncate(app.reason ?? "", 200),
  ]);
  return table(["APP", "STATE", "TOOLS", "PID", "RESTARTS", "REASON"], rows, style, (row, column) => (column === 1 ? LOOKS[apps[row]!.state] : null));
}

/** The whole status for people: the apps, then where everything is and what waits. */
export function printStatus(status: KitStatus, style: Style): string {
  const lines = [printApps(status.apps, style), ""];
  const line = (name: string, text: string): void => void lines.push(`${style("dim", name.padEnd(10))}${text}`);
  const { by_risk: risk } = status.tools;
  line("tools", `${status.tools.exposed} exposed (${risk.low} low, ${risk.medium} medium, ${risk.high} high, ${risk.critical} critical)${hidden(status)}`);
  line("gateway", status.gateway.url ?? "none");
  if (status.gateway.url !== null) line("web", new URL("/", status.gateway.url).href);
  line("inbox", inboxText(status.inbox, style));
  for (const entry of status.exports)
    line(
      "export",
      `${entry.format}  ${entry.file}  ${entry.error === null ? `(${count(entry.tools, "tool")})` : style("red", `not written: ${escapeInvisible(entry.error)}`)}`,
    );
  line("topology", `${status.topology}  (revision ${status.revision}, ${configText(status, style)})`);
  line("policy", status.policy.loaded ? count(status.policy.rules, "rule") : style("red", "not loaded: nothing can be called"));
  if (status.approvals.pending > 0) line("approvals", style("yellow", `${status.approvals.pending} waiting: aurora-mcp approvals list`));
  for (const change of status.config.host_changes) line("restart", style("yellow", `${change} changed and waits for a restart of the host`));
  const findings = [...status.config.errors, ...status.config.warnings];
  // What servers really show may give the same warning as what their manifests announce.
  findings.push(...status.policy.warnings.filter(({ message }) => !findings.some((known) => known.message === message)));
  for (const { file, line: at, severity, code, message } of findings)
    lines.push(`  ${escapeInvisible(`${file === null ? "" : `${file}:${at}: `}${severity}[${code}]: ${message}`)}`);
  for (const app of status.apps) for (const text of notesOf(app)) lines.push(`  ${app.package}: ${escapeInvisible(text)}`);
  return lines.join("\n");
}

function hidden({ tools }: KitStatus): string {
  const parts = (["quarantined", "denied", "unavailable"] as const).filter((key) => tools[key] > 0).map((key) => `${tools[key]} ${key}`);
  return parts.length > 0 ? `, ${parts.join(", ")}` : "";
}

function inboxText(inbox: KitStatus["inbox"], style: Style): string {
  if (inbox.dir === null) return "off";
  const counts = `${inbox.written} written, ${inbox.pending} pending`;
  return `${inbox.dir}  (${counts}${inbox.dropped > 0 ? `, ${inbox.dropped} dropped` : ""})${inbox.degraded === null ? "" : style("red", `  degraded: ${inbox.degraded}`)}`;
}

function configText(status: KitStatus, style: Style): string {
  switch (status.config.state) {
    case "applied":
      return "applied";
    case "pending":
      return style("yellow", "an edit waits for aurora-mcp apply");
    case "partial":
      return style("yellow", "the last edit is applied in part");
    case "rejected":
      return style("red", "the last edit is rejected, the one before stays active");
  }
}

function notesOf(app: AppStatus): string[] {
  const { sessions } = app;
  return [
    ...(sessions === null ? [] : [`${count(sessions.open.length, "session")} with a connection of its own`]),
    ...(sessions === null || sessions.lost === 0 ? [] : [`${count(sessions.lost, "connection")} of sessions lost, the last one: ${sessions.reason}`]),
    ...app.dropped.map((item) => `${item.kind} "${item.name}" left out: ${item.reason}`),
    ...app.warnings,
  ];
}
