import type { CancelSignal } from "../base/cancel-signal.ts";
import type { Clock } from "../base/clock.ts";
import { KitError } from "../base/errors.ts";
import { parseExact, stringifyExact } from "../base/exact-json.ts";
import { deepFreeze, type Json, type JsonObject } from "../base/json.ts";
import type { Journal } from "../runtime/ports.ts";
import { argumentLines } from "./approval-view.ts";
import {
  asked,
  bindingOf,
  checkDecision,
  checkUse,
  decided,
  replayed,
  type Approval,
  type ApprovalBinding,
  type ApprovalRecord,
  type ApprovalRequest,
  type Verdict,
} from "./approval.ts";
import { checkAnswer } from "./question.ts";

/** The queue of calls that wait for a person (contracts 5). */
export interface Approvals {
  /** Asks for an approval; resolves when it is on the disk. The same wish, still pending, gives the same approval. Throws RATE_LIMITED when too many wait. */
  request(wish: ApprovalRequest): Promise<Approval>;
  /** Resolves once it is no longer pending, or after `ms`, or when the signal fires; gives the approval as it stands then. */
  waitFor(id: string, ms: number, signal?: CancelSignal): Promise<Approval>;
  /** A person's decision; for the operator role only. With four eyes two names must approve that are different in more than case, spaces and Unicode form, none of them the caller's. `answer` is what was filled in, where a form is asked. Throws when the id is unknown or no longer open. */
  decide(id: string, decision: Verdict, by: string, note?: string, answer?: JsonObject): Promise<Approval>;
  /** Uses an approval up, once, for exactly the call it was given for; the stored `args` are what must run. Throws APPROVAL_REQUIRED, _DENIED or _EXPIRED. */
  consume(id: string, call: ApprovalBinding): Promise<Approval>;
  /** Ends one that is pending or not used yet, because what waited for it has ended. */
  withdraw(id: string): Promise<void>;
  get(id: string): Approval | undefined;
  /** The arguments as a person may see them: secrets masked, one a line, hidden characters escaped, bounded. */
  describe(approval: Approval): readonly string[];
  /** Pending ones, oldest first; with `all` the closed ones too, as far as they are still kept. */
  list(all?: boolean): Approval[];
  /** Ends what is past its time and tells `onChange`; call it now and then. */
  sweep(): void;
}

/** What the queue needs from outside. `onChange` hears of every new state, after it is on the disk. */
export interface ApprovalsOptions {
  readonly journal: Journal<ApprovalRecord>;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Takes secrets out of what people are shown. */
  readonly mask: (value: unknown) => unknown;
  /** Puts a decision on record before it takes effect; when this rejects, nothing was decided. */
  readonly onDecision?: (approval: Approval, decision: Extract<ApprovalRecord, { readonly kind: "decided" }>) => Promise<void>;
  readonly onChange?: (approval: Approval) => void;
}

const MAX_PENDING = 1000;
/** Closed approvals are kept this long for `approvals list --all`. */
const KEEP_CLOSED_MS = 86_400_000;
const MAX_KEPT = 5000;
/** Arguments that are shown in a question. */
const MAX_SHOWN = 40;

/** Opens the queue with what its journal holds; approvals survive a restart, used ones stay used. */
export async function openApprovals(options: ApprovalsOptions): Promise<Approvals> {
  const { journal, clock, newId } = options;
  const approvals = new Map<string, Approval>();
  /** Binding to id of the approvals that are pending. */
  const pending = new Map<string, string>();
  const waiters = new Map<string, Set<() => void>>();

  const set = (next: Approval): Approval => {
    approvals.set(next.id, deepFreeze(next));
    if (next.state === "pending") pending.set(next.binding, next.id);
    else if (pending.get(next.binding) === next.id) pending.delete(next.binding);
    return next;
  };
  const announce = (next: Approval): Approval => {
    set(next);
    if (next.state !== "pending") for (const wake of waiters.get(next.id) ?? []) wake();
    options.onChange?.(next);
    return next;
  };
  const current = (id: string): Approval | undefined => {
    const found = approvals.get(id);
    if (!found || !isOpen(found) || clock.now() < found.expiresAt) return found;
    return announce({ ...found, state: "expired" });
  };
  const mustHave = (id: string): Approval => {
    const found = current(id);
    if (!found) throw new KitError("APPROVAL_EXPIRED", `there is no approval ${id}: it never was, or it is long over; call again without it`);
    return found;
  };
  const prune = (): void => {
    const closed = [...approvals.values()].filter((a) => !isOpen(a));
    const tooMany = approvals.size - MAX_KEPT;
    for (const [i, a] of closed.entries()) if (i < tooMany || clock.now() - a.expiresAt > KEEP_CLOSED_MS) approvals.delete(a.id);
  };

  for (const record of await journal.read()) {
    const next = replayed(approvals.get(record.kind === "asked" ? record.approval.id : record.id), record);
    if (next !== null) set(next);
  }
  // What waited for them ended with the host that asked.
  for (const a of approvals.values()) if (a.live === true && isOpen(a)) set({ ...a, state: "withdrawn" });
  prune();
  await journal.rewrite(snapshot(approvals));
  let written = approvals.size;

  /** Every change runs in turn: checked, written, then in force. So an approval is used once, whoever asks at the same moment. */
  let chain: Promise<unknown> = Promise.resolve();
  const inTurn = <R>(step: () => Promise<R>): Promise<R> => {
    const result = chain.then(step);
    chain = result.catch(() => {});
    return result;
  };
  const commit = async (record: ApprovalRecord, next: Approval): Promise<Approval> => {
    await journal.append(record, true);
    const result = announce(next);
    written += 1;
    if (written > 2 * MAX_KEPT) {
      prune();
      await journal.rewrite(snapshot(approvals)).catch(() => {});
      written = approvals.size;
    }
    return result;
  };

  const queue: Approvals = {
    request: (wish) =>
      inTurn(async () => {
        const { expiresMs, ...rest } = wish;
        const binding = bindingOf(wish);
        const same = current(pending.get(binding) ?? "");
        if (same?.state === "pending") return same;
        if (pending.size >= MAX_PENDING) queue.sweep();
        if (pending.size >= MAX_PENDING) throw new KitError("RATE_LIMITED", `${MAX_PENDING} calls already wait for approval`);
        const now = clock.now();
        // A copy, so that nothing the caller does to its object later changes what runs.
        const args = parseExact(stringifyExact(rest.args)) as JsonObject;
        const approval: Approval = {
          ...rest,
          args,
          id: newId(),
          binding,
          createdAt: now,
          expiresAt: now + expiresMs,
          state: "pending",
          approvedBy: [],
          deniedBy: null,
          note: null,
        };
        return commit(asked(approval), approval);
      }),

    waitFor: (id, ms, signal) =>
      new Promise((resolve, reject) => {
        try {
          const found = mustHave(id);
          const left = Math.min(ms, found.expiresAt - clock.now());
          if (found.state !== "pending" || left <= 0 || signal?.aborted === true) return resolve(found);
          const wake = (): void => {
            clearTimeout(timer);
            signal?.removeEventListener("abort", wake);
            waiters.get(id)?.delete(wake);
            if (waiters.get(id)?.size === 0) waiters.delete(id);
            resolve(current(id) ?? found);
          };
          const timer = setTimeout(wake, left);
          signal?.addEventListener("abort", wake, { once: true });
          const others = waiters.get(id);
          if (others) others.add(wake);
          else waiters.set(id, new Set([wake]));
        } catch (error) {
          reject(error as Error);
        }
      }),

    decide: (id, decision, by, note, answer) =>
      inTurn(async () => {
        const found = mustHave(id);
        checkDecision(found, decision, by);
        const checked = decision === "approve" ? checkAnswer(found.question, { answer, note, earlier: found.answer ?? null }) : null;
        const kept = checked === null ? {} : { answer: stringifyExact(checked) };
        const record = { kind: "decided" as const, id, decision, by, note: note ?? null, ...kept, at: clock.now() };
        await options.onDecision?.(found, record);
        return commit(record, decided(found, record));
      }),

    consume: (id, call) =>
      inTurn(async () => {
        const found = mustHave(id);
        checkUse(found, call);
        return commit({ kind: "used", id, at: clock.now() }, { ...found, state: "used" });
      }),

    withdraw: (id) =>
      inTurn(async () => {
        const found = current(id);
        if (found !== undefined && isOpen(found)) await commit({ kind: "withdrawn", id, at: clock.now() }, { ...found, state: "withdrawn" });
      }),

    get: current,
    describe({ args }) {
      const lines = argumentLines(options.mask(args) as Json);
      return lines.length <= MAX_SHOWN ? lines : [...lines.slice(0, MAX_SHOWN), `… and ${lines.length - MAX_SHOWN} more arguments`];
    },
    list(all = false) {
      queue.sweep();
      return [...approvals.values()].filter((a) => all || a.state === "pending").sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },
    sweep() {
      for (const id of approvals.keys()) current(id);
    },
  };
  return queue;
}

function snapshot(approvals: ReadonlyMap<string, Approval>): ApprovalRecord[] {
  return [...approvals.values()].map(asked);
}

function isOpen({ state }: Approval): boolean {
  return state === "pending" || state === "approved";
}
