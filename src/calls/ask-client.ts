import { KitError } from "../base/errors.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";
import { escapeInvisible, truncate } from "../base/text.ts";
import { clientPerson, type Approval } from "./approval.ts";
import type { Approvals } from "./approvals.ts";
import type { OperationOptions } from "./operation.ts";

/** What came of asking the calling client's person: an answer, a question closed without one, or nobody who could be asked. */
export type ClientReply = "answered" | "dismissed" | "unasked";

/** Whether the calling client can show its person a form (MCP elicitation; an empty declaration means forms). */
export function canAskClient({ onServerRequest, clientCapabilities }: OperationOptions): boolean {
  const elicitation = own(clientCapabilities, "elicitation");
  return onServerRequest !== undefined && isObject(elicitation) && (Object.hasOwn(elicitation, "form") || !Object.hasOwn(elicitation, "url"));
}

/**
 * Asks the calling client's person for an approval (contracts 5, `approvals.elicitation`), on the call's own stream. Accepted with yes
 * it is approved, with no or declined it is denied, by `client:NAME`; closed without an answer it stays as it is. Never throws for
 * what the client does.
 */
export async function askClient(approvals: Approvals, approval: Approval, options: OperationOptions, signal: AbortSignal): Promise<ClientReply> {
  const answer = await options.onServerRequest!({ method: "elicitation/create", params: question(approvals, approval), signal }).catch(() => null);
  const action = own(answer, "action");
  if (answer === null || !["accept", "decline", "cancel"].includes(String(action))) return "unasked";
  if (action === "cancel") return "dismissed";
  const yes = action === "accept" && own(own(answer, "content"), "approve") === true;
  // Somebody else may have decided meanwhile, or another must still; what the queue says then counts.
  await approvals.decide(approval.id, yes ? "approve" : "deny", clientPerson(options.client), "asked through the calling client").catch((error: unknown) => {
    if (!(error instanceof KitError)) throw error;
  });
  return "answered";
}

function question(approvals: Approvals, approval: Approval): JsonObject {
  const line = (text: string): string => truncate(escapeInvisible(text), 500);
  const lines = [
    "Approve this call? It runs once, with exactly these arguments.",
    `Tool: ${line(approval.full)}`,
    `App: ${line(approval.app)}`,
    `Risk: ${approval.risk}`,
    `Because: ${line(approval.reason)}`,
    "Arguments:",
    ...approvals.describe(approval).map((text) => `  ${text}`),
  ];
  return {
    message: lines.join("\n"),
    requestedSchema: {
      type: "object",
      properties: { approve: { type: "boolean", title: "Approve", description: "Yes runs this one call; no refuses it.", default: false } },
      required: ["approve"],
    },
    _meta: { "aurora/approval_id": approval.id },
  };
}
