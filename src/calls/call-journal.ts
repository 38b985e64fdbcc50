import { toolReceipt } from "../amp/receipts.ts";
import type { SignalSource } from "../amp/signal.ts";
import type { Signal } from "../amp/types.ts";
import { KitError, messageOf } from "../base/errors.ts";
import type { Logger } from "../runtime/ports.ts";
import type { Risk } from "../tools/types.ts";
import type { Audit, AuditEvent } from "./audit.ts";
import type { Granted, OperationOptions, Performed } from "./operation.ts";

/** Writes down what happens to calls: the audit log, the receipt in the inbox, and a record for metrics. */
export interface CallJournal {
  /**
   * Before the call is sent: when this resolves, the record is in the log. For high and critical risk it is on the disk then, and
   * INTERNAL is thrown when it cannot be written: the call must not be sent.
   */
  sending(callId: string, granted: Granted, options: OperationOptions): Promise<void>;
  /** After the call ended, however it did. */
  ended(performed: Performed, options: OperationOptions): void;
  /** Hands over what is still to be written down: how calls ended is recorded at the end of the event loop's turn. */
  flush(): void;
}

/** What a call journal writes to. */
export interface CallJournalDeps {
  readonly audit: Audit;
  readonly emit: (signal: Signal) => Promise<void>;
  /** Stands in receipts of calls that no app is known for. */
  readonly host: () => SignalSource;
  readonly onEnd: (performed: Performed, options: OperationOptions) => void;
  readonly log: Logger;
}

/** Makes a call journal. */
export function createCallJournal(deps: CallJournalDeps): CallJournal {
  // The caller has its answer already: writing down how a call ended takes no time of it.
  let later: (() => void)[] = [];
  const flush = (): void => {
    const due = later;
    later = [];
    for (const step of due) step();
  };
  const soon = (step: () => void): void => {
    if (later.length === 0) setImmediate(flush);
    later.push(step);
  };
  const note = (event: AuditEvent): void => {
    deps.audit.append(event, false).catch((error: unknown) => deps.log.error({ error: messageOf(error) }, "the audit log cannot be written"));
  };
  const writeEnd = (performed: Performed, options: OperationOptions): void => {
    const { target, decision, error, wanted } = performed;
    note({
      event: performed.sent ? "call.done" : "call.refused",
      call_id: performed.callId,
      kind: wanted.kind,
      app: target?.app,
      name: target?.name ?? wanted.name,
      client: options.client,
      session: options.session,
      risk: decision?.risk,
      decision: decision?.action,
      rule: decision?.rule?.id,
      outcome: performed.outcome,
      error_code: error?.error_code,
      message: error?.source === "kit" ? error.message : undefined,
      duration_ms: Math.round(performed.durationMs),
      approval_id: performed.approvalId ?? undefined,
    });
    if (wanted.kind !== "tool") return;
    void deps.emit(
      toolReceipt(target === null ? deps.host() : { app: target.app, instance: target.plan.instance }, {
        tool: target?.name ?? wanted.name,
        callId: performed.callId,
        client: options.client,
        session: options.session,
        turn: options.turn,
        outcome: performed.outcome,
        durationMs: performed.durationMs,
        risk: decision?.risk ?? null,
        error,
        approvalId: performed.approvalId ?? undefined,
        auditId: performed.callId,
        resultRef: performed.resultRef ?? undefined,
      }),
    );
  };
  return {
    flush,
    async sending(callId, { operation, decision, args, approvalId, snapshot }, options) {
      const { target } = operation;
      const event: AuditEvent = {
        event: "call.sent",
        call_id: callId,
        kind: target.kind,
        app: target.app,
        name: target.name,
        client: options.client,
        session: options.session,
        turn: options.turn,
        risk: decision.risk,
        decision: decision.action,
        rule: decision.rule?.id,
        approval_id: approvalId,
        pin: target.pin,
        policy: snapshot.plan.digests.policy,
        revision: snapshot.revision,
        arguments: decision.audit === "full" ? args : undefined,
      };
      if (!isGrave(decision.risk)) return note(event);
      try {
        await deps.audit.append(event, true);
      } catch (error) {
        throw new KitError("INTERNAL", `${target.full} was not sent: its audit record cannot be written (${messageOf(error)})`, {
          cause: error,
          retryable: true,
        });
      }
    },
    ended(performed, options) {
      deps.onEnd(performed, options);
      soon(() => writeEnd(performed, options));
    },
  };
}

function isGrave(risk: Risk): boolean {
  return risk === "high" || risk === "critical";
}
