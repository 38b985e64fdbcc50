import type { Json, JsonObject } from "../base/json.ts";

export type Risk = "low" | "medium" | "high" | "critical";
export type Trust = "high" | "medium" | "low";

/** A tool as a server listed it: the raw object, untouched; only `name` and `inputSchema` have been looked at. */
export type ToolDefinition = JsonObject & { name: string };

/** One item that a tolerant list reader left out, and why. */
export interface DroppedItem {
  readonly kind: "tool" | "prompt" | "resource" | "template";
  /** Its name as far as it had one; for print only. */
  readonly name: string;
  readonly reason: string;
}

/** What one server showed when it was last listed. */
export interface AppListing {
  readonly app: string;
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
  /** In the server's order; names are legal and unique. */
  readonly tools: readonly ToolDefinition[];
  readonly prompts: readonly (JsonObject & { name: string })[];
  readonly resources: readonly (JsonObject & { uri: string })[];
  readonly templates: readonly (JsonObject & { uriTemplate: string })[];
  readonly dropped: readonly DroppedItem[];
  /** Tools listed twice with different content: the name, and both definitions' digests. */
  readonly conflicts: readonly { readonly name: string; readonly digests: readonly string[] }[];
  readonly warnings: readonly string[];
}

/** Why a tool is or is not offered. `unavailable`: its app is down. */
export type ToolState = "exposed" | "quarantined" | "denied" | "unavailable" | "excluded";

/** One tool of the running graph. Policies, pins, audit and events speak of `app` and `tool`. */
export interface Tool {
  readonly app: string;
  /** The server's own name, with a leading `{package}.` taken off. */
  readonly tool: string;
  /** The name to send in tools/call: exactly what the server listed. */
  readonly wireName: string;
  /** `{package}.{shown}` where shown is the name after `tools.rename`. */
  readonly full: string;
  /** Name in all exports and at the gateway: `[A-Za-z][A-Za-z0-9_-]{0,63}`. */
  readonly short: string;
  readonly definition: ToolDefinition;
  /** Pin: digest of the whole definition. */
  readonly pin: string;
  readonly trust: Trust;
  readonly risk: Risk;
  /** Where the risk came from, in words: `rule no-shell (policies/base.yaml:3)`, `manifest`, `default for trust medium`. */
  readonly riskSource: string;
  readonly state: ToolState;
  readonly reason: string | null;
  /** Whether clients and exports show it: exposed, or unavailable for a moment only (contracts 4). */
  readonly listed: boolean;
}

/** Looks tools up by any of their names; names are never split. */
export interface Catalog {
  /** Sorted by full name. */
  readonly tools: readonly Tool[];
  /** Digest over what is exposed; the ETag of exports. */
  readonly digest: string;
  byFull(name: string): Tool | undefined;
  byShort(name: string): Tool | undefined;
  byOwn(app: string, tool: string): Tool | undefined;
  /** Full name, short name, or the server's own name when only one app has it. `ambiguous` lists the candidates when several do. */
  find(name: string): { readonly tool: Tool | undefined; readonly ambiguous: readonly Tool[] };
}

/** What can be pinned of a server. */
export type PinKind = "tool" | "prompt" | "resource_template" | "resources" | "instructions";

/** One thing of a server that is pinned. `name` is the server's own (the package is taken off tools); empty for what an app has once. */
export interface PinItem {
  readonly kind: PinKind;
  readonly name: string;
  readonly pin: string;
  readonly definition: Json;
}
