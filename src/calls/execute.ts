import type { Clock } from "../base/clock.ts";
import type { CancelSignal } from "../base/cancel-signal.ts";
import { KitError, messageOf, type ErrorBody } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Mutable } from "../base/mutable.ts";
import type { Masker } from "../base/masking.ts";
import { resultTokens } from "../llm/cost.ts";
import { isOverMessageSize } from "../llm/messages.ts";
import { isSource, sourceName, type FlowRules, type FlowSource } from "../policy/flow.ts";
import type { Decision, LimitRef } from "../policy/types.ts";
import type { LeaseRequest } from "../runtime/lease.ts";
import type { Lease } from "../runtime/generation.ts";
import { LinkError, type Progress, type ServerRequest } from "../runtime/ports.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import { addressNeeded, opensAddresses } from "./address-needed.ts";
import { judge, refuseDenied, type Caller } from "./admit.ts";
import { askPerson } from "./ask-person.ts";
import { metaFor, startCallSpan } from "./call-span.ts";
import type { Approvals } from "./approvals.ts";
import type { CallJournal } from "./call-journal.ts";
import type { Limits } from "./limits.ts";
import type { Sessions } from "./sessions.ts";
import type { Target } from "./targets.ts";
import { withoutKitMeta } from "./kit-meta.ts";
import { toKitError } from "./tool-result.ts";
import type { Answer, Granted, OperationOptions, Performed, SendOptions, Wanted } from "./operation.ts";
import { joinSignals, signalWithin, type JoinedSignal } from "./join-signals.ts";
import type { Turns } from "./turns.ts";

/** A request of a server as far as it is judged. */
type Asked = Pick<ServerRequest, "method" | "params">;

/** What the one way of a call works with. */
export interface CallDeps {
  readonly snapshot: () => Snapshot;
  /** Throws nothing: a lease that cannot be had is a rejection. */
  readonly lease: (app: string, request: LeaseRequest) => Lease | Promise<Lease>;
  readonly approvals: Approvals;
  readonly sessions: Sessions;
  readonly limits: Limits;
  readonly journal: CallJournal;
  readonly turns: Turns;
  /** Keeps the whole of a large result and gives its reference; null when it cannot be kept. */
  readonly keepResult: (callId: string, result: JsonObject) => Promise<string | null>;
  readonly mask: Pick<Masker, "known" | "value">;
  /** Looks at a server's request before it goes to the calling client, and gives what the client is asked; throws to refuse. */
  readonly vetRequest: <R extends Asked>(target: Target, request: R) => R;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** What has been learned so far, for the report of a call that fails half-way. */
interface Learned {
  target: Target | null;
  method: string | null;
  args: JsonObject | null;
  decision: Decision | null;
  approvalId: string | null;
  answer: Answer | null;
  resultRef: string | null;
  sent: boolean;
}

/**
 * The one way a call runs, whatever the door (contracts 6): find → pin → arguments → policy → data flow → limits → approval → the
 * same again → mark → lease → audit → send → size → mark → audit → receipt. Never throws: every fault is part of the report.
 */
export async function perform(deps: CallDeps, wanted: Wanted, options: OperationOptions): Promise<Performed> {
  const callId = deps.newId();
  const started = deps.clock.monotonic();
  const span = startCallSpan(options);
  const learned: Learned = { target: null, method: null, args: null, decision: null, approvalId: null, answer: null, resultRef: null, sent: false };
  let fault: KitError | null = null;
  try {
    learned.answer = masked(await run(deps, wanted, span.options, callId, learned), deps.mask);
    if (options.messageBytes !== undefined && isOverMessageSize({ result: learned.answer.result }, options.messageBytes))
      learned.resultRef = await deps.keepResult(callId, learned.answer.result);
  } catch (error) {
    fault = toKitError(error, learned.target ?? { full: "the call", app: "the app" }, null);
  }
  const error = fault ? maskedFault(fault, deps.mask) : (learned.answer?.error ?? null);
  const performed: Performed = {
    callId,
    outcome: fault?.outcome ?? (error === null ? "succeeded" : "failed"),
    answer: learned.answer,
    error,
    durationMs: deps.clock.monotonic() - started,
    resultTokens: learned.answer && resultTokens(learned.answer.result),
    wanted: { kind: wanted.kind, name: wanted.name },
    target: learned.target,
    sent: learned.sent,
    method: learned.method,
    args: learned.args,
    decision: learned.decision,
    approvalId: learned.approvalId,
    resultRef: learned.resultRef,
  };
  deps.journal.ended(performed, options);
  span.end(performed, deps.snapshot());
  return performed;
}

async function run(deps: CallDeps, wanted: Wanted, options: OperationOptions, callId: string, learned: Learned): Promise<Answer> {
  const admit = (ownMark: string | null = null): Granted => {
    const snapshot = deps.snapshot();
    const operation = wanted.find(snapshot);
    const { target } = operation;
    learned.target = target;
    learned.method = operation.method;
    const marks = deps.sessions.marks(options.client, options.session).filter((mark) => mark.source !== ownMark);
    const decide = (args: JsonObject | null): Decision => {
      learned.decision = judge(snapshot, target, args, options, marks);
      refuseDenied(learned.decision, target, marks);
      return learned.decision;
    };
    let args: JsonObject;
    try {
      args = operation.arguments();
    } catch (error) {
      // What no arguments could make callable is denied, and nothing of its schema told.
      decide(null);
      throw error;
    }
    learned.args = args;
    return { snapshot, operation, decision: decide(args), args };
  };
  const turn = deps.turns.signal(options.client, options.session, options.turn);
  const joined = joinSignals([options.signal, turn]);
  let release: (() => void) | undefined;
  try {
    if (joined.signal.aborted)
      throw new KitError("CANCELLED", turn?.aborted ? "the turn has ended" : "the call was cancelled before it began", { outcome: "failed" });
    let granted = admit();
    release = acquire(deps.limits, granted.decision, options.approvalId);
    // Calls that a model made together are all judged before the first is sent: it had heard none of them when it wanted the others.
    await Promise.resolve();
    if (granted.decision.action === "ask") {
      granted = await askPerson(deps.approvals, granted, admit, options, joined.signal);
      learned.approvalId = granted.approvalId ?? null;
    }
    return await send(deps, { granted, admit, options, callId, learned, signal: joined.signal });
  } finally {
    release?.();
    joined.release();
  }
}

/** Counts the call. One that comes back with an approval was counted when it asked; only its share of running calls counts again. */
function acquire(limits: Limits, decision: Decision, approvalId: string | undefined): () => void {
  const counted = approvalId !== undefined && decision.action === "ask";
  const wanted: LimitRef[] = counted ? decision.limits.map((l) => ({ ...l, rate: null })) : [...decision.limits];
  const result = limits.acquire(wanted);
  if (result.ok) return () => result.release();
  throw new KitError("RATE_LIMITED", result.reason, {
    details: { rule: result.limit.rule, ...(result.retryAfterMs === null ? {} : { retry_after_ms: result.retryAfterMs }) },
  });
}

/** A call on its way out. */
interface Sending {
  readonly granted: Granted;
  /** Judges anew on what holds now, but for a mark that this call itself has just made. */
  readonly admit: (ownMark?: string | null) => Granted;
  readonly options: OperationOptions;
  readonly callId: string;
  readonly learned: Learned;
  readonly signal: CancelSignal;
}

async function send(deps: CallDeps, { granted, admit, options, callId, learned, signal }: Sending): Promise<Answer> {
  const { target } = granted.operation;
  const { plan } = target;
  const source: FlowSource = { app: target.app, name: target.name, trust: plan.trust };
  const { flow } = granted.snapshot.plan.policy;
  // What answers words that mark a session: resolves when the mark is on the disk. Null where nothing marks.
  const marked = isSource(flow, source) ? (): Promise<void> => hear(deps.sessions, flow, source, options) : null;
  const isNew = marked !== null && !deps.sessions.marks(options.client, options.session).some((mark) => mark.source === sourceName(source));
  // Marked before the call is sent, so before a byte can come back: progress, log lines and questions of the server are earlier than its result.
  if (marked) await marked();
  const timeoutMs = granted.decision.timeoutMs ?? plan.callTimeoutMs;
  // And again before each word of it is passed on, for an operator may clear the mark meanwhile.
  const leased = leaseWithin(deps, target, options, askedMarked(options, marked), timeoutMs, signal);
  const lease = leased instanceof Promise ? await leased : leased;
  const joined = joinSignals([signal, lease.signal]);
  const { task } = options;
  const progress = options.onProgress && progressMarked(options.onProgress, marked);
  try {
    const sure = stillGranted(granted, () => admit(isNew ? sourceName(source) : null), deps.snapshot());
    await deps.journal.sending(callId, sure, options);
    // Making the record durable takes its time.
    if (lease.signal.aborted) throw new KitError("APP_UNAVAILABLE", `${target.full} was not sent: its app was just being replaced; call it again`);
    learned.sent = true;
    options.onSent?.({ app: target.app, tool: target.name, trust: plan.trust });
    const how: Mutable<SendOptions> = { timeoutMs, maxTotalMs: granted.decision.timeoutMs ?? plan.maxTotalTimeoutMs, signal: joined.signal };
    if (progress) how.onProgress = (said) => progress.tell(deps.mask.known(said));
    if (task !== undefined) how.task = { ttlMs: task.ttlMs, onNews: (news) => task.onNews(deps.mask.known(news)) };
    if (options.meta !== undefined) how.meta = metaFor(plan.trust, options.meta);
    return sure.operation.read(await sure.operation.send(lease.connection, sure.args, how));
  } catch (error) {
    if (error instanceof LinkError && error.kind === "timeout") lease.timedOut();
    const vet = (params: JsonObject): JsonObject => deps.vetRequest(target, { method: "elicitation/create", params }).params;
    throw (
      (opensAddresses(options.clientCapabilities) ? addressNeeded(error, target, vet) : null) ??
      toKitError(error, target, lease.signal.aborted ? lease.signal.reason : null)
    );
  } finally {
    joined.release();
    lease.release();
    if (progress) await progress.told();
    // Once more, for a long call may outlast its mark, or an operator clear it meanwhile.
    if (marked)
      await marked().catch((error: unknown) => {
        throw new KitError("INTERNAL", `the answer of ${target.full} was held back: ${messageOf(error)}`, { cause: error, outcome: "unknown" });
      });
  }
}

/**
 * The call as it may be sent now. It may have waited for its app: policy, pins or marks that changed meanwhile count, and an app that came
 * back with another tool is not the one that was judged.
 */
function stillGranted(granted: Granted, admit: () => Granted, now: Snapshot): Granted {
  if (now.plan === granted.snapshot.plan && now.catalog === granted.snapshot.catalog) return granted;
  const again = admit();
  if (again.decision.action !== "ask") return again;
  const { target } = again.operation;
  if (granted.approvalId === undefined || target.pin !== granted.operation.target.pin)
    throw new KitError(
      "APPROVAL_REQUIRED",
      `${target.full} changed its definition or its policy while the call waited for the app; call it again to have it approved`,
    );
  return { ...again, args: granted.args, approvalId: granted.approvalId };
}

/** Marks the session when what it is about to hear, or has heard, is a data-flow source. Resolves when the mark is on the disk. */
export async function hear(sessions: Sessions, flow: FlowRules, source: FlowSource, { client, session }: Caller): Promise<void> {
  if (isSource(flow, source)) await sessions.mark(client, session, sourceName(source), flow.expiresMs);
}

/** The caller's answerer of the server's requests, who is asked only once `marked` has resolved; null for what needs no mark. */
function askedMarked({ onServerRequest }: OperationOptions, marked: (() => Promise<void>) | null): OperationOptions["onServerRequest"] {
  return onServerRequest && marked ? (request) => marked().then(() => onServerRequest(request)) : onServerRequest;
}

/** Passes progress on in its order, each once `marked` has resolved. What cannot be marked is not said. */
function progressMarked(onProgress: (said: Progress) => void, marked: (() => Promise<void>) | null) {
  let telling = Promise.resolve();
  return {
    tell(said: Progress): void {
      if (marked)
        telling = telling
          .then(marked)
          .then(() => onProgress(said))
          .catch(() => undefined);
      else onProgress(said);
    },
    told: (): Promise<void> => telling,
  };
}

/** An answer without secrets, in data the host's own, in an error whatever looks like one; and without `_meta` that only the kit may give. */
function masked(answer: Answer, mask: CallDeps["mask"]): Answer {
  const result = answer.error === null ? mask.known(answer.result) : (mask.value(answer.result) as JsonObject);
  return { result: withoutKitMeta(result), error: mask.value(answer.error) as ErrorBody | null, notes: answer.notes };
}

/** A fault without anything that looks like a secret. Addresses that a person has to open stay whole, as they were let pass: half of one opens nothing. */
function maskedFault(fault: KitError, mask: CallDeps["mask"]): ErrorBody {
  const body = mask.value(fault.toBody()) as ErrorBody;
  return fault.code === "ELICITATION_REQUIRED" && fault.details !== undefined ? { ...body, details: fault.details } : body;
}

/** Waits for the app no longer than the call itself may take. */
function leaseWithin(
  deps: CallDeps,
  target: Target,
  options: OperationOptions,
  onServerRequest: OperationOptions["onServerRequest"],
  timeoutMs: number,
  signal: CancelSignal,
): Lease | Promise<Lease> {
  let joined: JoinedSignal<AbortSignal> | undefined;
  const scope = target.plan.isolation === "session" ? JSON.stringify([options.client, options.session]) : "shared";
  const { onNotification } = options;
  const forward = onServerRequest && ((request: ServerRequest) => onServerRequest(deps.vetRequest(target, request)));
  const leased = deps.lease(target.app, {
    scope,
    hooks: { onServerRequest: forward, onNotification },
    capabilities: options.clientCapabilities,
    signal: () => (joined ??= signalWithin(signal, timeoutMs)).signal,
  });
  if (!(leased instanceof Promise)) return leased;
  return leased.catch((error: unknown) => Promise.reject(notLeased(error, target, signal))).finally(() => joined?.release());
}

function notLeased(error: unknown, target: Target, signal: CancelSignal): KitError {
  if (signal.aborted) return new KitError("CANCELLED", `${target.full} was cancelled before it was sent`, { outcome: "failed", cause: error });
  const fault = toKitError(error, target, null);
  const retryAfterMs = error instanceof LinkError ? error.retryAfterMs : undefined;
  return new KitError("APP_UNAVAILABLE", fault.message, {
    cause: error,
    outcome: "failed",
    ...(retryAfterMs === undefined ? {} : { details: { retry_after_ms: retryAfterMs } }),
  });
}
