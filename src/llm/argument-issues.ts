import { stringifyExact } from "../base/exact-json.ts";
import { own } from "../base/json.ts";
import type { SchemaIssue } from "../base/json-schema.ts";
import { nearest, truncate } from "../base/text.ts";
import { pointTo } from "./schema-node.ts";

/** One reason why arguments do not fit, for the caller and in the model's words. */
export interface ArgumentIssue {
  /** JSON pointer of the value, or of the property that is missing or unknown; `` is the whole. */
  readonly pointer: string;
  /** The schema keyword that failed; `json` when the text is no JSON object. */
  readonly keyword: string;
  readonly message: string;
}

const MAX_ISSUES = 12;

/** The issues of a validation, each with what was found and what is allowed, without repeats. `known`: the tool's own properties, for near names. */
export function argumentIssues(issues: readonly SchemaIssue[], args: unknown, known: readonly string[]): ArgumentIssue[] {
  const seen = new Map<string, ArgumentIssue>();
  for (const issue of issues) {
    const described = describe(issue, args, known);
    seen.set(`${described.pointer}\n${described.message}`, described);
  }
  const all = [...seen.values()];
  // "must match a schema in anyOf" says less than what its branches say.
  const telling = all.filter((issue) => !["anyOf", "oneOf", "if"].includes(issue.keyword));
  return (telling.length > 0 ? telling : all).slice(0, MAX_ISSUES);
}

/** What a model is told about arguments that do not fit. */
export function issuesMessage(issues: readonly ArgumentIssue[]): string {
  return `The arguments do not fit the tool's schema:\n${issues.map((issue) => `- ${issue.pointer || "the arguments"} ${issue.message}`).join("\n")}\nCall the tool again with corrected arguments.`;
}

/** The value at a path of keys and indexes; undefined when there is none. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value;
  for (const key of path) at = own(at, String(key));
  return at;
}

function describe(issue: SchemaIssue, args: unknown, known: readonly string[]): ArgumentIssue {
  const pointer = pointTo("", ...issue.path);
  const value = valueAt(args, issue.path);
  const got = `got ${value === undefined ? "nothing" : truncate(stringifyExact(value), 80)}`;
  const { params, keyword } = issue;
  switch (keyword) {
    case "required":
      return {
        pointer: pointTo(pointer, String(params["missingProperty"])),
        keyword,
        message: `is required${/\/(?:then|else)\//.test(issue.schemaPath) ? " by the schema's if/then/else" : ""}`,
      };
    case "dependentRequired":
      return { pointer: pointTo(pointer, String(params["missingProperty"])), keyword, message: `is required beside ${String(params["property"])}` };
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params["additionalProperty"] ?? params["unevaluatedProperty"]);
      const near = issue.path.length === 0 ? nearest(name, known, 1) : [];
      return { pointer: pointTo(pointer, name), keyword, message: `is not a property of this tool${near.length > 0 ? ` (did you mean ${near[0]}?)` : ""}` };
    }
    case "type":
      return { pointer, keyword, message: `must be ${[params["type"]].flat().join(" or ")} (${got})` };
    case "enum":
      return { pointer, keyword, message: `must be one of ${truncate(JSON.stringify(params["allowedValues"]), 300)} (${got})` };
    case "const":
      return { pointer, keyword, message: `must be ${truncate(JSON.stringify(params["allowedValue"]), 100)} (${got})` };
    case "false schema":
      return { pointer, keyword, message: "is not allowed" };
    case "not":
      return { pointer, keyword, message: "must not fit the schema under `not`" };
    default:
      return { pointer, keyword, message: `${issue.message} (${keyword}; ${got})` };
  }
}
