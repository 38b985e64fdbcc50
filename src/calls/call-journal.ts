import { toolReceipt } from "../amp/receipts.ts";
import type { SignalSource } from "../amp/signal.ts";
import type { Signal } from "../amp/types.ts";
import { KitError, messageOf } from "../base/errors.ts";
import { own } from "../base/json.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import type { Risk } from "../tools/types.ts";
import type { Action, Decision } from "../policy/types.ts";
import type { Caller } from "./admit.ts";
import type { Audit, AuditEvent } from "./audit.ts";
import type { AuditSubject } from "./audit-members.ts";
import type { Granted, OperationOptions, Performed } from "./operation.ts";
import type { Target } from "./targets.ts";
import type { UnfinishedCall } from "./unfinished-calls.ts";

/** Writes down what happens to calls: the audit log, the receipt in the inbox, and a record for metrics. */
export interface CallJournal {
  /**
   * Before the call is sent: when this resolves, the record is in the log. For high and critical risk it is on the disk then, and
   * INTERNAL is thrown when it cannot be written: the call must not be sent.
   */
  sending(callId: string, granted: Granted, options: OperationOptions): Promise<void>;
  /** After the call ended, however it did. */
  ended(performed: Performed, options: OperationOptions): void;
  /** Writes down that nobody knows how a call ended that an earlier host had sent when it died. */
  lost(call: UnfinishedCall): void;
  /** Tells what is still to be told of calls that ended. */
  flush(): void;
}

/** What a call journal writes to. */
export interface CallJournalDeps {
  readonly audit: Audit;
  /** Whether anybody wants receipts of calls. */
  readonly takesReceipts: () => boolean;
  readonly emit: (signal: Signal) => Promise<void>;
  /** Stands in receipts of calls that no app is known for. */
  readonly host: () => SignalSource;
  /** The source of what is told of an app, by its package; the host's own where it is configured no more. */
  readonly sourceOf: (app: string) => SignalSource;
  readonly now: () => number;
  readonly onEnd: (performed: Performed, options: OperationOptions) => void;
  /** Told what threw while an ended call was written down; nothing else is kept from being told. */
  readonly onFault: (error: unknown) => void;
}

/** How long an ended call may wait to be written down with others, and how many may. */
const WRITE_DOWN_MS = 5;
const WRITE_DOWN_CALLS = 32;

/** Makes a call journal. */
export function createCallJournal(deps: CallJournalDeps): CallJournal {
  // The caller has its answer, and may already want the next: the rest is written down for some calls together, which is far cheaper.
  let later: { readonly performed: Performed; readonly options: OperationOptions }[] = [];
  let due: NodeJS.Timeout | undefined;
  const subjectOf = callSubjects();
  const leaveOf = leaveSubjects();
  const recordEnd = (performed: Performed, options: OperationOptions): void => {
    const { wanted, target, decision, error } = performed;
    const event: AuditEvent = {
      event: performed.sent ? "call.done" : "call.refused",
      call_id: performed.callId,
      outcome: performed.outcome,
      error_code: error?.error_code,
      message: error?.source === "kit" ? error.message : undefined,
      duration_ms: Math.round(performed.durationMs),
      tokens: performed.resultTokens ?? undefined,
      approval_id: performed.approvalId ?? undefined,
    };
    void deps.audit.note(event, subjectOf(wanted, target, decision, options));
  };
  const emitReceipt = (performed: Performed, options: OperationOptions): void => {
    const { wanted, target, decision, error } = performed;
    if (wanted.kind !== "tool" || !deps.takesReceipts()) return;
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
  const steps = [recordEnd, deps.onEnd, emitReceipt];
  const flush = (): void => {
    clearTimeout(due);
    due = undefined;
    const calls = later;
    later = [];
    for (const { performed, options } of calls)
      for (const step of steps)
        try {
          step(performed, options);
        } catch (error) {
          deps.onFault(error);
        }
  };
  return {
    flush,
    lost({ record, callId, at }) {
      const text = (key: string): string => String(own(record, key) ?? "");
      const optional = (key: string): string | undefined => (own(record, key) === undefined ? undefined : text(key));
      const error = new KitError("APP_UNAVAILABLE", "the host died while the call ran; whether it took effect is unknown", { outcome: "unknown" });
      const event: AuditEvent = { event: "call.done", call_id: callId, outcome: "unknown", error_code: error.code, message: error.message };
      const subject = Object.fromEntries(SUBJECT_KEYS.map((key) => [key, own(record, key)]));
      void deps.audit.note({ ...event, approval_id: own(record, "approval_id") }, subject);
      if (own(record, "kind") !== "tool" || !deps.takesReceipts()) return;
      void deps.emit(
        toolReceipt(deps.sourceOf(text("app")), {
          tool: text("name"),
          callId,
          client: text("client"),
          session: text("session"),
          turn: optional("turn"),
          outcome: "unknown",
          durationMs: Math.max(0, deps.now() - at),
          risk: (own(record, "risk") ?? null) as Risk | null,
          error: error.toBody(),
          approvalId: optional("approval_id"),
          auditId: callId,
        }),
      );
    },
    async sending(callId, { operation, decision, args, approvalId, snapshot }, options) {
      const { target } = operation;
      const event: AuditEvent = {
        event: "call.sent",
        call_id: callId,
        turn: options.turn,
        approval_id: approvalId,
        arguments: decision.audit === "full" ? args : undefined,
      };
      const subject = leaveOf(subjectOf(target, target, decision, options), target.pin, snapshot);
      if (!isGrave(decision.risk)) return deps.audit.note(event, subject);
      try {
        await deps.audit.append(event, subject);
      } catch (error) {
        throw new KitError("INTERNAL", `${target.full} was not sent: its audit record cannot be written (${messageOf(error)})`, {
          cause: error,
          retryable: true,
        });
      }
    },
    ended(performed, options) {
      due ??= setTimeout(flush, WRITE_DOWN_MS);
      if (later.push({ performed, options }) === WRITE_DOWN_CALLS) setImmediate(flush);
    },
  };
}

const SUBJECT_KEYS: readonly (keyof CallSubject & string)[] = ["kind", "app", "name", "client", "session", "risk", "decision", "rule"];

/** What the records of a call say of the call itself. */
interface CallSubject extends AuditSubject {
  readonly kind: Target["kind"];
  readonly app: string | undefined;
  readonly name: string;
  readonly client: string;
  readonly session: string;
  readonly risk: Risk | undefined;
  readonly decision: Action | undefined;
  readonly rule: string | undefined;
}

/** Makes subjects; like calls of one tool, one after the other, get the same object. */
function callSubjects(): (wanted: Pick<Target, "kind" | "name">, target: Target | null, decision: Decision | null, by: Caller) => CallSubject {
  const last = new WeakMap<object, CallSubject>();
  return ({ kind, name: wantedName }, target, decision, { client, session }) => {
    const name = target?.name ?? wantedName;
    const risk = decision?.risk;
    const action = decision?.action;
    const rule = decision?.rule?.id;
    const known = target?.tool ? last.get(target.tool) : undefined;
    if (known && known.client === client && known.session === session && known.risk === risk && known.decision === action && known.rule === rule) return known;
    const made: CallSubject = { kind, app: target?.app, name, client, session, risk, decision: action, rule };
    if (target?.tool) last.set(target.tool, made);
    return made;
  };
}

/** What the record of a call that leaves says beside its subject: under which pin, policy and revision it was let go. */
interface LeaveSubject extends CallSubject {
  readonly pin: string;
  readonly policy: string;
  readonly revision: number;
}

/** Makes them; a subject that comes again under the same policy and pin gets the same object. */
function leaveSubjects(): (subject: CallSubject, pin: string, snapshot: Snapshot) => LeaveSubject {
  const last = new WeakMap<CallSubject, LeaveSubject>();
  return (subject, pin, { plan, revision }) => {
    const { policy } = plan.digests;
    const known = last.get(subject);
    if (known && known.revision === revision && known.pin === pin && known.policy === policy) return known;
    const made: LeaveSubject = { ...subject, pin, policy, revision };
    last.set(subject, made);
    return made;
  };
}

function isGrave(risk: Risk): boolean {
  return risk === "high" || risk === "critical";
}
