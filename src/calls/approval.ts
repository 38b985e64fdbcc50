import { parseExact, stringifyExact } from "../base/exact-json.ts";
import { KitError } from "../base/errors.ts";
import { digest, type JsonObject } from "../base/json.ts";
import { isInvisible } from "../base/text.ts";
import type { Question } from "./question.ts";
import type { RuleRef } from "../policy/types.ts";
import type { Risk } from "../tools/types.ts";

/** What an approval is for. All of it is bound: another tool, pin, argument, caller or conversation needs another approval. */
export interface ApprovalBinding {
  readonly app: string;
  readonly tool: string;
  readonly pin: string;
  readonly args: JsonObject;
  readonly client: string;
  readonly session: string;
}

/** A wish for an approval, with what the person who decides should know. */
export interface ApprovalRequest extends ApprovalBinding {
  /** Name of the tool as people see it. */
  readonly full: string;
  readonly risk: Risk;
  readonly reason: string;
  readonly rule: RuleRef | null;
  readonly expiresMs: number;
  readonly fourEyes: boolean;
  /** It is of use only to what waits for it at this moment: it ends with that, and with the host. */
  readonly live?: boolean;
  /** Set where a person answers an app instead of letting a call run. */
  readonly question?: Question;
}

/** `cancel` closes a question without an answer. */
export type Verdict = "approve" | "deny" | "cancel";

/** `withdrawn`: what waited for it has ended, so nothing would come of a decision. */
export type ApprovalState = "pending" | "approved" | "denied" | "expired" | "used" | "withdrawn" | "cancelled";

/** An approval as it stands. Times are wall clock milliseconds. */
export interface Approval extends Omit<ApprovalRequest, "expiresMs"> {
  readonly id: string;
  readonly binding: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly state: ApprovalState;
  readonly approvedBy: readonly string[];
  readonly deniedBy: string | null;
  /** What the person wrote with the decision. */
  readonly note: string | null;
  /** What the person filled in, where a form was asked. */
  readonly answer?: JsonObject | null;
}

/** One line of the journal of approvals. The file holds arguments as they are and so is for its owner only (mode 0600). */
export type ApprovalRecord =
  | { readonly kind: "asked"; readonly approval: Omit<Approval, "args">; /** JSON text, so that no digit is lost. */ readonly args: string }
  | {
      readonly kind: "decided";
      readonly id: string;
      readonly decision: Verdict;
      readonly by: string;
      readonly note: string | null;
      /** JSON text. */
      readonly answer?: string;
      readonly at: number;
    }
  | { readonly kind: "used" | "withdrawn"; readonly id: string; readonly at: number };

/** The hash an approval is bound to: app, tool, pin, canonical arguments, client and session. Order of keys does not matter, every value does. */
export function bindingOf(call: ApprovalBinding): string {
  const { app, tool, pin, args, client, session } = call;
  return digest({ app, tool, pin, args, client, session }, "approval");
}

/** Throws when this person may not make this decision: it is no longer open, needs a name, or needs another pair of eyes. */
export function checkDecision(found: Approval, decision: Verdict, by: string): void {
  const { id, state } = found;
  if (state === "expired") throw new KitError("APPROVAL_EXPIRED", `approval ${id} has expired; the caller has to ask again`);
  if (state === "withdrawn")
    throw new KitError("APPROVAL_EXPIRED", `approval ${id} was withdrawn: the call that it was asked for has ended, so nothing was sent; run that call again`);
  if (state !== "pending") throw new KitError("INVALID_ARGUMENTS", `approval ${id} is already ${state}`);
  const person = personKey(by);
  if (person === "") throw new KitError("INVALID_ARGUMENTS", "a decision needs the name of who decides");
  if (decision === "cancel" && found.question === undefined)
    throw new KitError("INVALID_ARGUMENTS", `approval ${id} is for a call and not a question: approve it or deny it`);
  if (decision !== "approve" || !found.fourEyes) return;
  if (person === personKey(found.client)) throw new KitError("APPROVAL_DENIED", `approval ${id} needs four eyes: ${by} made the call and cannot approve it`);
  if (found.approvedBy.some((earlier) => personKey(earlier) === person))
    throw new KitError("APPROVAL_REQUIRED", `approval ${id} needs four eyes: ${by} has approved it already, another person must too`);
}

/** Throws when an approval cannot be used for this call now. */
export function checkUse(found: Approval, call: ApprovalBinding): void {
  const { id } = found;
  // A stranger's id tells nothing about the call it belongs to.
  if (found.binding !== bindingOf(call))
    throw new KitError(
      "APPROVAL_REQUIRED",
      `approval ${id} was given for another call: it holds only for the same tool, arguments, caller and session; call again without it`,
    );
  const details = { approval_id: id };
  if (found.state === "pending") throw new KitError("APPROVAL_REQUIRED", `approval ${id} still waits for a person`, { details });
  if (found.state === "denied")
    throw new KitError("APPROVAL_DENIED", `the call was refused by ${found.deniedBy ?? "a person"}${found.note ? `: ${found.note}` : ""}`, { details });
  if (found.state === "expired" || found.state === "withdrawn")
    throw new KitError("APPROVAL_EXPIRED", `approval ${id} ${found.state === "expired" ? "has expired" : "was withdrawn"}; call again without it`, { details });
  if (found.state === "used")
    throw new KitError("APPROVAL_REQUIRED", `approval ${id} has been used: one approval is good for one call; call again without it`, { details });
}

/** The name under which a decision of a calling client's own person is recorded; operators cannot take it. */
export function clientPerson(client: string): string {
  return `client:${client}`;
}

/** Whether a name that an operator gives would pass for a calling client's person. */
export function isClientPerson(by: string): boolean {
  return personKey(by).startsWith(clientPerson(""));
}

/** What two spellings of one person's name have in common: no white space or hidden characters, one Unicode form, one case. */
function personKey(name: string): string {
  const visible = [...name.normalize("NFKC")].filter((char) => !isInvisible(char) && !/\s/.test(char));
  return visible.join("").toLowerCase().normalize("NFKC");
}

/** The approval after one decision; with four eyes the first yes leaves it pending. */
export function decided(approval: Approval, record: Extract<ApprovalRecord, { kind: "decided" }>): Approval {
  if (record.decision === "deny") return { ...approval, state: "denied", deniedBy: record.by, note: record.note };
  if (record.decision === "cancel") return { ...approval, state: "cancelled", deniedBy: record.by, note: record.note };
  const answer = record.answer === undefined ? null : (parseExact(record.answer) as JsonObject);
  const approvedBy = [...approval.approvedBy, record.by];
  return { ...approval, approvedBy, note: record.note, answer, state: approvedBy.length >= (approval.fourEyes ? 2 : 1) ? "approved" : "pending" };
}

/** The record from which an approval is read again. */
export function asked(approval: Approval): ApprovalRecord {
  const { args, ...rest } = approval;
  return { kind: "asked", approval: rest, args: stringifyExact(args) };
}

/** An approval after one more record of it; null for a record of an approval that is not known. */
export function replayed(found: Approval | undefined, record: ApprovalRecord): Approval | null {
  if (record.kind === "asked") return { ...record.approval, args: parseExact(record.args) as JsonObject };
  if (found === undefined) return null;
  return record.kind === "decided" ? decided(found, record) : { ...found, state: record.kind };
}
