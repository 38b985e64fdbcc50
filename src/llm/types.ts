import type { Json, JsonObject } from "../base/json.ts";
import type { Risk } from "../tools/types.ts";

/** The forms in which tools can be exported; docs/tool-schemas.md describes each. */
export const EXPORT_FORMATS = [
  "openai",
  "openai-responses",
  "openai-strict",
  "anthropic",
  "anthropic-strict",
  "gemini",
  "gemini-legacy",
  "litellm",
  "mcp",
  "text",
] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What a change did to the set of accepted arguments, or to the words around it. */
export type Effect = "widened" | "narrowed" | "annotated" | "renamed";

/** One difference between a tool's own schema and what a provider is shown. */
export interface Relaxation {
  /** Dotted, stable: `pattern.dropped`, `tuple.order_lost`. docs/tool-schemas.md lists them. */
  readonly code: string;
  /** JSON pointer into the input schema with its references inlined; `` is the root, `/description` and `/name` with code `description.…` and `name.…` are the tool's own. */
  readonly pointer: string;
  readonly before: Json;
  readonly after: Json;
  readonly effect: Effect;
}

/** A tool to export. */
export interface ExportTool {
  readonly full: string;
  readonly app: string;
  /** Name at the provider: letter first, `[A-Za-z0-9_-]`, at most 64. */
  readonly short: string;
  /** The server's own name. */
  readonly name: string;
  readonly title?: string | null | undefined;
  readonly description?: string | null | undefined;
  /** As the server sent it, whatever it is. */
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: JsonObject | undefined;
  /** The whole definition, for the `mcp` form. */
  readonly definition?: JsonObject | undefined;
  readonly risk: Risk;
  readonly appTitle: string;
}

/** What became of one tool in an export. */
export interface ToolReport {
  readonly full: string;
  readonly name: string;
  /** Whether the provider is told to hold the model to the schema. */
  readonly strict: boolean;
  /** Why a strict export fell back for this tool; empty otherwise. */
  readonly fallback: readonly string[];
  readonly relaxations: readonly Relaxation[];
  /** Estimated tokens of the exported tool. */
  readonly tokens: number;
}
