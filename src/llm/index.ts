/** The LLM layer as a library of pure functions: MCP tools to provider schemas and back (docs/tool-schemas.md). */
export { exportTool, exportTools, type ExportOptions, type ToolExport } from "./export.ts";
export { exportedOrder } from "./export-order.ts";
export { EXPORT_FORMATS, type Effect, type ExportFormat, type ExportTool, type Relaxation, type ToolReport } from "./types.ts";
export { readArguments, stringifyArguments, type ArgumentsResult, type ArgumentTool, type Coercion, type ReadArgumentsOptions } from "./arguments.ts";
export { argumentKeyMap } from "./argument-keys.ts";
export { readToolCalls, type CallFormat, type ParsedToolCall } from "./tool-calls.ts";
export { isOverMessageSize, writeMediaMessage, writeToolMessage, type MessageOptions, type MessageOutcome } from "./messages.ts";
export { dearestParts, estimateTokens, type CostPart, type CountTokens } from "./cost.ts";
export { lintTool } from "./lint.ts";
export { describeExportChange } from "./schema-diff.ts";
export { exportTypeScript } from "./typescript.ts";
export { liteLlmConfig } from "./litellm-config.ts";
export { exportPermissions } from "./permissions.ts";
export { CALL_TOOL_NAME, SEARCH_MODE_TOOLS, SEARCH_TOOLS_NAME } from "./search-mode.ts";
export { shortNames } from "../tools/names.ts";
export { indexTools, type SearchableTool, type SearchHit, type ToolIndex } from "../tools/search.ts";
