import { KitError } from "../base/errors.ts";
import { compileGlob } from "../base/glob.ts";
import type { JsonObject } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import type { AppPlan } from "../plan/types.ts";
import type { Subject } from "../policy/types.ts";
import { toolSubject } from "../runtime/build-catalog.ts";
import type { AppView, Snapshot } from "../runtime/snapshot.ts";
import { shortNames } from "../tools/names.ts";
import { pinOf } from "../tools/pins.ts";
import type { Tool } from "../tools/types.ts";

/** What a call, a read or a prompt aims at, found in one snapshot. */
export interface Target {
  readonly kind: Subject["kind"];
  readonly app: string;
  /** The server's own name, or the URI; what policies, audit and events speak of. */
  readonly name: string;
  /** The name for people. */
  readonly full: string;
  readonly plan: AppPlan;
  /** What an approval is bound to, beside name and arguments. */
  readonly pin: string;
  readonly subject: Subject;
  /** The tool, for tool calls. */
  readonly tool: Tool | null;
}

/** Which tools a caller may see at all, by app and the server's own tool name. */
export type ToolSelection = (app: string, tool: string) => boolean;

/** Whether a person (or first use) accepted a prompt or template as it is now. */
export type ItemPinCheck = (app: string, kind: "prompt" | "resource_template", name: string, pin: string) => { readonly accepted: boolean; readonly reason: string | null };

/**
 * Finds a tool by full, short or unambiguous own name. `sees` is the caller's own tool selection; what it leaves out does not exist for
 * it. Throws TOOL_NOT_FOUND with near names, TOOL_QUARANTINED, or APP_UNAVAILABLE.
 */
export function findTool(snapshot: Snapshot, name: string, sees: ToolSelection): Target {
  const found = snapshot.catalog.find(name);
  const tool = found.tool && sees(found.tool.app, found.tool.tool) ? found.tool : undefined;
  const ambiguous = found.ambiguous.filter((t) => sees(t.app, t.tool));
  if (found.tool && !tool) throw notFound(snapshot, name, sees);
  if (ambiguous.length > 0) throw new KitError("TOOL_NOT_FOUND", `several apps have a tool "${name}"; say which: ${ambiguous.map((t) => t.full).join(", ")}`, { details: { candidates: ambiguous.map((t) => t.full) } });
  if (!tool || tool.state === "excluded") throw notFound(snapshot, name, sees);
  if (tool.state === "quarantined") throw new KitError("TOOL_QUARANTINED", `${tool.full} is quarantined: ${tool.reason ?? "nobody has accepted it yet"}`);
  const plan = snapshot.plan.apps.get(tool.app);
  if (!plan) throw new KitError("APP_REMOVED", `app ${tool.app} is no longer configured`, { outcome: "failed" });
  return { kind: "tool", app: tool.app, name: tool.tool, full: tool.full, plan, pin: tool.pin, subject: toolSubject(plan, tool.tool, tool.definition), tool };
}

function notFound(snapshot: Snapshot, name: string, sees: ToolSelection): KitError {
  const shown = snapshot.catalog.tools.filter((t) => t.state !== "excluded" && t.state !== "quarantined" && sees(t.app, t.tool));
  const near = nearest(name, shown.flatMap((t) => [t.full, t.short, t.tool]));
  const down = [...snapshot.apps.values()].find((view) => name.startsWith(`${view.package}.`) && view.state !== "ready" && view.listing === null);
  if (down) return new KitError("APP_UNAVAILABLE", `app ${down.package} is ${down.state}${down.reason ? `: ${down.reason}` : ""}`);
  return new KitError("TOOL_NOT_FOUND", `no tool is called "${name}"${near.length > 0 ? `; did you mean ${near.map((n) => `"${n}"`).join(", ")}?` : ""}`, { details: { near } });
}

/** Finds the app that shows a resource, by listed URI or by template. Throws RESOURCE_NOT_FOUND. */
export function findResource(snapshot: Snapshot, uri: string, app?: string): Target {
  const views = listed(snapshot, app);
  const exact = views.filter((v) => v.listing!.resources.some((r) => r.uri === uri));
  const owners = exact.length > 0 ? exact : views.filter((v) => v.listing!.templates.some((t) => matchesTemplate(t.uriTemplate, uri)));
  if (owners.length > 1) throw new KitError("RESOURCE_NOT_FOUND", `several apps show ${uri}; say which app: ${owners.map((v) => v.package).join(", ")}`);
  const owner = owners[0];
  if (!owner) {
    const near = nearest(uri, views.flatMap((v) => v.listing!.resources.map((r) => r.uri)));
    throw new KitError("RESOURCE_NOT_FOUND", `no ${app === undefined ? "app" : `resource of ${app}`} shows ${uri}${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`);
  }
  return readTarget("resource", owner, uri, uri, pinOf({ uri }));
}

/** Finds the app that shows a resource template. Throws RESOURCE_NOT_FOUND. */
export function findTemplate(snapshot: Snapshot, template: string): Target {
  const owner = listed(snapshot).find((v) => v.listing!.templates.some((t) => t.uriTemplate === template));
  if (!owner) throw new KitError("RESOURCE_NOT_FOUND", `no app shows the resource template ${template}`);
  return readTarget("resource", owner, template, template, pinOf({ template }));
}

/** Whether a URI fits a template: each `{…}` stands for any run of characters (RFC 6570, read loosely). */
export function matchesTemplate(template: string, uri: string): boolean {
  return compileGlob(template.replaceAll("*", "").replaceAll(/\{[^{}]*\}/g, "*")).matches(uri);
}

/** A prompt of the graph with all its names. */
export interface NamedPrompt {
  readonly app: string;
  /** The server's own name. */
  readonly name: string;
  readonly full: string;
  readonly short: string;
  readonly prompt: JsonObject & { name: string };
}

/** Every prompt of every listed app, sorted by full name. */
export function namedPrompts(snapshot: Snapshot): NamedPrompt[] {
  const named = listed(snapshot).flatMap((view) => view.listing!.prompts.map((prompt) => ({ app: view.package, name: prompt.name, full: `${view.package}.${prompt.name}`, prompt })));
  const shorts = shortNames(named.map((p) => ({ app: p.app, tool: p.name, full: p.full })));
  return named.map((p) => ({ ...p, short: shorts.get(p.full) ?? p.full })).sort((a, b) => (a.full < b.full ? -1 : 1));
}

/** Finds a prompt by full, short or unambiguous own name. Throws PROMPT_NOT_FOUND. */
export function findPrompt(snapshot: Snapshot, name: string): Target {
  const prompts = namedPrompts(snapshot);
  const exact = prompts.filter((p) => p.full === name || p.short === name);
  const found = exact.length > 0 ? exact : prompts.filter((p) => p.name === name);
  if (found.length > 1) throw new KitError("PROMPT_NOT_FOUND", `several apps have a prompt "${name}"; say which: ${found.map((p) => p.full).join(", ")}`);
  const one = found[0];
  if (!one) {
    const near = nearest(name, prompts.flatMap((p) => [p.full, p.name]));
    throw new KitError("PROMPT_NOT_FOUND", `no prompt is called "${name}"${near.length > 0 ? `; did you mean ${near.map((n) => `"${n}"`).join(", ")}?` : ""}`);
  }
  return readTarget("prompt", snapshot.apps.get(one.app)!, one.name, one.full, pinOf(one.prompt));
}

/** Reads change nothing by nature, so they count as read-only. */
function readTarget(kind: "resource" | "prompt", view: AppView, name: string, full: string, pin: string): Target {
  const plan = view.plan!;
  const subject: Subject = { kind, app: view.package, name, trust: plan.trust, manifestRisk: null, readOnlyHint: true, destructiveHint: false };
  return { kind, app: view.package, name, full, plan, pin, subject, tool: null };
}

function listed(snapshot: Snapshot, app?: string): AppView[] {
  return [...snapshot.apps.values()].filter((v) => v.listing !== null && v.plan !== null && (app === undefined || v.package === app));
}
