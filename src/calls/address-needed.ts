import { KitError } from "../base/errors.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";
import { LinkError } from "../runtime/ports.ts";

/** The MCP error of a server that runs nothing before a person has opened an address (2025-11-25, URL mode elicitation). */
const URL_ELICITATION_REQUIRED = -32042;

/**
 * The kit's error for that answer of an app, with every address as `vet` lets it pass: it is a question to the calling client's person
 * like any other. Null for every other fault, and where the client may not be asked; then it is an error of the app as any.
 */
export function addressNeeded(
  error: unknown,
  target: { readonly full: string; readonly app: string },
  vet: (params: JsonObject) => JsonObject,
): KitError | null {
  if (!(error instanceof LinkError) || error.kind !== "rpc" || error.code !== URL_ELICITATION_REQUIRED) return null;
  const asked = own(error.data, "elicitations");
  if (!Array.isArray(asked) || asked.length === 0 || !asked.every(isObject)) return null;
  try {
    const elicitations = asked.map((one) => vet({ ...(one as JsonObject), mode: "url" }));
    const hosts = [...new Set(elicitations.map((one) => new URL(String(own(one, "url"))).host))].join(" and ");
    return new KitError("ELICITATION_REQUIRED", `${target.app} wants a person to open an address at ${hosts} first; call ${target.full} again after that`, {
      cause: error,
      details: { elicitations: elicitations },
    });
  } catch {
    return null;
  }
}
