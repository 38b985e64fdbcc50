import { KitError } from "../base/errors.ts";
import { parseExact } from "../base/exact-json.ts";
import { compileSchema } from "../base/json-schema.ts";
import { domainToUnicode } from "node:url";
import { isInvisible } from "../base/text.ts";
import { formFault } from "./question-form.ts";
import { canonicalJson, isObject, own, type JsonObject } from "../base/json.ts";

/** What an app asks a person, where an approval is a question and no call: a form to fill in, or an address to open. */
export type Question =
  | { readonly mode: "form"; readonly message: string; readonly schema: JsonObject }
  | { readonly mode: "url"; readonly message: string; readonly url: string };

/** The question of an elicitation request (MCP 2025-11-25). Throws an Error when its form or address cannot be used. */
export function readQuestion(params: JsonObject): Question {
  const text = own(params, "message");
  const message = typeof text === "string" ? text : "";
  const mode = Object.hasOwn(params, "mode") ? params["mode"] : "form";
  if (mode === "url") return { mode, message, url: readAddress(own(params, "url")) };
  if (mode !== "form") throw new Error('the mode of a question must be "form" or "url"');
  const form = (own(params, "requestedSchema") ?? { type: "object", properties: {} }) as JsonObject;
  const fault = formFault(form);
  if (fault !== null) throw new Error(`the form cannot be used: ${fault}`);
  const compiled = compileSchema(form);
  if (!compiled.ok) throw new Error(`the form cannot be used: ${compiled.reason}`);
  return { mode: "form", message, schema: form };
}

/** An address as a browser reads it, so that what is looked at is what would be opened. */
function readAddress(value: unknown): string {
  if (typeof value !== "string" || !URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw new Error("the address to open must be an http or https URL");
  const { username, password, href } = new URL(value);
  if (username !== "" || password !== "") throw new Error("the address to open must have no user name: that can look like another site");
  if ([...value].some(isInvisible)) throw new Error("the address to open must have no control or invisible characters");
  return href;
}

/** The site of an address: its host in the form that is looked up and, where that differs, as it reads. */
export function siteOf(url: string): { readonly host: string; readonly readsAs: string | null } {
  const { host, hostname } = new URL(url);
  const reads = domainToUnicode(hostname);
  return { host, readsAs: reads === hostname || reads === "" ? null : reads };
}

/** The site that a question wants opened, in words; empty for a form. */
export function siteWords(question: Question): string {
  if (question.mode === "form") return "";
  const { host, readsAs } = siteOf(question.url);
  return readsAs === null ? host : `${host} (reads as ${readsAs})`;
}

/**
 * The answer of a person who says yes to a question, checked against its form; null where no form is asked. It is `answer`, else the
 * JSON object in `note`, else `earlier`, the answer of who said yes before. Throws INVALID_ARGUMENTS that names what is missing.
 */
export function checkAnswer(
  question: Question | undefined,
  { answer, note, earlier }: { readonly answer: JsonObject | undefined; readonly note: string | undefined; readonly earlier: JsonObject | null },
): JsonObject | null {
  if (question?.mode !== "form") {
    if (answer !== undefined) throw new KitError("INVALID_ARGUMENTS", "nothing is asked here that an answer could be given to; approve or deny it without one");
    return null;
  }
  const given = answer ?? objectIn(note) ?? earlier ?? {};
  const schema = compileSchema(question.schema);
  const issues = schema.ok ? schema.schema.validate(given) : [];
  if (issues.length > 0) {
    const list = issues.map((issue) => `${issue.path.join(".") || "it"} ${issue.message}`).join("; ");
    throw new KitError("INVALID_ARGUMENTS", `the answer does not fit the form: ${list}. Give it as a JSON object (--answer '{…}', or \`answer\` in the API)`);
  }
  if (earlier !== null && canonicalJson(given) !== canonicalJson(earlier))
    throw new KitError("INVALID_ARGUMENTS", "the first person gave another answer: approve without one to confirm that, or deny it");
  return given;
}

function objectIn(note: string | undefined): JsonObject | undefined {
  if (note === undefined || !note.trim().startsWith("{")) return undefined;
  try {
    const value: unknown = parseExact(note);
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
