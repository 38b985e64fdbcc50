import { randomUUID } from "node:crypto";
import type { Approvals } from "../calls/approvals.ts";
import type { Question } from "../calls/question.ts";
import type { Limits } from "../calls/limits.ts";
import type { JsonObject } from "../base/json.ts";
import { parseRate } from "../base/durations.ts";
import { decide } from "../policy/decide.ts";
import type { Decision, Subject } from "../policy/types.ts";
import type { AppPlan } from "../plan/types.ts";
import type { ServerRequest } from "../runtime/ports.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import { pinOf } from "../tools/pins.ts";
import { answerOf, vetQuestion } from "./elicitation.ts";
import type { RootGrants } from "./root-grants.ts";
import { sampleFrom } from "./sampling-endpoint.ts";

/** What answering a server's requests works with. */
export interface HostRequestDeps {
  readonly snapshot: () => Snapshot;
  readonly approvals: Approvals;
  readonly limits: Limits;
  readonly roots: RootGrants;
}

/** Answers server-to-client requests that no running call answers. What may arrive at all stands in the app's grants. */
export type HostRequests = (app: AppPlan, request: ServerRequest) => Promise<JsonObject>;

/** Makes the answerer: roots as granted, model answers from a configured endpoint, questions through the approvals queue. Throws to refuse. */
export function createHostRequests(deps: HostRequestDeps): HostRequests {
  return async (app, request) => {
    const { grants } = app;
    if (request.method === "roots/list") return deps.roots.answer(app);
    if (request.method === "sampling/createMessage" && grants.sampling?.endpoint !== undefined) {
      const decision = await leaveFor(deps, app, request);
      const limit = deps.limits.acquire(decision.limits);
      if (!limit.ok) throw new Error(limit.reason);
      try {
        return await sampleFrom({ ...grants.sampling, endpoint: grants.sampling.endpoint }, request);
      } finally {
        limit.release();
      }
    }
    if (request.method === "elicitation/create" && grants.elicitation?.approvals === true) {
      const question = vetQuestion(request.params);
      return answerOf(await askQueue(deps, app, request, "the app asks a question", question));
    }
    throw new Error(
      `${request.method} needs the calling client to answer it, and no call of ${app.package} that could is running (isolation: session gives each client a connection of its own)`,
    );
  };
}

/** The policy's leave for a model answer, as for a tool call of the app itself; the grant's own rate counts among its limits, and one runs at a time. */
async function leaveFor(deps: HostRequestDeps, app: AppPlan, request: ServerRequest): Promise<Decision> {
  const { policy } = deps.snapshot().plan;
  const decision = decide(policy, requestSubject(app, request.method), { client: requestClient(app), args: request.params }, false);
  if (decision.action === "deny") throw new Error(`denied: ${decision.reason}`);
  if (decision.action === "ask") {
    const approval = await askQueue(deps, app, request, decision.reason);
    if (approval.state !== "approved") throw new Error(`a person must approve model answers for ${app.package}: approval ${approval.id} is ${approval.state}`);
  }
  return { ...decision, limits: [...decision.limits, { rule: `sampling of ${app.package}`, rate: rateOf(app), concurrent: 1 }] };
}

/** Questions of one app that may wait at the same time: no app fills the queue that all share. */
const MAX_QUESTIONS = 20;

async function askQueue(...asked: Parameters<typeof askPerson>): ReturnType<Approvals["waitFor"]> {
  const [{ limits }, app] = asked;
  const place = limits.acquire([{ rule: `questions of ${app.package}`, rate: null, concurrent: MAX_QUESTIONS }]);
  if (!place.ok) throw new Error(`${MAX_QUESTIONS} questions of ${app.package} already wait for a person`);
  try {
    return await askPerson(...asked);
  } finally {
    place.release();
  }
}

async function askPerson(deps: HostRequestDeps, app: AppPlan, request: ServerRequest, reason: string, question?: Question): ReturnType<Approvals["waitFor"]> {
  const { policy } = deps.snapshot().plan;
  const subject = requestSubject(app, request.method);
  const call = bindingOf(app, request);
  const approval = await deps.approvals.request({
    ...call,
    live: true,
    full: `${app.package}: ${request.method}`,
    risk: decide(policy, subject, { client: requestClient(app), args: request.params }, false).risk,
    reason,
    rule: null,
    expiresMs: policy.approvals.expiresMs,
    fourEyes: policy.approvals.fourEyes,
    ...(question === undefined ? {} : { question }),
  });
  request.onApproval?.(approval.id);
  const decided = await deps.approvals.waitFor(approval.id, policy.approvals.expiresMs, request.signal);
  // Whatever was decided at the last moment: what nobody waits for any more is not sent.
  if (request.signal.aborted || decided.state === "pending") await deps.approvals.withdraw(approval.id);
  if (request.signal.aborted) throw new Error(`the call ended before a person answered approval ${approval.id}`);
  if (decided.state === "approved") await deps.approvals.consume(approval.id, call);
  return decided;
}

function bindingOf(app: AppPlan, request: ServerRequest) {
  return {
    app: app.package,
    tool: request.method,
    pin: pinOf({ method: request.method }),
    args: request.params,
    client: requestClient(app),
    // A request of its own each time: nobody else's answer is good for it.
    session: `server-request ${randomUUID()}`,
  };
}

/** A server's request as policies see it: a tool of the app with the method's name. */
export function requestSubject(app: AppPlan, method: string): Subject {
  return { kind: "tool", app: app.package, name: method, trust: app.trust, manifestRisk: null, readOnlyHint: false, destructiveHint: false };
}

/** The name under which policies see an app that asks for something itself. */
export function requestClient(app: AppPlan): string {
  return `app:${app.package}`;
}

function rateOf(app: AppPlan) {
  return parseRate(app.grants.sampling?.rate) ?? { count: 10, perMs: 60_000 };
}
