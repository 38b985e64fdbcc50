import { randomBytes } from "node:crypto";
import path from "node:path";
import type { Approval, ApprovalRecord } from "../calls/approval.ts";
import { openApprovals, type Approvals } from "../calls/approvals.ts";
import { openAudit, type Audit } from "../calls/audit.ts";
import { openLimits, type CountedCall, type Limits } from "../calls/limits.ts";
import { openPinStore, type PinDocument, type PinStore } from "../calls/pin-store.ts";
import { openSessions, type Mark, type MarkRecord, type Sessions } from "../calls/sessions.ts";
import type { Clock } from "../base/clock.ts";
import type { Masker } from "../base/masking.ts";
import { uuidV7Source } from "../base/uuid.ts";
import { openAuditFile } from "../files/audit-file.ts";
import { openDocument } from "../files/document-store.ts";
import { openJournal } from "../files/journal.ts";
import type { Plan } from "../plan/types.ts";

/** Everything of a host that outlives it, under `data_dir`. */
export interface Stores {
  readonly approvals: Approvals;
  readonly sessions: Sessions;
  readonly limits: Limits;
  readonly audit: Audit;
  readonly pins: PinStore;
  readonly newId: () => string;
  close(): Promise<void>;
}

/** Who hears of what the stores remember. */
export interface StoreListeners {
  readonly onApproval: (approval: Approval) => void;
  readonly onMark: (mark: Mark) => void;
  /** An audit record that no call had to wait for could not be written, or the log is no longer there. */
  readonly onAuditFault: (error: unknown) => void;
}

/** Opens the stores of a plan. Rejects when one cannot be read: then the host must not run without it. */
export async function openStores(plan: Plan, clock: Clock, masker: Masker, hears: StoreListeners): Promise<Stores> {
  const state = (name: string): string => path.join(plan.dataDir, "state", name);
  const newId = uuidV7Source(() => clock.now(), randomBytes);
  const approvals = openJournal<ApprovalRecord>(state("approvals.jsonl"));
  const marks = openJournal<MarkRecord>(state("sessions.jsonl"));
  const counts = openJournal<CountedCall>(state("limits.jsonl"));
  const audit = await openAudit({
    file: openAuditFile(plan.audit.file, { maxBytes: plan.audit.maxBytes, onGone: hears.onAuditFault }),
    clock,
    masker,
    arguments: plan.audit.arguments,
    onFault: hears.onAuditFault,
  });
  return {
    approvals: await openApprovals({
      journal: approvals,
      clock,
      newId,
      mask: (value) => masker.value(value),
      onChange: hears.onApproval,
      // Every decision is on record, whoever made it.
      onDecision: ({ id, app, tool: name, client, session }, { decision, by, note }) =>
        audit.append({ event: "approval.decided", approval_id: id, decision, by, reason: note ?? undefined, app, name, client, session }),
    }),
    sessions: await openSessions(marks, clock, hears.onMark),
    limits: await openLimits(clock, counts),
    audit,
    pins: await openPinStore(openDocument<PinDocument>(state("pins.json"))),
    newId,
    async close() {
      await Promise.allSettled([approvals.close(), marks.close(), counts.close(), audit.close()]);
    },
  };
}
