import { KitError } from "../base/errors.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";
import { readQuestion, siteWords } from "./question.ts";
import { LinkError } from "../runtime/ports.ts";

/** The MCP error of a server that runs nothing before a person has opened an address (2025-11-25, URL mode elicitation). */
const URL_ELICITATION_REQUIRED = -32042;

/** Addresses that one answer may hold, and how long each of their texts may be. */
const MAX_ADDRESSES = 10;
const MAX_CHARS = 2000;
const MEMBERS = ["message", "url", "elicitationId"];

/** Whether a client with these capabilities can have its person open an address (URL mode elicitation). */
export function opensAddresses(capabilities: JsonObject | undefined): boolean {
  return isObject(own(own(capabilities, "elicitation"), "url"));
}

/**
 * The kit's error for that answer of an app, with every address as `vet` lets it pass: it is a question to the calling client's person
 * like any other. Null for every other fault, for a list that is too long, and where the client may not be asked; then it is an error
 * of the app as any.
 */
export function addressNeeded(
  error: unknown,
  target: { readonly full: string; readonly app: string },
  vet: (params: JsonObject) => JsonObject,
): KitError | null {
  if (!(error instanceof LinkError) || error.kind !== "rpc" || error.code !== URL_ELICITATION_REQUIRED) return null;
  const asked = own(error.data, "elicitations");
  if (!Array.isArray(asked) || asked.length === 0 || asked.length > MAX_ADDRESSES || !asked.every(isShort)) return null;
  try {
    const elicitations = asked.map((one) =>
      vet({ ...Object.fromEntries(MEMBERS.flatMap((key) => (Object.hasOwn(one, key) ? [[key, one[key]]] : []))), mode: "url" }),
    );
    const hosts = [...new Set(elicitations.map((one) => siteWords(readQuestion(one))))].join(" and ");
    return new KitError("ELICITATION_REQUIRED", `${target.app} wants a person to open an address at ${hosts} first; call ${target.full} again after that`, {
      cause: error,
      details: { elicitations: elicitations },
    });
  } catch {
    return null;
  }
}

function isShort(one: unknown): one is JsonObject {
  return isObject(one) && MEMBERS.every((key) => String(own(one, key) ?? "").length <= MAX_CHARS);
}
