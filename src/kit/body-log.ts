import { boundData } from "../amp/bounds.ts";
import { withoutChatText } from "../base/chat-text.ts";
import type { JsonObject } from "../base/json.ts";
import type { Caller } from "../calls/admit.ts";
import type { Performed } from "../calls/operation.ts";
import type { Plan } from "../plan/types.ts";
import type { Logger } from "../runtime/ports.ts";

const MAX_BYTES = 16 * 1024;

/** Logs what was asked and answered at debug, where `log.bodies` has it so; chat texts only with `log.chat_text` (guide 11.5). */
export function logBodies(log: Logger, settings: Plan["log"], performed: Performed, { client, session }: Caller): void {
  if (settings.bodies !== "debug") return;
  const { callId, target, wanted, outcome, args, answer, error } = performed;
  const bodies: JsonObject = { arguments: args, result: answer?.result ?? null };
  const shown = settings.chatText ? bodies : (withoutChatText(bodies) as JsonObject);
  log.debug(
    {
      call_id: callId,
      app: target?.app,
      name: target?.name ?? wanted.name,
      client,
      session,
      outcome,
      error_code: error?.error_code,
      ...boundData(shown, MAX_BYTES),
    },
    "call",
  );
}
