import { canonicalJson, type Json } from "../base/json.ts";
import type { Masker } from "../base/masking.ts";
import { escapeInvisible, truncate } from "../base/text.ts";
import type { ApprovalRow, QuestionRow } from "../kit-api.ts";
import type { Approval } from "./approval.ts";
import { siteOf, type Question } from "./question.ts";

/** The row of an approval for print and the control API: times as ISO texts, secrets in the arguments masked. */
export function approvalRow(approval: Approval, masker: Masker): ApprovalRow {
  return {
    id: approval.id,
    tool: approval.full,
    app: approval.app,
    arguments: masker.value(approval.args) as Json,
    client: approval.client,
    session: approval.session,
    risk: approval.risk,
    reason: approval.reason,
    rule: approval.rule,
    created_at: new Date(approval.createdAt).toISOString(),
    expires_at: new Date(approval.expiresAt).toISOString(),
    state: approval.state,
    question: approval.question === undefined ? null : questionRow(approval.question, masker),
    answer: masker.value(approval.answer ?? null) as Json,
    decided_by: approval.deniedBy === null ? approval.approvedBy : [...approval.approvedBy, approval.deniedBy],
  };
}

/** A question for print and the control API; of an address the host stands by itself, in the form that is looked up and, where it differs, as it reads. */
function questionRow(question: Question, masker: Masker): QuestionRow {
  const message = masker.text(question.message);
  if (question.mode === "form") return { mode: "form", message, schema: masker.value(question.schema) as Json };
  const { host, readsAs } = siteOf(question.url);
  return { mode: "url", message, url: escapeInvisible(question.url), host, reads_as: readsAs };
}

/**
 * The arguments in lines that no text in them can imitate: one `name = JSON value` a line, controls and invisible characters
 * escaped, long values cut with their length told.
 */
export function argumentLines(args: Json, maxChars = 400): string[] {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return [shown(args, maxChars)];
  const names = Object.keys(args).sort();
  if (names.length === 0) return ["(no arguments)"];
  return names.map((name) => `${shown(name, 100)} = ${shown(args[name]!, maxChars)}`);
}

function shown(value: Json, maxChars: number): string {
  const text = escapeInvisible(canonicalJson(value));
  return text.length > maxChars ? `${truncate(text, maxChars)} (${text.length} characters)` : text;
}
