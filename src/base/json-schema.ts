import { Ajv, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { createRequire } from "node:module";
import type { RE2JS } from "re2js";
import { isObject, own } from "./json.ts";
import { withoutLookaround } from "./lookaround.ts";

/** One place where a value breaks its schema. `path` are the keys and indexes that lead to it. */
export interface SchemaIssue {
  readonly path: readonly (string | number)[];
  readonly keyword: string;
  readonly message: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The schema node that failed, where ajv knows it. */
  readonly schemaPath: string;
}

/** A compiled schema. `validate` gives every issue found, none when the value fits; it never throws and never changes the value. */
export interface CompiledSchema {
  validate(value: unknown): SchemaIssue[];
  /** Patterns that cannot be run in linear time (lookaround, back-references); they were left out. */
  readonly skippedPatterns: readonly string[];
}

/** Either a compiled schema, or why it cannot be compiled. */
export type SchemaResult = { readonly ok: true; readonly schema: CompiledSchema } | { readonly ok: false; readonly reason: string };

/** Compiled linear-time regular expression. */
export interface LinearRegExp {
  test(text: string): boolean;
}

/**
 * Compiles a regular expression that runs in linear time whatever the text (RE2 syntax, searched anywhere in the text);
 * lookaround in fixed places is taken apart first. Returns a reason instead for what has no linear form, such as
 * back-references.
 */
export function compileRegExp(pattern: string): { readonly ok: true; readonly regexp: LinearRegExp } | { readonly ok: false; readonly reason: string } {
  try {
    const plain = withoutLookaround(pattern);
    if (!plain) return { ok: true, regexp: linear(pattern) };
    const must = plain.must.map(linear);
    const mustNot = plain.mustNot.map(linear);
    return { ok: true, regexp: { test: (text) => must.every((part) => part.test(text)) && !mustNot.some((part) => part.test(text)) } };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

const require = createRequire(import.meta.url);
let re2: typeof RE2JS | undefined;

/** The engine is loaded with the first pattern: its tables take megabytes, and many hosts have none. */
function linear(pattern: string): LinearRegExp {
  re2 ??= (require("re2js") as { RE2JS: typeof RE2JS }).RE2JS;
  const compiled = re2.compile(re2.translateRegExp(pattern));
  return { test: (text) => compiled.matcher(text).find() };
}

/** Largest schema that is compiled, in characters of JSON. */
const MAX_SCHEMA_CHARS = 1_000_000;

/**
 * Compiles a JSON Schema: 2020-12, or draft-07 where `$schema` says draft-04, -06 or -07. Unknown keywords and formats are
 * ignored; references outside the schema are refused and never fetched; patterns run in linear time.
 */
export function compileSchema(schema: unknown): SchemaResult {
  if (typeof schema !== "boolean" && !isObject(schema)) return { ok: false, reason: "a schema must be an object or a boolean" };
  if (isObject(schema) && JSON.stringify(schema).length > MAX_SCHEMA_CHARS)
    return { ok: false, reason: `the schema is larger than ${MAX_SCHEMA_CHARS} characters` };
  const skipped: string[] = [];
  const dialect = isObject(schema) ? own(schema, "$schema") : undefined;
  const draft7 = typeof dialect === "string" && /draft-0[467]/.test(dialect);
  try {
    const ajv = engine(draft7, skipped);
    const root = isObject(schema) ? withoutIdentity(schema) : schema;
    const run = ajv.compile(root);
    if ("$async" in run) return { ok: false, reason: "asynchronous schemas are not supported" };
    return { ok: true, schema: { validate: (value) => issues(run, value), skippedPatterns: skipped } };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** A set of schemas that refer to one another by `$id`, for the kit's own files. Throws when one does not compile: that is a fault of the build. */
export function compileSchemaSet(schemas: readonly AnySchemaObject[]): ReadonlyMap<string, CompiledSchema> {
  const skipped: string[] = [];
  const ajv = engine(false, skipped);
  for (const schema of schemas) ajv.addSchema(schema);
  const out = new Map<string, CompiledSchema>();
  for (const schema of schemas) {
    const id = String(schema["$id"]);
    const run = ajv.getSchema(id);
    if (!run) throw new Error(`no schema ${id}`);
    out.set(id, { validate: (value) => issues(run, value), skippedPatterns: skipped });
  }
  return out;
}

function engine(draft7: boolean, skipped: string[]): Ajv {
  const regExp = Object.assign(
    (pattern: string): LinearRegExp & { toString(): string } => {
      const compiled = compileRegExp(pattern);
      if (!compiled.ok) skipped.push(pattern);
      const test = compiled.ok ? compiled.regexp.test : () => true;
      // ajv keeps compiled patterns by their text: without one of its own, the first pattern would stand for all.
      return { test, toString: () => pattern };
    },
    { code: "linearRegExp" },
  );
  const options: Options = {
    strict: false,
    allErrors: true,
    validateSchema: false,
    validateFormats: false,
    logger: false,
    verbose: true,
    // A property named `constructor` is there only when the value has it itself.
    ownProperties: true,
    code: { regExp },
  };
  return draft7 ? new Ajv(options) : new Ajv2020(options);
}

/** The schema without `$schema` and `$id` at its root: two tools may carry the same `$id`, and ajv refuses dialects it does not know. */
function withoutIdentity(schema: Record<string, unknown>): AnySchemaObject {
  const { $schema: _dialect, $id: _id, ...rest } = schema;
  return rest;
}

function issues(run: ValidateFunction, value: unknown): SchemaIssue[] {
  if (run(value)) return [];
  return (run.errors ?? []).map((error) => toIssue(error));
}

function toIssue(error: ErrorObject): SchemaIssue {
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  return { path, keyword: error.keyword, message: error.message ?? "is not valid", params: error.params, schemaPath: error.schemaPath };
}
