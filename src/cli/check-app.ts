import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { messageOf } from "../base/errors.ts";
import { compileSchema } from "../base/json-schema.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";
import type { Logger } from "../kit-api.ts";
import { createConnector } from "../mcp/connector.ts";
import type { AppPlan, Plan } from "../plan/types.ts";
import { LinkError, StartError, type Connection } from "../runtime/ports.ts";
import type { AppListing, ToolDefinition } from "../tools/types.ts";
import { ownToolName } from "../tools/own-name.ts";

/** One thing that an app does otherwise than its manifest or the guide's section 15 says. */
export interface AppFinding {
  readonly app: string;
  /** Errors are drift and broken rules; warnings are advice. */
  readonly severity: "error" | "warning";
  readonly rule: "start" | "drift" | "stdout" | "names" | "schemas" | "results" | "errors";
  /** The tool it is about, by its own name. */
  readonly tool: string | null;
  readonly message: string;
  /** Where an app did not start: what was noted, and the last lines of stderr. */
  readonly details: readonly string[];
}

/** A tool name that no server has. */
const NO_SUCH_TOOL = "aurora_mcp_check_no_such_tool";
const CALL_LIMITS = { timeoutMs: 10_000, maxTotalMs: 10_000 };

/**
 * Starts one app by itself and compares what it does with its manifest and the guide's section 15: commands against tools/list, the stdout rule,
 * names, schemas, result shapes. Of its tools only those are called that say they only read and need no arguments. The app is stopped again.
 */
export async function checkApp(app: AppPlan, plan: Plan, env: NodeJS.ProcessEnv, version: string, log: Logger, signal: AbortSignal): Promise<AppFinding[]> {
  const findings: AppFinding[] = [];
  const find = (severity: AppFinding["severity"], rule: AppFinding["rule"], message: string, tool: string | null = null): void =>
    void findings.push({ app: app.package, severity, rule, tool, message, details: [] });
  // A folder of its own: the records of a running host's children are not touched.
  const dataDir = await mkdtemp(path.join(os.tmpdir(), "aurora-mcp-check-"));
  const { toolsPerApp, listPages } = plan.limits;
  const connector = createConnector({
    dataDir,
    clientName: "aurora-mcp-check",
    clientVersion: version,
    listLimits: () => ({ toolsPerApp, listPages }),
    hostEnv: env,
    log,
    mask: (text) => text,
  });
  let connection: Connection | null = null;
  try {
    const hooks = {
      onLog: (line: string, source: "stderr" | "kit") => source === "kit" && find("error", "stdout", line),
      onProtocolError: (message: string) => find("error", "stdout", message),
    };
    connection = await connector.connect(app, "shared", hooks, signal);
    const listing = await connection.list({ ...CALL_LIMITS, signal });
    checkCommands(app, listing, find);
    checkListing(listing, find);
    for (const tool of listing.tools) checkTool(app, tool, find);
    for (const tool of listing.tools) if (isSafeToCall(tool)) await checkResult(connection, app, tool, find, signal);
    if (Object.hasOwn(listing.capabilities, "tools")) await checkUnknownTool(connection, app, find, signal);
  } catch (error) {
    // One fault, one finding: what was noted on the way is part of it.
    const notes = findings.splice(0).map((finding) => finding.message);
    findings.push({
      app: app.package,
      severity: "error",
      rule: "start",
      tool: null,
      message: messageOf(error),
      details: [...notes, ...(error instanceof StartError ? error.stderrTail : [])],
    });
  } finally {
    await connection?.close();
    connector.killAll();
    await rm(dataDir, { recursive: true, force: true });
  }
  return findings;
}

type Find = (severity: AppFinding["severity"], rule: AppFinding["rule"], message: string, tool?: string | null) => void;

function checkCommands(app: AppPlan, listing: AppListing, find: Find): void {
  const listed = new Set(listing.tools.map((tool) => ownToolName(app.package, tool.name)));
  const documented = new Set(app.commands.map((command) => ownToolName(app.package, command.name)));
  if (documented.size === 0) return find("warning", "drift", "the manifest lists no commands, so nothing is compared");
  for (const name of documented) if (!listed.has(name)) find("error", "drift", "is in the manifest's commands, but not in tools/list", name);
  for (const name of listed) if (!documented.has(name)) find("error", "drift", "is in tools/list, but not in the manifest's commands", name);
}

function checkListing(listing: AppListing, find: Find): void {
  for (const item of listing.dropped) find("error", "schemas", `${item.kind} is left out: ${item.reason}`, item.name);
  for (const item of listing.conflicts) find("error", "names", "is listed twice with different definitions", item.name);
  for (const warning of listing.warnings) find("warning", "schemas", warning);
}

function checkTool(app: AppPlan, tool: ToolDefinition, find: Find): void {
  const name = ownToolName(app.package, tool.name);
  // A third party's server need not know the guide; an app with a manifest of commands does.
  const strict = app.commands.length > 0 ? "error" : "warning";
  if (!tool.name.startsWith(`${app.package}.`)) find(strict, "names", `is listed as "${tool.name}"; the guide wants "${app.package}.${name}"`, name);
  if (typeof tool["description"] !== "string" || tool["description"].trim() === "") find(strict, "schemas", "has no description", name);
  const input = own(tool, "inputSchema");
  const properties = own(input, "properties");
  if ((properties === undefined || (isObject(properties) && Object.keys(properties).length === 0)) && own(input, "additionalProperties") !== false) {
    find("warning", "schemas", 'takes no arguments; say so with "additionalProperties": false in its inputSchema', name);
  }
  for (const key of ["inputSchema", "outputSchema"]) {
    const schema = own(tool, key);
    if (schema === undefined) continue;
    const compiled = compileSchema(schema);
    if (!compiled.ok) find("error", "schemas", `has an ${key} that does not compile: ${compiled.reason}`, name);
  }
  if (own(tool, "outputSchema") === undefined) find("warning", "schemas", "has no outputSchema", name);
}

function isSafeToCall(tool: ToolDefinition): boolean {
  const required = own(own(tool, "inputSchema"), "required");
  return own(own(tool, "annotations"), "readOnlyHint") === true && (!Array.isArray(required) || required.length === 0);
}

async function checkResult(connection: Connection, app: AppPlan, tool: ToolDefinition, find: Find, signal: AbortSignal): Promise<void> {
  const name = ownToolName(app.package, tool.name);
  let result: JsonObject;
  try {
    result = await connection.request("tools/call", { name: tool.name, arguments: {} }, { ...CALL_LIMITS, signal });
  } catch (error) {
    return find("error", "results", `cannot be called without arguments, though none are required: ${messageOf(error)}`, name);
  }
  for (const problem of resultProblems(result)) find(app.commands.length > 0 ? "error" : "warning", "results", problem, name);
}

/** What a tool result has otherwise than the guide's 15.4 shows. */
export function resultProblems(result: JsonObject): string[] {
  const problems: string[] = [];
  const content = own(result, "content");
  const structured = own(result, "structuredContent");
  if (!Array.isArray(content) || content.length === 0) problems.push("gives no content for clients that read text only");
  if (!isObject(structured)) return [...problems, "gives no structuredContent"];
  const failed = own(result, "isError") === true;
  if (typeof structured["ok"] !== "boolean") problems.push("gives structuredContent without ok: true or false");
  else if (structured["ok"] === failed) problems.push(`gives ok: ${structured["ok"]} together with isError: ${failed}`);
  if (failed) for (const key of ["error_code", "message", "retryable"]) if (own(structured, key) === undefined) problems.push(`fails without ${key}`);
  if (!failed && !Object.hasOwn(structured, "data")) problems.push("succeeds without data");
  return problems;
}

async function checkUnknownTool(connection: Connection, app: AppPlan, find: Find, signal: AbortSignal): Promise<void> {
  try {
    const result = await connection.request("tools/call", { name: NO_SUCH_TOOL, arguments: {} }, { ...CALL_LIMITS, signal });
    if (own(result, "isError") !== true) find("error", "errors", "answers a call of an unknown tool as if it had worked");
    else if (app.commands.length > 0) find("warning", "errors", "answers a call of an unknown tool with isError; the guide wants a JSON-RPC error");
  } catch (error) {
    if (!(error instanceof LinkError) || error.kind !== "rpc") find("error", "errors", `does not survive a call of an unknown tool: ${messageOf(error)}`);
  }
}
