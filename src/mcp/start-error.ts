import { messageOf } from "../base/errors.ts";
import type { AppPlan } from "../plan/types.ts";
import { LinkError, StartError } from "../runtime/ports.ts";
import { certificateFault } from "./certificate-faults.ts";
import type { OpenedWire } from "./wire.ts";
import { seconds } from "./plain-line.ts";
import { RefusedAddress } from "./refused-addresses.ts";

/** Where and when a start failed. */
export interface FailedStart {
  readonly plan: AppPlan;
  readonly opened: OpenedWire;
  readonly aborted: boolean;
  readonly elapsedMs: number;
}

/** Statuses of 4xx that may pass by themselves. */
const PASSING = new Set([408, 425, 429]);

/** Puts a failed start in words, and decides whether trying again can help. */
export function startErrorOf(error: unknown, at: FailedStart): StartError {
  const stderrTail = at.opened.stderrTail();
  const make = (message: string, retry: boolean): StartError => {
    const last = stderrTail.at(-1);
    const explained = [message, at.opened.explain(), ...(last === undefined ? [] : [`stderr ends with: ${last}`])].filter((part) => part !== "");
    return new StartError(explained.join("; "), { retry, stderrTail, cause: error });
  };
  if (at.aborted) return new StartError("the start was cancelled", { retry: true, stderrTail, cause: error });
  if (error instanceof StartError)
    return error.stderrTail.length > 0 || stderrTail.length === 0 ? error : new StartError(error.message, { retry: error.retry, stderrTail, cause: error });
  if (!(error instanceof LinkError)) return make(`initialize failed: ${messageOf(error)}`, true);
  switch (error.kind) {
    case "timeout":
      return make(
        `no answer to initialize within start_timeout (${seconds(at.plan.startTimeoutMs)}; ${seconds(at.elapsedMs)} passed)${strayPart(error.message)}`,
        true,
      );
    case "closed": {
      const framing = error.message.includes("Content-Length framing");
      return make(
        framing
          ? error.message.replace("the connection ended: ", "")
          : `${error.message.replace("the connection ended: ", "the server ").replace("the connection is closed: ", "the server ")} before it answered initialize`,
        !framing,
      );
    }
    case "unauthorized":
    case "forbidden":
      return make(error.message, false);
    case "http":
      return make(`initialize: ${error.message}`, error.code === undefined || error.code >= 500 || PASSING.has(error.code));
    case "network": {
      const certificate = certificateFault(error.cause);
      return make(
        certificate === undefined ? error.message : `${error.message}: ${certificate}`,
        certificate === undefined && !(error.cause instanceof RefusedAddress),
      );
    }
    case "rpc":
      return make(`the server refused initialize: ${error.message}${error.code === undefined ? "" : ` (code ${error.code})`}`, true);
    default:
      return make(`initialize: ${error.message}`, error.kind !== "version");
  }
}

/** What the lane found out about answers with wrong ids. */
function strayPart(message: string): string {
  const at = message.indexOf("; meanwhile");
  return at === -1 ? "" : message.slice(at);
}
