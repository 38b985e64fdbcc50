import type { ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "./json.ts";

/** One place where a value breaks its schema: a JSON pointer (empty for the whole value) and what is wrong there. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/** A value that fits its schema, defaults filled in, or every place where it does not. */
export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

/**
 * One engine for all schemas, without the check of the schemas themselves: both cost an app a tenth of a second at its start.
 * Strict mode still refuses unknown keywords.
 */
const ajv = new Ajv2020({ allErrors: true, useDefaults: true, strict: true, validateSchema: false, allowUnionTypes: true });
ajv.addFormat("http-url", (text: string) => isUrl(text, ["http:", "https:"]));
ajv.addFormat("ws-url", (text: string) => isUrl(text, ["ws:", "wss:"]));

/**
 * Compiles one of the app's own schemas (JSON Schema 2020-12) into a check that works on a copy: the input is never changed,
 * nothing is converted ("3" is no number). Formats: `http-url` and `ws-url`. Throws on an unknown keyword, which is a fault of the build.
 */
export function compileCheck<T>(schema: JsonObject): (value: unknown) => Checked<T> {
  const fits = ajv.compile<T>(schema);
  return (value) => {
    const copy: unknown = structuredClone(value);
    if (fits(copy)) return { ok: true, value: copy };
    return { ok: false, issues: (fits.errors ?? []).map(toIssue) };
  };
}

/** The issues as one line for people: `/days must be <= 7; /city must be string`. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues.map((issue) => (issue.path === "" ? issue.message : `${issue.path} ${issue.message}`)).join("; ");
}

/** User names, passwords and fragments have no place in the URL of an API. */
function isUrl(text: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return protocols.includes(protocol) && username === "" && password === "" && hash === "";
}

function toIssue(error: ErrorObject): SchemaIssue {
  const params: JsonObject = error.params;
  switch (error.keyword) {
    case "additionalProperties":
      return { path: error.instancePath, message: `unknown key "${String(params["additionalProperty"])}"` };
    case "required":
      return { path: error.instancePath, message: `"${String(params["missingProperty"])}" is missing` };
    case "enum":
      return { path: error.instancePath, message: `must be one of ${JSON.stringify(params["allowedValues"])}` };
    default:
      return { path: error.instancePath, message: error.message ?? "is not valid" };
  }
}
