import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import { compileSchema, type CompiledSchema } from "../base/json-schema.ts";
import { HttpError } from "./http-errors.ts";
import type { RequestContext, Route } from "./route.ts";

const compiled = new WeakMap<JsonObject, CompiledSchema>();

/** The body as an object that fits its route's schema. Throws an {@link HttpError} that lists every failing place. */
export function bodyOf(schema: JsonObject, body: Json): JsonObject {
  let check = compiled.get(schema);
  if (!check) {
    const result = compileSchema(schema);
    if (!result.ok) throw new Error(result.reason);
    check = result.schema;
    compiled.set(schema, check);
  }
  const issues = check.validate(body);
  if (issues.length > 0) {
    const list = issues.map((issue) => ({
      path: issue.path.join("."),
      message: issue.message,
      ...(typeof issue.params["additionalProperty"] === "string" ? { property: issue.params["additionalProperty"] } : {}),
    }));
    throw new HttpError(
      "BAD_REQUEST",
      `the body does not fit: ${list.map((i) => `${i.path || "(root)"} ${i.message}${i.property === undefined ? "" : ` (${i.property})`}`).join("; ")}`,
      { details: list },
    );
  }
  return body as JsonObject;
}

/** An own string member of a checked body. */
export function textOf(body: JsonObject, key: string): string | undefined {
  const value = own(body, key);
  return typeof value === "string" ? value : undefined;
}

/** An own object member of a checked body. */
export function objectOf(body: JsonObject, key: string): JsonObject | undefined {
  const value = own(body, key);
  return isObject(value) ? (value as JsonObject) : undefined;
}

/** A query value that must be one of the route's `values`; the first is the default. Throws an {@link HttpError} that lists them. */
export function choiceOf<T extends string>(context: RequestContext, name: string, values: readonly T[]): T {
  const given = context.query.get(name);
  if (given === null) return values[0]!;
  const found = values.find((value) => value === given);
  if (found === undefined) throw new HttpError("BAD_REQUEST", `${name} must be one of ${values.join(", ")}`);
  return found;
}

/** A query value that must be there. */
export function queryOf(context: RequestContext, name: string): string {
  const value = context.query.get(name);
  if (value === null || value === "") throw new HttpError("BAD_REQUEST", `the query parameter ${name} is missing`);
  return value;
}

/** A query value that must be a whole number of 1 or more, where it is given. */
export function countOf(context: RequestContext, name: string): number | undefined {
  const value = context.query.get(name);
  if (value === null) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new HttpError("BAD_REQUEST", `${name} must be a whole number of 1 or more`);
  return Number(value);
}

/** Shorthand for the JSON answer of a route. */
export function jsonAnswer(description: string, schema?: JsonObject): Route["answer"] {
  return { type: "application/json", description, ...(schema ? { schema } : {}) };
}
