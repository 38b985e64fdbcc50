import { canonicalJson, type JsonObject } from "../base/json.ts";
import type { AppListing } from "../tools/types.ts";
import type { SignalSource } from "./signal.ts";
import type { Signal } from "./types.ts";

/** Which list of a server changed. */
export type CapabilityKind = "tools" | "prompts" | "resources";

/** Names that differ between two listings, each list sorted and at most {@link MAX_NAMES} long. */
export interface CapabilityChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Longest list of names in an event; the counts beside them are whole. */
const MAX_NAMES = 200;

/** What a listing shows that an earlier one did not, and the other way round. Templates count as resources. `before` null: all is new. */
export function capabilityChange(kind: CapabilityKind, before: AppListing | null, after: AppListing): CapabilityChange {
  const old = before === null ? new Map<string, string>() : itemsOf(kind, before);
  const now = itemsOf(kind, after);
  return {
    added: [...now.keys()].filter((name) => !old.has(name)).sort(),
    removed: [...old.keys()].filter((name) => !now.has(name)).sort(),
    changed: [...now.keys()].filter((name) => old.has(name) && old.get(name) !== now.get(name)).sort(),
  };
}

/** The signal of a changed list (guide 16.1, `capability.changed`), with what was added, removed and changed. */
export function capabilitySignal(source: SignalSource, kind: CapabilityKind, change: CapabilityChange): Signal {
  const params: JsonObject = { kind, counts: { added: change.added.length, removed: change.removed.length, changed: change.changed.length } };
  for (const part of ["added", "removed", "changed"] as const) params[part] = change[part].slice(0, MAX_NAMES);
  return { kind: "notification", ...source, method: `notifications/${kind}/list_changed`, params };
}

function itemsOf(kind: CapabilityKind, listing: AppListing): Map<string, string> {
  switch (kind) {
    case "tools":
      return new Map(listing.tools.map((tool) => [tool.name, canonicalJson(tool)]));
    case "prompts":
      return new Map(listing.prompts.map((prompt) => [prompt.name, canonicalJson(prompt)]));
    case "resources":
      return new Map([
        ...listing.resources.map((resource): [string, string] => [resource.uri, canonicalJson(resource)]),
        ...listing.templates.map((template): [string, string] => [template.uriTemplate, canonicalJson(template)]),
      ]);
  }
}
