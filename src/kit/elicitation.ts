import type { Approval } from "../calls/approval.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";
import { isCountName, isSecretName } from "../base/masking.ts";
import { isInvisible } from "../base/text.ts";
import { readQuestion, type Question } from "../calls/question.ts";
import { latinLetters, skeleton } from "../tools/confusables.ts";

/** The question of an app as it may be put before a person: an address of a web site, or a flat form that asks for no secrets. Throws to refuse. */
export function vetQuestion(params: JsonObject): Question {
  const question = readQuestion(params);
  if (question.mode === "form") refuseSecrets(question.schema);
  return question;
}

/** Refuses a form that asks for secrets (guide 9.3): those never go through a form. Throws with the field's name. */
function refuseSecrets(form: JsonObject): void {
  const properties = own(form, "properties");
  for (const [name, schema] of Object.entries(isObject(properties) ? properties : {})) {
    const text = !["integer", "number", "boolean"].includes(String(own(schema, "type")));
    const words = [name, own(schema, "title"), own(schema, "format") === "password" ? "password" : ""].map(String).flatMap(readings);
    if (words.some((word) => isSecretName(word) && (text || !isCountName(word))))
      throw new Error(`the form asks for "${name}": a form must not ask for passwords, keys or tokens; use URL mode`);
  }
}

/** A name as a person reads it: without what cannot be seen, look-alike letters of other scripts and digits as the letters that they stand for. */
function readings(name: string): string[] {
  const seen = [...name.normalize("NFKD")].filter((char) => !isInvisible(char) && !/^\p{M}$/u.test(char)).join("");
  const plain = latinLetters(seen);
  return [plain, skeleton(plain)];
}

/** The MCP answer to a question that a person has dealt with: accept with what was filled in, decline when denied, cancel when closed or nobody answered. */
export function answerOf(approval: Approval): JsonObject {
  if (approval.state === "denied") return { action: "decline" };
  if (approval.state !== "approved") return { action: "cancel" };
  return approval.question?.mode === "form" ? { action: "accept", content: approval.answer ?? {} } : { action: "accept" };
}
