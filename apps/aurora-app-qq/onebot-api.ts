import { BusinessError } from "../common/business-error.ts";
import { askJson } from "../common/http-json.ts";
import { isJsonObject, type JsonObject } from "../common/json.ts";

/** Calls OneBot actions. */
export interface OneBotApi {
  /** The `data` of an action's answer (null where it has none). Throws BusinessError ONEBOT_…; never tries twice. */
  call(action: string, params: JsonObject, signal?: AbortSignal): Promise<JsonObject | null>;
}

/** Where OneBot's HTTP API is; `timeout` in milliseconds. */
export interface OneBotApiOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly timeout: number;
}

const MAX_ANSWER = 1_000_000;
/** Answer code of an action that was taken on and runs later. */
const ASYNC = 1;

/** OneBot v11 over HTTP: `POST /<action>` with the token as a bearer. */
export function createOneBotApi(options: OneBotApiOptions): OneBotApi {
  const base = options.url.endsWith("/") ? options.url : `${options.url}/`;
  const headers: Record<string, string> = options.token ? { authorization: `Bearer ${options.token}` } : {};
  return {
    call: async (action, params, signal) => {
      const answer = await askJson({
        url: new URL(action, base),
        method: "POST",
        headers,
        body: params,
        timeout: options.timeout,
        maxLength: MAX_ANSWER,
        ...(signal ? { signal } : {}),
      });
      // A call that may have arrived is not retryable: sending a message twice is worse than saying that its fate is unknown.
      if (answer.kind === "timeout")
        throw new BusinessError("ONEBOT_TIMEOUT", `OneBot did not answer ${action} in ${options.timeout} ms; whether it took effect is unknown.`, {
          retryable: false,
        });
      if (answer.kind === "failed") {
        if (!answer.sent)
          throw new BusinessError("ONEBOT_NOT_CONNECTED", `OneBot is not connected: its HTTP API cannot be reached (${answer.reason}).`, { retryable: true });
        throw new BusinessError("ONEBOT_CONNECTION_LOST", `The connection to OneBot broke during ${action}; whether it took effect is unknown.`, {
          retryable: false,
        });
      }
      return dataOf(action, answer.status, answer.body);
    },
  };
}

function dataOf(action: string, status: number, body: JsonObject | undefined): JsonObject | null {
  if (status === 401 || status === 403)
    throw new BusinessError("ONEBOT_UNAUTHORIZED", "OneBot refused the access token; check ONEBOT_TOKEN.", { retryable: false });
  if (status === 404) throw new BusinessError("ONEBOT_UNSUPPORTED", `This OneBot has no action ${action}.`, { retryable: false });
  if (status !== 200) throw new BusinessError("ONEBOT_FAILED", `OneBot answered ${action} with status ${status}.`, { retryable: false });
  const retcode = body?.["retcode"];
  if (!body || typeof retcode !== "number")
    throw new BusinessError("ONEBOT_INVALID", `What answered ${action} does not speak OneBot v11.`, { retryable: false });
  if (retcode !== 0 && retcode !== ASYNC) {
    const reason = [body["wording"], body["message"], body["msg"]].find((text) => typeof text === "string" && text !== "");
    throw new BusinessError(
      "ONEBOT_REJECTED",
      `OneBot refused ${action} with code ${retcode}${typeof reason === "string" ? `: ${reason.slice(0, 200)}` : "."}`,
      { retryable: false },
    );
  }
  return isJsonObject(body["data"]) ? body["data"] : null;
}
