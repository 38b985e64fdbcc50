import type { Approval } from "../calls/approval.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";
import { isCountName, isSecretName } from "../base/masking.ts";

/** Refuses a form that asks for secrets (guide 9.3): those never go through a form. Throws with the field's name. */
export function refuseSecrets(params: JsonObject): void {
  if (own(params, "mode") === "url") return;
  const properties = own(own(params, "requestedSchema"), "properties");
  for (const [name, schema] of Object.entries(isObject(properties) ? properties : {})) {
    const text = !["integer", "number", "boolean"].includes(String(own(schema, "type")));
    const words = [name, own(schema, "title"), own(schema, "format") === "password" ? "password" : ""].map(String);
    if (words.some((word) => isSecretName(word) && (text || !isCountName(word))))
      throw new Error(`the form asks for "${name}": a form must not ask for passwords, keys or tokens; use URL mode`);
  }
}

/** The MCP answer to a question that a person has dealt with: accept with what was filled in, decline when denied, cancel when closed or nobody answered. */
export function answerOf(approval: Approval): JsonObject {
  if (approval.state === "denied") return { action: "decline" };
  if (approval.state !== "approved") return { action: "cancel" };
  return approval.question?.mode === "form" ? { action: "accept", content: approval.answer ?? {} } : { action: "accept" };
}
