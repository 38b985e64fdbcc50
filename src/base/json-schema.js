import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { isObject, own } from "./json.ts";
import { withoutLookaround } from "./lookaround.ts";
/**
 * Compiles a regular expression that runs in linear time whatever the text (RE2 syntax, searched anywhere in the text);
 * lookaround in fixed places is taken apart first. Returns a reason instead for what has no linear form, such as
 * back-references.
 */
export function compileRegExp(pattern) {
    try {
        const plain = withoutLookaround(pattern);
        if (!plain)
            return { ok: true, regexp: linear(pattern) };
        const must = plain.must.map(linear);
        const mustNot = plain.mustNot.map(linear);
        return { ok: true, regexp: { test: (text) => must.every((part) => part.test(text)) && !mustNot.some((part) => part.test(text)) } };
    }
    catch (error) {
        return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
}
function linear(pattern) {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { test: (text) => compiled.matcher(text).find() };
}
/** Largest schema that is compiled, in characters of JSON. */
const MAX_SCHEMA_CHARS = 1000000;
/**
 * Compiles a JSON Schema: 2020-12, or draft-07 where `$schema` says draft-04, -06 or -07. Unknown keywords and formats are
 * ignored; references outside the schema are refused and never fetched; patterns run in linear time.
 */
export function compileSchema(schema) {
    if (typeof schema !== "boolean" && !isObject(schema))
        return { ok: false, reason: "a schema must be an object or a boolean" };
    if (isObject(schema) && JSON.stringify(schema).length > MAX_SCHEMA_CHARS)
        return { ok: false, reason: `the schema is larger than ${MAX_SCHEMA_CHARS} characters` };
    const skipped = [];
    const dialect = isObject(schema) ? own(schema, "$schema") : undefined;
    const draft7 = typeof dialect === "string" && /draft-0[467]/.test(dialect);
    try {
        const ajv = engine(draft7, skipped);
        const root = isObject(schema) ? withoutIdentity(schema) : schema;
        const run = ajv.compile(root);
        if ("$async" in run)
            return { ok: false, reason: "asynchronous schemas are not supported" };
        return { ok: true, schema: { validate: (value) => issues(run, value), skippedPatterns: skipped } };
    }
    catch (error) {
        return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
}
/** A set of schemas that refer to one another by `$id`, for the kit's own files. Throws when one does not compile: that is a fault of the build. */
export function compileSchemaSet(schemas) {
    const skipped = [];
    const ajv = engine(false, skipped);
    for (const schema of schemas)
        ajv.addSchema(schema);
    const out = new Map();
    for (const schema of schemas) {
        const id = String(schema["$id"]);
        const run = ajv.getSchema(id);
        if (!run)
            throw new Error(`no schema ${id}`);
        out.set(id, { validate: (value) => issues(run, value), skippedPatterns: skipped });
    }
    return out;
}
function engine(draft7, skipped) {
    const regExp = Object.assign((pattern) => {
        const compiled = compileRegExp(pattern);
        if (!compiled.ok)
            skipped.push(pattern);
        const test = compiled.ok ? compiled.regexp.test : () => true;
        // ajv keeps compiled patterns by their text: without one of its own, the first pattern would stand for all.
        return { test, toString: () => pattern };
    }, { code: "linearRegExp" });
    const options = {
        strict: false,
        allErrors: true,
        validateSchema: false,
        validateFormats: false,
        logger: false,
        verbose: true,
        code: { regExp },
    };
    return draft7 ? new Ajv(options) : new Ajv2020(options);
}
/** The schema without `$schema` and `$id` at its root: two tools may carry the same `$id`, and ajv refuses dialects it does not know. */
function withoutIdentity(schema) {
    const { $schema: _dialect, $id: _id, ...rest } = schema;
    return rest;
}
function issues(run, value) {
    if (run(value))
        return [];
    return (run.errors ?? []).map((error) => toIssue(error));
}
function toIssue(error) {
    const path = error.instancePath
        .split("/")
        .slice(1)
        .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    return { path, keyword: error.keyword, message: error.message ?? "is not valid", params: error.params, schemaPath: error.schemaPath };
}
