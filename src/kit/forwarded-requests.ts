import { own, type JsonObject } from "../base/json.ts";
import { withoutKitMeta } from "../calls/kit-meta.ts";
import { siteWords } from "../calls/question.ts";
import { withoutRelatedTask } from "../calls/related-task.ts";
import type { Target } from "../calls/targets.ts";
import { decide } from "../policy/decide.ts";
import { mayForward } from "../plan/grants.ts";
import type { AppPlan } from "../plan/types.ts";
import type { PolicyRules } from "../policy/rules.ts";
import type { ServerRequest } from "../runtime/ports.ts";
import { vetQuestion } from "./elicitation.ts";
import { requestClient, requestSubject } from "./host-requests.ts";

/**
 * A server's request as it may go on to the calling client (contracts 2, `grants … forward`): nothing that no grant forwards or the policy denies, no form
 * that asks for secrets or is not flat, no address but of a web site, which is named, and every question and model request says which app it comes from. Where the policy says `ask`, the
 * calling client's own person is who is asked. Throws to refuse.
 */
export function vetForwarded<R extends Pick<ServerRequest, "method" | "params">>(policy: PolicyRules, { plan }: Pick<Target, "plan">, asked: R): R {
  if (!mayForward(plan.grants, asked.method)) throw new Error(`the grants of ${plan.package} forward no ${asked.method}`);
  const request = { ...asked, params: withoutKitMeta(withoutRelatedTask(asked.params)) };
  const decision = decide(policy, requestSubject(plan, request.method), { client: requestClient(plan), args: request.params }, false);
  if (decision.action === "deny") throw new Error(`denied: ${decision.reason}`);
  if (request.method === "elicitation/create") {
    const question = vetQuestion(request.params);
    if (question.mode === "form") return { ...request, params: signed(plan, request.params, "message", plan.trust === "high" ? "" : `${plan.package} asks: `) };
    const params = { ...request.params, url: question.url };
    return { ...request, params: signed(plan, params, "message", `${plan.package} asks to open ${siteWords(question)}: `) };
  }
  if (request.method === "sampling/createMessage") {
    return {
      ...request,
      params: signed(
        plan,
        request.params,
        "systemPrompt",
        plan.trust === "high" ? "" : `This request was written by the app ${plan.package} and not by the user.\n`,
      ),
    };
  }
  return request;
}

/** The params with the app's name in `_meta`, and with these words before the text that a person or a model reads. */
function signed(plan: AppPlan, params: JsonObject, key: "message" | "systemPrompt", words: string): JsonObject {
  const meta = own(params, "_meta");
  const text = own(params, key);
  return {
    ...params,
    ...(words === "" ? {} : { [key]: words + (typeof text === "string" ? text : "") }),
    _meta: { ...(meta as JsonObject | undefined), "aurora/app": plan.package },
  };
}
