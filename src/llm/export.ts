import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { shortNames, MAX_SHORT_NAME } from "../tools/names.ts";
import { estimateTokens, type CountTokens } from "./cost.ts";
import { OPENAI_MAX_DESCRIPTION, toolDescription } from "./description.ts";
import { sortInOrder } from "./export-order.ts";
import { prepareSchema, type PreparedSchema } from "./prepare.ts";
import { sentencesIn, withOriginalPointers } from "./property-keys.ts";
import { Notes } from "./schema-node.ts";
import { SEARCH_MODE_TOOLS } from "./search-mode.ts";
import { limitWarning, selectTools, unusableWarnings } from "./select-tools.ts";
import { StrictBudget } from "./strict-budget.ts";
import type { StrictResult } from "./strict-compiler.ts";
import { anthropicStrictSchema } from "./target-anthropic-strict.ts";
import { anthropicSchema } from "./target-anthropic.ts";
import { geminiSchema } from "./target-gemini.ts";
import { openaiStrictSchema } from "./target-openai-strict.ts";
import { openaiSchema } from "./target-openai.ts";
import { geminiLegacySchema, portableSchema } from "./target-single-type.ts";
import { toolText } from "./target-text.ts";
import type { ExportFormat, ExportTool, Relaxation, ToolReport } from "./types.ts";

export interface ExportOptions {
  /** Longest name; default 64, and 60 for `litellm`. */
  readonly maxName?: number;
  /** Most tools; default 128 for the OpenAI targets, no limit for the rest. `Infinity` lifts it. */
  readonly maxTools?: number;
  /** For `openai`, `openai-responses` and `anthropic`: say strict where it can be proven. For `litellm`: the value of `strict`. Default false. */
  readonly strict?: boolean;
  /** Longest tool description; default 1,024 for the OpenAI targets and `litellm`, none for the rest. */
  readonly maxDescription?: number;
  /** Warns when the export costs more tokens. */
  readonly budgetTokens?: number;
  readonly countTokens?: CountTokens;
  /** `search`: only `search_tools` and `call_tool`, through which a model reaches all the others. */
  readonly mode?: "all" | "search";
  /** Exported names that come first, in this order ({@link exportedOrder} of the last export); the others follow, sorted. Keeps a provider's cached prefix. */
  readonly earlier?: readonly string[];
  /** Tools whose schema refers outside itself: left out, or exported with anything in that place. */
  readonly externalRefs?: "exclude" | "any";
}

/** An export: what the provider gets, how names lead back, and everything that was changed or left out. */
export interface ToolExport {
  readonly format: ExportFormat;
  readonly tools: readonly Json[];
  /** Exact file content; the same tools in any order give the same bytes (after the same `earlier` export). */
  readonly text: string;
  /** Exported name to full name. */
  readonly names: ReadonlyMap<string, string>;
  /** In the order of `tools`. */
  readonly report: readonly ToolReport[];
  readonly leftOut: readonly { readonly full: string; readonly reason: string }[];
  /** For people: what was left out, counted and with the first few names; a budget that does not hold. */
  readonly warnings: readonly string[];
  /** Estimated tokens of all tools. */
  readonly tokens: number;
}

const OPENAI_MAX_TOOLS = 128;
/** Gemini takes more, but its documentation advises few; over this a hint is given. */
const GEMINI_MANY_TOOLS = 128;
const LITELLM_MAX_NAME = 60;

/** Exports tools for one provider. Linear in the tools; never throws for what a server sent: a tool that cannot be exported is in `leftOut`. */
export function exportTools(tools: readonly ExportTool[], target: ExportFormat, options: ExportOptions = {}): ToolExport {
  const warnings: string[] = [];
  const leftOut: { full: string; reason: string }[] = [];
  const maxName = options.maxName ?? (target === "litellm" ? LITELLM_MAX_NAME : MAX_SHORT_NAME);
  const all = options.mode === "search" ? SEARCH_MODE_TOOLS : tools;
  let shorter: ReadonlyMap<string, string> | undefined;
  const nameOf = (tool: ExportTool): string => {
    if (tool.short.length <= maxName) return tool.short;
    shorter ??= shortNames(
      all.map((other) => ({ app: other.app, tool: other.name, full: other.full })),
      { max: maxName },
    );
    return shorter.get(tool.full)!;
  };

  const usable: ExportTool[] = [];
  for (const tool of all) {
    const prepared = target === "mcp" ? undefined : prepareSchema(tool.inputSchema, options);
    if (prepared?.kind !== "excluded") usable.push(tool);
    else leftOut.push({ full: tool.full, reason: `${prepared.code}: ${prepared.reason}` });
  }
  warnings.push(...unusableWarnings(leftOut));
  const limit = options.maxTools ?? (target.startsWith("openai") ? OPENAI_MAX_TOOLS : Number.POSITIVE_INFINITY);
  const selection = selectTools(usable, limit);
  if (selection.leftOut.length > 0) {
    warnings.push(limitWarning(target, usable, limit, selection.leftOut));
    for (const tool of selection.leftOut) leftOut.push({ full: tool.full, reason: `over the limit of ${limit} tools` });
  }
  if (target.startsWith("gemini") && selection.chosen.length > GEMINI_MANY_TOOLS)
    warnings.push(`gemini.many_tools: ${selection.chosen.length} tools in one request; Gemini chooses better among few`);

  const rows = selection.chosen.map((tool) => ({ tool, name: nameOf(tool) }));
  sortInOrder(rows, options.earlier ?? []);
  const names = new Map<string, string>();
  const report: ToolReport[] = [];
  const exported: Json[] = [];
  const texts: string[] = [];
  const budget = new StrictBudget();
  for (const { tool, name } of rows) {
    const one = exportTool(tool, name, target, options, budget);
    names.set(name, tool.full);
    exported.push(one.json);
    texts.push(one.text);
    report.push(one.report);
  }
  const tokens = report.reduce((sum, row) => sum + row.tokens, 0);
  if (options.budgetTokens !== undefined && tokens > options.budgetTokens)
    warnings.push(`the ${target} export costs about ${tokens} tokens a request, over the budget of ${options.budgetTokens}; the dearest: ${dearest(report)}`);
  return {
    format: target,
    tools: exported,
    text: fileText(texts, target),
    names,
    report,
    leftOut: leftOut.sort((a, b) => (a.full < b.full ? -1 : 1)),
    warnings,
    tokens,
  };
}

function dearest(report: readonly ToolReport[]): string {
  return [...report]
    .sort((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map((row) => `${row.name} ${row.tokens}`)
    .join(", ");
}

/** One tool a line: a changed tool is one changed line in a review. */
function fileText(texts: readonly string[], target: ExportFormat): string {
  if (target === "text") return texts.map((text) => `${text}\n`).join("\n");
  return texts.length === 0 ? "[]\n" : `[\n${texts.join(",\n")}\n]\n`;
}

/** One exported tool, its JSON text (its own text for `text`), and its report. */
export interface ExportedTool {
  readonly json: Json;
  readonly text: string;
  readonly report: ToolReport;
}

/**
 * Exports one tool under a given name; the tool's schema must be usable unless the target is `mcp`. `budget`: what the strict
 * tools before it in the same request to Anthropic left.
 */
export function exportTool(tool: ExportTool, name: string, target: ExportFormat, options: ExportOptions = {}, budget = new StrictBudget()): ExportedTool {
  const notes = new Notes();
  if (name !== tool.name) notes.add("name.mapped", "/name", tool.name, name, "renamed");
  const done = (json: Json, strict = false, fallback: readonly string[] = [], before: readonly Relaxation[] = []): ExportedTool => {
    const text = typeof json === "string" ? json : JSON.stringify(json);
    return {
      json,
      text,
      report: {
        full: tool.full,
        name,
        strict,
        fallback,
        relaxations: [...before, ...withOriginalPointers(notes.list)],
        tokens: (options.countTokens ?? estimateTokens)(text),
      },
    };
  };
  if (target === "mcp") return done(mcpTool(tool, name));
  const prepared = prepareSchema(tool.inputSchema, options);
  if (prepared.kind === "excluded") throw new Error(`${tool.full} cannot be exported: ${prepared.reason}`);

  const own =
    [tool.description, tool.title].find((text) => typeof text === "string" && text.trim() !== "") ??
    `${tool.name} of ${tool.appTitle || tool.app || "this host"}.`;
  const finish = (json: Json, strict?: boolean, fallback?: readonly string[]): ExportedTool => done(json, strict, fallback, prepared.relaxations);
  const maxDescription = options.maxDescription ?? (target.startsWith("openai") || target === "litellm" ? OPENAI_MAX_DESCRIPTION : Number.POSITIVE_INFINITY);
  const style = target.startsWith("anthropic") ? "wide" : target.startsWith("gemini") || target === "litellm" ? "identifier" : undefined;
  const sentences = style === undefined ? prepared.sentences : sentencesIn(prepared, style);
  const whole = toolDescription(own, sentences, Number.POSITIVE_INFINITY);
  const description = whole.length <= maxDescription ? whole : toolDescription(own, sentences, maxDescription);
  if (description !== whole) notes.add("description.truncated", "/description", whole.length, description.length, "annotated");
  switch (target) {
    case "text":
      return finish(toolText(name, description, openaiSchema(prepared, notes)));
    case "anthropic":
    case "anthropic-strict": {
      if (target === "anthropic" && options.strict !== true) return finish({ name, description, input_schema: anthropicSchema(prepared, notes) });
      const { schema, strict, fallback } = strictOr(anthropicSchema, (tried) => anthropicStrictSchema(prepared, budget, tried), prepared, notes);
      return finish({ name, description, input_schema: schema, strict }, strict, fallback);
    }
    case "gemini":
      return finish({ name, description, parametersJsonSchema: geminiSchema(prepared, notes) });
    case "gemini-legacy": {
      const parameters = geminiLegacySchema(prepared, notes);
      return finish({ name, description, ...(parameters === undefined ? {} : { parameters }) });
    }
    case "litellm":
      return finish({ type: "function", function: { name, description, parameters: portableSchema(prepared, notes), strict: options.strict ?? false } });
    case "openai":
    case "openai-responses":
    case "openai-strict": {
      const wanted = target === "openai-strict" || options.strict === true;
      const { schema, strict, fallback } = wanted
        ? strictOr(openaiSchema, (tried) => openaiStrictSchema(prepared, tried), prepared, notes)
        : { schema: openaiSchema(prepared, notes), strict: false, fallback: [] };
      const fn = { name, description, parameters: schema, strict };
      return finish(target === "openai-responses" ? { type: "function", ...fn } : { type: "function", function: fn }, strict, fallback);
    }
  }
}

/** The strict form of a schema where it can be proven to fit, else the plain one with the reasons. */
function strictOr(
  plain: (prepared: PreparedSchema, notes: Notes) => JsonObject,
  attempt: (notes: Notes) => StrictResult,
  prepared: PreparedSchema,
  notes: Notes,
): { schema: JsonObject; strict: boolean; fallback: readonly string[] } {
  const tried = new Notes();
  const result = attempt(tried);
  if (!result.ok) return { schema: plain(prepared, notes), strict: false, fallback: result.reasons };
  notes.list.push(...tried.list);
  return { schema: result.schema, strict: true, fallback: [] };
}

/** The tool as the server defined it, under its exported name. */
function mcpTool(tool: ExportTool, name: string): JsonObject {
  const out: JsonObject = { name };
  const source: Record<string, unknown> = tool.definition ?? {
    title: tool.title ?? undefined,
    description: tool.description ?? undefined,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    annotations: tool.annotations,
  };
  for (const [key, value] of Object.entries(source)) if (key !== "name" && value !== undefined) setOwn(out, key, value);
  if (!isObject(out["inputSchema"])) out["inputSchema"] = { type: "object" };
  return out;
}
