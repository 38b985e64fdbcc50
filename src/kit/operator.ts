import type { Masker } from "../base/masking.ts";
import { KitError } from "../base/errors.ts";
import { isClientPerson } from "../calls/approval.ts";
import { approvalRow } from "../calls/approval-view.ts";
import type { Kit } from "../kit-api.ts";
import { withModelChange } from "./model-diff.ts";
import type { Parts } from "./parts.ts";

/** What a person decides at a kit: approvals, marks of conversations, accepted definitions. Every decision is in the audit log. */
export type Operator = Pick<Kit, "listApprovals" | "decideApproval" | "listSessions" | "clearSession" | "lockDiff" | "lockAccept">;

/** Makes the operator's side of a kit. */
export function createOperator({ stores, pins, runtime }: Parts, masker: Masker): Operator {
  const { approvals, audit, sessions } = stores;
  return {
    listApprovals: (options = {}) => approvals.list(options.all).map((approval) => approvalRow(approval, masker)),
    async decideApproval(id, decision, by, reason, answer) {
      if (isClientPerson(by)) throw new KitError("INVALID_ARGUMENTS", `"${by}" is the name of a calling client's own person; decide under another name`);
      return approvalRow(await approvals.decide(id, decision, by, reason, answer), masker);
    },
    listSessions: () =>
      sessions.list().map(({ client, session, source, since, expires_at }) => ({
        client,
        session,
        source,
        since: new Date(since).toISOString(),
        expires_at: new Date(expires_at).toISOString(),
      })),
    async clearSession(client, session) {
      const cleared = await sessions.clear(client, session);
      if (cleared) await audit.append({ event: "session.cleared", client, session });
      return cleared;
    },
    lockDiff: () =>
      pins.diff().map((entry) => {
        const accepted = entry.accepted ?? pins.verdict(entry.app, entry.kind, entry.name)?.acceptedPin ?? null;
        return withModelChange(entry, accepted, runtime.snapshot, stores.pins.definition);
      }),
    async lockAccept(selection) {
      const accepted = await pins.accept(selection);
      runtime.refresh();
      for (const { app, kind, name, pin, accepted: before } of accepted) await audit.append({ event: "pin.accepted", app, kind, name, pin, before });
      return accepted;
    },
  };
}
