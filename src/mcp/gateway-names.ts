import type { JsonObject } from "../base/json.ts";
import type { GatewayPlan, Kit } from "../kit-api.ts";
import type { Catalog, Tool } from "../tools/types.ts";
import { listWords } from "../base/text.ts";

/** The tools of a catalogue under the names of one naming mode. */
export interface NamedTools {
  /** Every tool that has a name of its own, by that name. */
  readonly byName: ReadonlyMap<string, NamedTool>;
  /** Sorted by name; the order of pages. */
  readonly sorted: readonly NamedTool[];
  /** Names that several apps' tools have under `naming: none`; none of these tools is served. */
  readonly collisions: readonly { readonly name: string; readonly tools: readonly string[] }[];
}

export interface NamedTool {
  readonly name: string;
  readonly tool: Tool;
  /** The server's own definition under this name, else untouched. */
  readonly definition: JsonObject;
}

const cache = new WeakMap<Catalog, Map<GatewayPlan["naming"], NamedTools>>();

/** The names of a catalogue's tools at the gateway (contracts 2, `gateway.naming`). Kept for as long as the catalogue is. */
export function nameTools(catalog: Catalog, naming: GatewayPlan["naming"]): NamedTools {
  let modes = cache.get(catalog);
  if (!modes) cache.set(catalog, (modes = new Map()));
  let named = modes.get(naming);
  if (!named) modes.set(naming, (named = build(catalog, naming)));
  return named;
}

/** Clashes that make `naming: none` a start-up error, in words; empty for the other modes. */
export function namingCollisions(catalog: Catalog, naming: GatewayPlan["naming"]): string[] {
  return nameTools(catalog, naming).collisions.map(
    ({ name, tools }) =>
      `gateway.naming is none, but ${listWords(tools)} are ${tools.length === 2 ? "both" : "all"} named ${name}; rename one under tools.rename, or use naming: short`,
  );
}

function build(catalog: Catalog, naming: GatewayPlan["naming"]): NamedTools {
  const groups = new Map<string, Tool[]>();
  for (const tool of catalog.tools) {
    if (tool.state === "excluded") continue;
    const name = nameOf(tool, naming);
    const group = groups.get(name);
    if (group) group.push(tool);
    else groups.set(name, [tool]);
  }
  const byName = new Map<string, NamedTool>();
  const collisions: { name: string; tools: string[] }[] = [];
  for (const [name, tools] of groups) {
    if (tools.length === 1) byName.set(name, { name, tool: tools[0]!, definition: { ...tools[0]!.definition, name } });
    else collisions.push({ name, tools: tools.map((tool) => tool.full) });
  }
  const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { byName, sorted, collisions };
}

function nameOf(tool: Tool, naming: GatewayPlan["naming"]): string {
  if (naming === "short") return tool.short;
  return naming === "full" ? tool.full : tool.full.slice(tool.app.length + 1);
}

/** A prompt under its name at the gateway. */
export interface NamedPrompt {
  readonly name: string;
  /** The name that the kit takes. */
  readonly short: string;
  readonly definition: JsonObject;
}

/** The prompts that a client sees, sorted by name; of prompts that clash under `naming: none` none is served. */
export function namePrompts(kit: Kit, client: string, naming: GatewayPlan["naming"]): NamedPrompt[] {
  const named = kit.listPrompts(client).map((p): NamedPrompt => {
    const name = naming === "short" ? p.short : naming === "full" ? `${p.app}.${p.name}` : p.name;
    return { name, short: p.short, definition: { ...p.prompt, name } };
  });
  const count = new Map<string, number>();
  for (const { name } of named) count.set(name, (count.get(name) ?? 0) + 1);
  return named.filter(({ name }) => count.get(name) === 1).sort((a, b) => (a.name < b.name ? -1 : 1));
}
