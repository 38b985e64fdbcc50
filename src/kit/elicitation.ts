import type { Approval } from "../calls/approval.ts";
import { compileSchema } from "../base/json-schema.ts";
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

/**
 * The MCP answer to a question that a person has dealt with: accept with the JSON object written as the decision's reason, decline
 * when denied, cancel when nobody answered. Throws when the written answer does not fit the form.
 */
export function answerOf(approval: Approval, params: JsonObject): JsonObject {
  if (approval.state === "denied") return { action: "decline" };
  if (approval.state !== "approved") return { action: "cancel" };
  if (own(params, "mode") === "url") return { action: "accept" };
  const content = readAnswer(approval.note);
  const schema = compileSchema(own(params, "requestedSchema") ?? { type: "object" });
  const issue = schema.ok ? schema.schema.validate(content)[0] : undefined;
  if (issue) throw new Error(`the answer does not fit the form: ${issue.path.join(".") || "it"} ${issue.message}`);
  return { action: "accept", content };
}

function readAnswer(note: string | null): JsonObject {
  if (note === null || note.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(note);
  } catch {
    throw new Error("the answer is not JSON: write the answer as one JSON object in the reason");
  }
  if (!isObject(value)) throw new Error("the answer must be one JSON object");
  return value as JsonObject;
}
