import { KitError } from "../base/errors.ts";
import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import { readArguments } from "../llm/arguments.ts";
import type { Answer, Operation, SendOptions, Wanted } from "../calls/operation.ts";
import { callAsTask } from "../calls/task-call.ts";
import { findPrompt, findResource, findTemplate, findTool, type ItemPinCheck, type Target } from "../calls/targets.ts";
import { readToolResult } from "../calls/tool-result.ts";
import type { Connection } from "../runtime/ports.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import { taskSupport } from "../tools/task-support.ts";
import type { Tool } from "../tools/types.ts";
import { clientSelection } from "./client-selection.ts";

/** A tool call as a caller wants it: arguments as the tool's own schema has them. */
export function wantedTool(name: string, raw: unknown, client: string): Wanted {
  return { kind: "tool", name, find: (snapshot) => toolOperation(snapshot, name, raw, client) };
}

/**
 * A tool call found in a snapshot. `raw` is what the caller gave: an object, or JSON text of a model; `keyMap` turns property names
 * back that a model was shown differently. A tool that the client's own selection leaves out does not exist for it. Throws a KitError.
 */
export function toolOperation(snapshot: Snapshot, name: string, raw: unknown, client: string, keyMap?: ReadonlyMap<string, string>): Operation {
  const target = findTool(snapshot, name, clientSelection(snapshot.plan, client));
  return new ToolOperation(target, target.tool!, raw, keyMap, snapshot.plan.limits.resultBytes);
}

class ToolOperation implements Operation {
  readonly target: Target;
  readonly method = "tools/call";
  readonly #tool: Tool;
  readonly #raw: unknown;
  readonly #keyMap: ReadonlyMap<string, string> | undefined;
  readonly #resultBytes: number;

  constructor(target: Target, tool: Tool, raw: unknown, keyMap: ReadonlyMap<string, string> | undefined, resultBytes: number) {
    this.target = target;
    this.#tool = tool;
    this.#raw = raw;
    this.#keyMap = keyMap;
    this.#resultBytes = resultBytes;
  }

  arguments(): JsonObject {
    const { full, definition } = this.#tool;
    const reading = readArguments(this.#raw, { inputSchema: own(definition, "inputSchema"), keyMap: this.#keyMap });
    if (reading.ok) return reading.args;
    throw new KitError("INVALID_ARGUMENTS", `the arguments of ${full} do not fit: ${reading.message}`, {
      details: { issues: reading.issues as unknown as Json },
    });
  }

  send(connection: Connection, args: JsonObject, options: SendOptions): Promise<JsonObject> {
    const { wireName, definition, full } = this.#tool;
    const params = { name: wireName, arguments: args };
    // A tool that runs only as a task is waited for here, so that callers who know nothing of tasks can use it.
    const support = taskSupport(definition, connection.capabilities);
    const asTask = support === "required" || (support === "optional" && options.task !== undefined);
    return asTask ? callAsTask(connection, params, options, full) : connection.request("tools/call", params, options);
  }

  read(answer: JsonObject): Answer {
    return readToolResult(answer, this.#tool, { maxBytes: this.#resultBytes, outputCheck: this.target.plan.outputCheck });
  }
}

/** A resource read found in a snapshot. Only accepted resources can be had. Throws a KitError. */
export function resourceOperation(snapshot: Snapshot, uri: string, app: string | undefined, pins: ItemPinCheck): Operation {
  const target = findResource(snapshot, uri, app, pins);
  return {
    target,
    method: "resources/read",
    arguments: () => ({ uri }),
    send: (connection, _args, options) => connection.request("resources/read", { uri }, options),
    read: (answer) => readPlain(answer, "contents", target.full),
  };
}

/** A prompt found in a snapshot. Only accepted prompts can be had. Throws a KitError. */
export function promptOperation(snapshot: Snapshot, name: string, args: Readonly<Record<string, string>>, pins: ItemPinCheck): Operation {
  const target = findPrompt(snapshot, name, pins);
  return {
    target,
    method: "prompts/get",
    arguments: () => ({ ...args }),
    send: (connection, given, options) => connection.request("prompts/get", { name: target.name, arguments: given }, options),
    read: (answer) => readPlain(answer, "messages", target.full),
  };
}

/** A completion of an argument of a prompt or resource template (MCP completion/complete). Servers without completions give none. Throws a KitError. */
export function completionOperation(
  snapshot: Snapshot,
  ref: JsonObject,
  argument: { readonly name: string; readonly value: string },
  context: JsonObject,
  pins: ItemPinCheck,
): Operation {
  const prompt = own(ref, "type") === "ref/prompt";
  const target = prompt ? findPrompt(snapshot, String(own(ref, "name")), pins) : findTemplate(snapshot, String(own(ref, "uri")), pins);
  const upstream: JsonObject = prompt ? { type: "ref/prompt", name: target.name } : { type: "ref/resource", uri: target.name };
  return {
    target,
    method: "completion/complete",
    arguments: () => ({ [argument.name]: argument.value }),
    send: async (connection, _args, options) => {
      if (!own(connection.capabilities, "completions")) return { completion: { values: [] } };
      return connection.request(
        "completion/complete",
        { ref: upstream, argument: { ...argument }, ...(Object.keys(context).length === 0 ? {} : { context }) },
        options,
      );
    },
    read: (answer) => ({ result: answer, error: null, notes: [] }),
  };
}

/** Results of reads are passed on as they are, as long as they have their list. */
function readPlain(answer: JsonObject, list: "contents" | "messages", name: string): { result: JsonObject; error: null; notes: readonly string[] } {
  const items = own(answer, list);
  if (!Array.isArray(items) || !items.every(isObject)) throw new KitError("PROTOCOL_ERROR", `the answer for ${name} has no list of ${list}`);
  return { result: answer, error: null, notes: [] };
}
