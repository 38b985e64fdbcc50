import { compileCheck, type Checked } from "./check-schema.ts";
import type { JsonObject } from "./json.ts";

/** What a tool is given beside its arguments. */
export interface ToolCall {
  /** Aborted when the caller gives the call up or the app stops. */
  readonly signal: AbortSignal;
}

/** What a tool answers when it succeeds: one text for people, the data for programs, and resources worth reading. */
export interface ToolReply {
  readonly text: string;
  readonly data: JsonObject;
  readonly links?: readonly { readonly uri: string; readonly name: string; readonly mimeType: string }[];
}

/** Hints of the MCP specification about what a tool does. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

interface ToolTexts {
  /** The name without the package: `verb_object`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations: ToolAnnotations;
}

/** A tool as a row of an app's table; the protocol part adds the package to its name. */
export interface Tool extends ToolTexts {
  /** Schema of the whole structured result, both the `ok: true` and the `ok: false` form (guide 15.4). */
  readonly outputSchema: JsonObject;
  /** Checks arguments against inputSchema and fills in its defaults. */
  readonly check: (args: unknown) => Checked<unknown>;
  /** Runs with checked arguments. Throws BusinessError for business failures. */
  readonly run: (args: unknown, call: ToolCall) => Promise<ToolReply>;
}

/** Makes a tool: `Args` is the type that `inputSchema` promises, `dataSchema` describes the `data` of a success. */
export function defineTool<Args>(
  spec: ToolTexts & { readonly dataSchema: JsonObject; readonly run: (args: Args, call: ToolCall) => Promise<ToolReply> },
): Tool {
  const { dataSchema, run, ...texts } = spec;
  return {
    ...texts,
    outputSchema: resultSchema(dataSchema),
    check: compileCheck<Args>(spec.inputSchema),
    // The arguments come from `check`, which vouches for their type.
    run: (args, call) => run(args as Args, call),
  };
}

/** The input schema of a tool: an object with exactly these properties. */
export function inputObject(properties: JsonObject = {}, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false };
}

function resultSchema(data: JsonObject): JsonObject {
  return {
    type: "object",
    properties: {
      ok: { type: "boolean", description: "Whether the call did what it should." },
      data,
      error_code: { type: "string", description: "Stable code of a failure." },
      message: { type: "string", description: "What went wrong, for people." },
      retryable: { type: "boolean", description: "Whether the same call may work later." },
    },
    required: ["ok"],
    anyOf: [
      { properties: { ok: { const: true } }, required: ["data"] },
      { properties: { ok: { const: false } }, required: ["error_code", "message", "retryable"] },
    ],
    additionalProperties: false,
  };
}
