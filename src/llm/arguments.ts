import { ExactNumber, parseExact, stringifyExact, withPlainNumbers } from "../base/exact-json.ts";
import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { MAX_NESTING } from "../base/json-scan.ts";
import { compileSchema, type SchemaIssue, type SchemaResult } from "../base/json-schema.ts";
import { argumentIssues, issuesMessage, valueAt, type ArgumentIssue } from "./argument-issues.ts";
import { withOriginalKeys } from "./argument-keys.ts";
import { repairedSchema } from "./prepare.ts";
import { pointTo, propertiesOf, type Node } from "./schema-node.ts";

/** What arguments are checked against. */
export interface ArgumentTool {
  /** As the server sent it. */
  readonly inputSchema: unknown;
  /** Exported property name to original ({@link argumentKeyMap}); none when the caller saw the tool's own schema. */
  readonly keyMap?: ReadonlyMap<string, string> | undefined;
}

export interface ReadArgumentsOptions {
  /** Take unknown properties out of a closed object instead of refusing the call. */
  readonly dropUnknown?: boolean;
}

/** One change that made arguments fit. */
export interface Coercion {
  readonly pointer: string;
  readonly code: "null_dropped" | "empty_dropped" | "unknown_dropped" | "json_decoded" | "number_read" | "boolean_read";
}

/**
 * Arguments ready to send, or why not. Whole numbers beyond a double's digits are `ExactNumber` objects inside `args`; send
 * them with {@link stringifyArguments}.
 */
export type ArgumentsResult =
  | { readonly ok: true; readonly args: JsonObject; readonly coercions: readonly Coercion[] }
  | { readonly ok: false; readonly issues: readonly ArgumentIssue[]; readonly message: string };

const MAX_ROUNDS = 5;
const compiled = new WeakMap<object, SchemaResult>();

/**
 * Reads what a model gave as arguments: JSON text, a JSON object, or nothing. Parses (never repairs) the text, turns renamed
 * properties back, validates against the tool's own schema, and changes values only where they fail: null and `""` for an
 * optional property that allows neither, JSON text for an object or array, `"3"` for a number, `"true"` for a boolean.
 */
export function readArguments(raw: unknown, tool: ArgumentTool, options: ReadArgumentsOptions = {}): ArgumentsResult {
  const parsed = parseArguments(raw);
  if (!parsed.ok) return { ok: false, issues: [{ pointer: "", keyword: "json", message: parsed.message }], message: parsed.message };
  const schema = repairedSchema(tool.inputSchema);
  if (schema.kind === "excluded") return unusable(schema.reason);
  const validator = validatorOf(tool.inputSchema, schema.schema);
  if (!validator.ok) return unusable(validator.reason);
  const validate = (value: JsonObject): SchemaIssue[] => validator.schema.validate(withPlainNumbers(value));

  let args = tool.keyMap ? withOriginalKeys(parsed.args, schema.schema, tool.keyMap) : parsed.args;
  let issues = validate(args);
  const coercions: Coercion[] = [];
  const settled = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS && issues.length > 0; round += 1) {
    const changes = proposeChanges(issues, args, settled, options);
    if (changes.length === 0) break;
    if (coercions.length === 0 && round === 0) args = copyOf(args) as JsonObject;
    for (const change of changes) applyChange(args, change);
    // What was decoded may hold properties under their exported names.
    if (tool.keyMap && changes.some((change) => change.code === "json_decoded")) args = withOriginalKeys(args, schema.schema, tool.keyMap);
    issues = validate(args);
    const restored = restoreRequired(args, changes, issues, settled);
    if (restored.size > 0) issues = validate(args);
    for (const change of changes) if (!restored.has(change)) coercions.push({ pointer: pointTo("", ...change.path), code: change.code });
  }
  if (issues.length === 0) return { ok: true, args, coercions };
  const described = argumentIssues(issues, args, Object.keys(propertiesOf(schema.schema) ?? {}));
  return { ok: false, issues: described, message: issuesMessage(described) };
}

/** JSON text of arguments for the wire, with all digits of large whole numbers. */
export function stringifyArguments(args: unknown): string {
  return stringifyExact(args);
}

function unusable(reason: string): ArgumentsResult {
  const message = `The tool's schema cannot be used to check arguments: ${reason}.`;
  return { ok: false, issues: [{ pointer: "", keyword: "$schema", message }], message };
}

const noArguments = compileSchema({ type: "object" });

function validatorOf(inputSchema: unknown, schema: Node): SchemaResult {
  if (typeof inputSchema !== "object" || inputSchema === null) return noArguments;
  let result = compiled.get(inputSchema);
  if (!result) compiled.set(inputSchema, (result = compileSchema(schema)));
  return result;
}

type Parsed = { readonly ok: true; readonly args: JsonObject } | { readonly ok: false; readonly message: string };

/** An object out of whatever a provider passed on: text may be encoded once more, empty means none. */
function parseArguments(raw: unknown): Parsed {
  let value = raw;
  for (let layer = 0; layer < 3; layer += 1) {
    if (value === undefined || value === null) return { ok: true, args: {} };
    if (typeof value !== "string") break;
    if (value.trim() === "") return { ok: true, args: {} };
    if (layer === 2) break;
    const text: string = value.replace(/^\ufeff/, "");
    try {
      value = parseExact(text);
    } catch (error) {
      if (layer > 0) break;
      return { ok: false, message: brokenJson(text, error) };
    }
  }
  if (isObject(value) && !(value instanceof ExactNumber)) {
    const fault = faultOf(value as JsonObject, 0);
    if (fault === undefined) return { ok: true, args: value as JsonObject };
    const what =
      fault === "deep"
        ? `The arguments are nested deeper than ${MAX_NESTING} levels.`
        : `The number at ${endlessNumber(value as JsonObject, "")} is too large for any program to hold.`;
    return { ok: false, message: `${what} Nothing was called. Send the whole call again.` };
  }
  return {
    ok: false,
    message: `The arguments must be one JSON object, not ${Array.isArray(value) ? "a list" : `a ${typeof value}`}. Send the whole call again.`,
  };
}

/** Why a value would not reach the server as it was judged: nesting overflows whoever walks it, a number that no double can hold becomes null. */
function faultOf(value: Json, depth: number): "deep" | "endless" | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : "endless";
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return undefined;
  if (depth >= MAX_NESTING) return "deep";
  for (const child of Object.values(value)) {
    const fault = faultOf(child, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Pointer of the first number that a double cannot hold at all. */
function endlessNumber(value: Json, pointer: string): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : pointer;
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const place = endlessNumber(child, pointTo(pointer, key));
    if (place !== undefined) return place;
  }
  return undefined;
}

function brokenJson(text: string, error: unknown): string {
  const what = isCut(text, error)
    ? `not complete JSON: they end unfinished at character ${text.length}`
    : `no JSON: there is a mistake at character ${positionOf(error) ?? mistakeAt(text)}`;
  return `The arguments are ${what}. Nothing was called. Send the whole call again, as one complete JSON object and nothing around it.`;
}

function positionOf(error: unknown): number | undefined {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
  return position === undefined ? undefined : Number(position);
}

/** Whether a text that does not parse is only unfinished. */
function isCut(text: string, error: unknown): boolean {
  const position = positionOf(error);
  return /unterminated string|unexpected end/i.test(String(error)) || (position !== undefined && position >= text.length);
}

/** Where the first mistake is, for errors that name only the character: no beginning of the text that ends before it is wrong, all others are. */
function mistakeAt(text: string): number {
  let right = 0;
  let wrong = text.length;
  while (wrong - right > 1) {
    const middle = Math.floor((right + wrong) / 2);
    if (hasMistake(text.slice(0, middle))) wrong = middle;
    else right = middle;
  }
  return wrong - 1;
}

function hasMistake(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return !isCut(text, error);
  }
}

interface Change {
  readonly path: readonly (string | number)[];
  readonly code: Coercion["code"];
  /** The new value; undefined takes the property out. */
  readonly value: Json | undefined;
  readonly before: Json;
}

function proposeChanges(issues: readonly SchemaIssue[], args: JsonObject, settled: ReadonlySet<string>, options: ReadArgumentsOptions): Change[] {
  const wanted = new Map<string, { path: readonly (string | number)[]; types: Set<string> }>();
  const changes: Change[] = [];
  for (const issue of issues) {
    const unknown = issue.params["additionalProperty"] ?? issue.params["unevaluatedProperty"];
    if (options.dropUnknown && typeof unknown === "string") {
      const path = [...issue.path, unknown];
      changes.push({ path, code: "unknown_dropped", value: undefined, before: valueAt(args, path) as Json });
    }
    if (issue.path.length === 0) continue;
    const pointer = pointTo("", ...issue.path);
    const entry = wanted.get(pointer) ?? { path: issue.path, types: new Set<string>() };
    if (issue.keyword === "type") for (const type of [issue.params["type"]].flat()) entry.types.add(String(type));
    wanted.set(pointer, entry);
  }
  for (const [pointer, { path, types }] of wanted) {
    if (settled.has(pointer)) continue;
    const before = valueAt(args, path) as Json;
    const inObject = !Array.isArray(valueAt(args, path.slice(0, -1)));
    if (before === null) {
      if (inObject) changes.push({ path, code: "null_dropped", value: undefined, before });
    } else if (typeof before === "string") {
      const change = readText(before, types);
      if (change) changes.push({ path, before, ...change });
      else if (before === "" && inObject && types.size > 0 && !types.has("string")) changes.push({ path, code: "empty_dropped", value: undefined, before });
    }
  }
  return changes;
}

/** What a text stands for where the schema wants one of these types and not a text. */
function readText(text: string, types: ReadonlySet<string>): { readonly code: Coercion["code"]; readonly value: Json } | undefined {
  if (types.has("boolean") && (text === "true" || text === "false")) return { code: "boolean_read", value: text === "true" };
  if (types.has("integer") || types.has("number")) {
    if (/^-?(?:0|[1-9]\d*)$/.test(text) && text !== "-0") {
      const number = Number(text);
      return { code: "number_read", value: String(number) === text ? number : (new ExactNumber(text) as unknown as Json) };
    }
    const number = Number(text);
    if (types.has("number") && Number.isFinite(number) && String(number) === text) return { code: "number_read", value: number };
  }
  const start = text.trimStart().charAt(0);
  if ((start === "{" && types.has("object")) || (start === "[" && types.has("array"))) {
    try {
      return { code: "json_decoded", value: parseExact(text) as Json };
    } catch {
      return undefined;
    }
  }
  return undefined;
}

function applyChange(args: JsonObject, change: Change): void {
  const parent = valueAt(args, change.path.slice(0, -1));
  const key = change.path.at(-1)!;
  if (typeof parent !== "object" || parent === null) return;
  if (change.value === undefined) delete (parent as JsonObject)[key];
  else setOwn(parent, String(key), change.value);
}

/** Puts back what was dropped and turned out to be required: then the value itself is the mistake to report. */
function restoreRequired(args: JsonObject, changes: readonly Change[], issues: readonly SchemaIssue[], settled: Set<string>): ReadonlySet<Change> {
  const missing = new Set(
    issues
      .filter((issue) => issue.keyword === "required" || issue.keyword === "dependentRequired")
      .map((issue) => pointTo("", ...issue.path, String(issue.params["missingProperty"]))),
  );
  const restored = new Set<Change>();
  for (const change of changes) {
    const pointer = pointTo("", ...change.path);
    if (change.value !== undefined || change.code === "unknown_dropped" || !missing.has(pointer)) continue;
    applyChange(args, { ...change, value: change.before });
    settled.add(pointer);
    restored.add(change);
  }
  return restored;
}

function copyOf(value: Json): Json {
  if (value instanceof ExactNumber) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== "object" || value === null) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) setOwn(out, key, copyOf(value[key]!));
  return out;
}
