import { KitError } from "../base/errors.ts";
import { compileGlob } from "../base/glob.ts";
import type { JsonObject } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import type { AppPlan } from "../plan/types.ts";
import type { Subject } from "../policy/types.ts";
import { toolSubject } from "../runtime/build-catalog.ts";
import { whyDown, type AppView, type Snapshot } from "../runtime/snapshot.ts";
import { shortNames } from "../tools/names.ts";
import { pinOf, type PinKind } from "../tools/pins.ts";
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

/** Whether a person (or first use) accepted a prompt, a template or an app's resources as they are now. */
export type ItemPinCheck = (app: string, kind: PinKind, name: string) => { readonly accepted: boolean; readonly reason: string | null };

/**
 * Finds a tool by full, short or unambiguous own name. `sees` is the caller's own tool selection; what it leaves out does not exist for
 * it. Throws TOOL_NOT_FOUND with near names, TOOL_QUARANTINED, or APP_UNAVAILABLE.
 */
export function findTool(snapshot: Snapshot, name: string, sees: ToolSelection): Target {
  const found = snapshot.catalog.find(name);
  const ambiguous = found.ambiguous.filter((t) => sees(t.app, t.tool) && t.state !== "quarantined" && t.state !== "excluded");
  if (ambiguous.length > 1)
    throw new KitError("TOOL_NOT_FOUND", `several apps have a tool "${name}"; say which: ${ambiguous.map((t) => t.full).join(", ")}`, {
      details: { candidates: ambiguous.map((t) => t.full) },
    });
  // What nobody accepted yet does not make another's name ambiguous.
  const tool = found.tool ?? ambiguous[0];
  if (!tool || tool.state === "excluded" || !sees(tool.app, tool.tool)) throw notFound(snapshot, name, sees);
  if (tool.state === "quarantined") throw new KitError("TOOL_QUARANTINED", `${tool.full} is quarantined: ${tool.reason ?? "nobody has accepted it yet"}`);
  const plan = snapshot.plan.apps.get(tool.app);
  if (!plan) throw new KitError("APP_REMOVED", `app ${tool.app} is no longer configured`, { outcome: "failed" });
  return toolTarget(tool, plan);
}

/** Targets of tools, each made once for as long as neither the tool nor its app's plan changes. */
const toolTargets = new WeakMap<Tool, Target>();

function toolTarget(tool: Tool, plan: AppPlan): Target {
  const known = toolTargets.get(tool);
  if (known?.plan === plan) return known;
  const subject = toolSubject(plan, tool.tool, tool.definition);
  const target: Target = { kind: "tool", app: tool.app, name: tool.tool, full: tool.full, plan, pin: tool.pin, subject, tool };
  toolTargets.set(tool, target);
  return target;
}

function notFound(snapshot: Snapshot, name: string, sees: ToolSelection): KitError {
  const shown = snapshot.catalog.tools.filter((t) => t.state !== "excluded" && t.state !== "quarantined" && sees(t.app, t.tool));
  const near = nearest(
    name,
    shown.flatMap((t) => [t.full, t.short, t.tool]),
  );
  const down = [...snapshot.apps.values()].find((view) => name.startsWith(`${view.package}.`) && view.state !== "ready" && view.listing === null);
  if (down) return new KitError("APP_UNAVAILABLE", `${whyDown(down.package, down.state, null)}${reasonFor(down)}`);
  return new KitError("TOOL_NOT_FOUND", `no tool is called "${name}"${near.length > 0 ? `; did you mean ${near.map((n) => `"${n}"`).join(", ")}?` : ""}`, {
    details: { near },
  });
}

/** Why an app is down. The reason of a low-trust app may quote its server, and nobody is marked here, so it stays with status and log. */
function reasonFor({ plan, reason }: AppView): string {
  if (plan?.trust === "low") return "; see `aurora-mcp status`";
  return reason ? `: ${reason}` : "";
}

/**
 * Finds the app that shows a resource, by listed URI or by template; what nobody accepted yet neither serves nor stands in another's
 * way. Throws RESOURCE_NOT_FOUND or TOOL_QUARANTINED.
 */
export function findResource(snapshot: Snapshot, uri: string, app: string | undefined, pins: ItemPinCheck): Target {
  const views = listed(snapshot, app);
  const exact = views.filter((v) => v.listing!.resources.some((r) => r.uri === uri));
  const fitting = views.flatMap((view) =>
    view.listing!.templates.filter((t) => matchesTemplate(t.uriTemplate, uri)).map((t) => ({ view, name: t.uriTemplate })),
  );
  const listing = exact.filter((v) => pins(v.package, "resources", "").accepted);
  const byTemplate = fitting.filter(({ view, name }) => pins(view.package, "resource_template", name).accepted).map(({ view }) => view);
  const owners = listing.length > 0 ? listing : [...new Set(byTemplate)];
  if (owners.length > 1) throw new KitError("RESOURCE_NOT_FOUND", `several apps show ${uri}; say which app: ${owners.map((v) => v.package).join(", ")}`);
  const owner = owners[0];
  if (owner) return readTarget("resource", owner, uri, uri, pinOf({ uri }));
  const held = exact[0];
  if (held) throw quarantined(`resource ${uri}`, pins(held.package, "resources", ""));
  if (fitting[0]) throw quarantined(`resource template ${fitting[0].name}`, pins(fitting[0].view.package, "resource_template", fitting[0].name));
  const near = nearest(
    uri,
    views.filter((v) => pins(v.package, "resources", "").accepted).flatMap((v) => v.listing!.resources.map((r) => r.uri)),
  );
  throw new KitError(
    "RESOURCE_NOT_FOUND",
    `no ${app === undefined ? "app" : `resource of ${app}`} shows ${uri}${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
  );
}

/** Finds the app that shows a resource template. Throws RESOURCE_NOT_FOUND or TOOL_QUARANTINED. */
export function findTemplate(snapshot: Snapshot, template: string, pins: ItemPinCheck): Target {
  const owners = listed(snapshot).filter((v) => v.listing!.templates.some((t) => t.uriTemplate === template));
  const owner = owners.find((v) => pins(v.package, "resource_template", template).accepted);
  if (owner) return readTarget("resource", owner, template, template, pinOf({ template }));
  if (owners[0]) throw quarantined(`resource template ${template}`, pins(owners[0].package, "resource_template", template));
  throw new KitError("RESOURCE_NOT_FOUND", `no app shows the resource template ${template}`);
}

function quarantined(what: string, pin: ReturnType<ItemPinCheck>): KitError {
  return new KitError("TOOL_QUARANTINED", `${what} is quarantined: ${pin.reason ?? "nobody has accepted it yet"}`);
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
  const named = listed(snapshot).flatMap((view) =>
    view.listing!.prompts.map((prompt) => ({ app: view.package, name: prompt.name, full: `${view.package}.${prompt.name}`, prompt })),
  );
  const shorts = shortNames(named.map((p) => ({ app: p.app, tool: p.name, full: p.full })));
  return named.map((p) => ({ ...p, short: shorts.get(p.full) ?? p.full })).sort((a, b) => (a.full < b.full ? -1 : 1));
}

/** Finds a prompt by full, short or unambiguous own name, among those that were accepted. Throws PROMPT_NOT_FOUND or TOOL_QUARANTINED. */
export function findPrompt(snapshot: Snapshot, name: string, pins: ItemPinCheck): Target {
  const all = namedPrompts(snapshot);
  const prompts = all.filter((p) => pins(p.app, "prompt", p.name).accepted);
  const called = (list: readonly NamedPrompt[]): readonly NamedPrompt[] => {
    const exact = list.filter((p) => p.full === name || p.short === name);
    return exact.length > 0 ? exact : list.filter((p) => p.name === name);
  };
  const found = called(prompts);
  if (found.length > 1) throw new KitError("PROMPT_NOT_FOUND", `several apps have a prompt "${name}"; say which: ${found.map((p) => p.full).join(", ")}`);
  const one = found[0];
  if (one) return readTarget("prompt", snapshot.apps.get(one.app)!, one.name, one.full, pinOf(one.prompt));
  const held = called(all)[0];
  if (held) throw quarantined(`prompt ${held.full}`, pins(held.app, "prompt", held.name));
  const near = nearest(
    name,
    prompts.flatMap((p) => [p.full, p.name]),
  );
  throw new KitError("PROMPT_NOT_FOUND", `no prompt is called "${name}"${near.length > 0 ? `; did you mean ${near.map((n) => `"${n}"`).join(", ")}?` : ""}`);
}

function readTarget(kind: "resource" | "prompt", view: AppView, name: string, full: string, pin: string): Target {
  const plan = view.plan!;
  return { kind, app: view.package, name, full, plan, pin, subject: readSubject(kind, plan, name), tool: null };
}

/** A resource or prompt as policies see it. Reads change nothing by nature, so they count as read-only. */
export function readSubject(kind: "resource" | "prompt", plan: AppPlan, name: string): Subject {
  return { kind, app: plan.package, name, trust: plan.trust, manifestRisk: null, readOnlyHint: true, destructiveHint: false };
}

function listed(snapshot: Snapshot, app?: string): AppView[] {
  return [...snapshot.apps.values()].filter((v) => v.listing !== null && v.plan !== null && (app === undefined || v.package === app));
}
