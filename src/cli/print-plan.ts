import type { ReloadResult } from "../kit-api.ts";
import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import { count, escapeInvisible } from "../base/text.ts";
import { countChanges } from "../plan/diff.ts";
import type { ChangeSet, Plan } from "../plan/types.ts";
import type { Style } from "./style.ts";

/** The `--json` form of a plan made without a host (contracts 10). */
export function planReport(changes: ChangeSet): JsonObject {
  const lists = {
    start: changes.start,
    stop: changes.stop,
    restart: changes.restart,
    reconnect: changes.reconnect,
    relist: changes.relist,
    live: changes.live,
    parked: changes.parked,
    unchanged: changes.unchanged,
  };
  const apps = Object.fromEntries(Object.entries(lists).map(([key, list]): [string, Json] => [key, [...list]]));
  return {
    changes: countChanges(changes),
    apps,
    tools: { added: [], removed: [], changed: [] },
    policy: changes.policy,
    signals: changes.signals,
    exports: changes.exports,
    settings: changes.settings,
    host: [...changes.host],
    pins: [],
  };
}

const APP_LINES: readonly [
  key: "start" | "stop" | "restart" | "reconnect" | "relist" | "live" | "parked",
  mark: string,
  look: Parameters<Style>[0],
  words: string,
][] = [
  ["start", "+", "green", "starts"],
  ["stop", "-", "red", "stops"],
  ["restart", "~", "yellow", "restarts"],
  ["reconnect", "~", "yellow", "reconnects"],
  ["relist", "~", "cyan", "lists its tools again"],
  ["live", "~", "cyan", "changes without touching its connection"],
  ["parked", "!", "yellow", "is parked, or no longer"],
];

const LIST_LINES = [
  ["added", "+", "green"],
  ["removed", "-", "red"],
  ["changed", "~", "yellow"],
] as const;

/** How a restart goes, by the app's `handover`. */
const HANDOVER_WORDS: ReadonlyMap<unknown, string> = new Map([
  ["overlap", " beside the running one, then takes over"],
  ["stop_first", ": the running one stops first, then the new one starts"],
]);

/** What `up` would start, for people. */
export function printStart(plan: Plan, style: Style): string {
  const apps = [...plan.apps.values()].map((app) => `${style("green", "+")} ${app.package} starts (${app.connect.transport}, trust ${app.trust})`);
  const parked = [...plan.parked.values()].map((app) => `${style("yellow", "!")} ${app.package} is ${app.state}: ${escapeInvisible(app.reason)}`);
  return [...apps, ...parked].join("\n") || "no apps";
}

/** A plan for people: what is wrong, then one line an app, then tools, rules and the rest. */
export function printPlan(result: ReloadResult & { readonly report: JsonObject }, style: Style): string {
  const { changes, report } = result;
  const findings = findingsOf(result).flatMap((text) => [text, ""]);
  if (changes.empty) return [...findings, "no changes"].join("\n");
  const lines = [...findings, ...appLines(changes, style, report)];
  const tools = own(report, "tools");
  for (const [key, mark, look] of LIST_LINES) {
    const list = own(tools, key);
    if (Array.isArray(list)) for (const tool of list) lines.push(`${style(look, mark)} tool ${escapeInvisible(describe(tool))}`);
  }
  const [cost, then] = [own(own(tools, "tokens"), "before"), own(own(tools, "tokens"), "after")];
  if (typeof cost === "number" && typeof then === "number" && cost !== then)
    lines.push(`${style("yellow", "~")} the tools cost ${count(then, "token")} (${then > cost ? "+" : ""}${then - cost})`);
  if (changes.policy)
    lines.push(
      `${style("yellow", "~")} policy rules change; they hold at once`,
      ...listLines(own(report, "rules"), "rule", style),
      ...namedLines(own(report, "policy_settings"), style),
    );
  if (changes.signals) lines.push(`${style("yellow", "~")} signal mappings change`, ...listLines(own(report, "mappings"), "mapping", style));
  if (changes.exports) lines.push(`${style("yellow", "~")} export files change`);
  if (changes.settings) lines.push(`${style("yellow", "~")} settings change`);
  for (const field of changes.host) lines.push(`${style("red", "!")} ${field} changes only when the host is restarted`);
  if (changes.unchanged.length > 0) lines.push(style("dim", `  ${count(changes.unchanged.length, "app keeps", "apps keep")} running untouched`));
  return lines.join("\n");
}

function appLines(changes: ChangeSet, style: Style, report: JsonObject): string[] {
  return APP_LINES.flatMap(([key, mark, look, words]) =>
    changes[key].map((app) => {
      const calls = own(own(report, "calls_in_flight"), app);
      const how = key === "restart" ? (HANDOVER_WORDS.get(own(own(report, "handover"), app)) ?? "") : "";
      return `${style(look, mark)} ${app} ${words}${how}${typeof calls === "number" && calls > 0 ? ` (${count(calls, "call runs and finishes", "calls run and finish")} first)` : ""}`;
    }),
  );
}

/** Added, removed and changed rules, one a line. */
function listLines(lists: unknown, what: string, style: Style): string[] {
  return LIST_LINES.flatMap(([key, mark, look]) => {
    const list = own(lists, key);
    return Array.isArray(list) ? list.map((id) => `  ${style(look, mark)} ${what} ${escapeInvisible(String(id))}`) : [];
  });
}

function namedLines(names: unknown, style: Style): string[] {
  return Array.isArray(names) ? names.map((name) => `  ${style("yellow", "~")} ${String(name)}`) : [];
}

/** A tool of the report: its name, or an object with name and more. */
function describe(tool: unknown): string {
  if (!isObject(tool)) return String(tool);
  const { name, ...rest } = tool;
  const more = Object.entries(rest).map(([key, value]) => `${key} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`);
  return `${String(name)}${more.length > 0 ? `  (${more.join(", ")})` : ""}`;
}

/** The outcome of a reload for people. */
export function printReload(result: ReloadResult, style: Style): string {
  const looks = { applied: "green", unchanged: "dim", rejected: "red", partial: "yellow", pending: "yellow" } as const;
  const head = `${style(looks[result.result], result.result)}  revision ${result.revision}`;
  const hint = result.result === "pending" ? "\nthe change waits: aurora-mcp plan shows it, aurora-mcp apply lets it through" : "";
  const none = { ...result, errors: [], warnings: [], report: {} };
  return [head + hint, ...findingsOf(result), ...(result.changes.empty ? [] : [printPlan(none, style)])].join("\n");
}

/** The text of what is wrong, if anything is. */
function findingsOf({ errors, warnings, text }: ReloadResult): string[] {
  return errors.length + warnings.length > 0 ? [text.trimEnd()] : [];
}
