import { messageOf } from "../base/errors.ts";
import { truncate } from "../base/text.ts";
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
    const { telling, last } = stderrParts(stderrTail);
    // The telling line goes before the rest: lists show the beginning only.
    const explained = [message, telling, at.opened.explain(), last].filter((part) => part !== "");
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
      if (at.opened.transport === "http") return make(`initialize: ${error.message}`, true);
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

/** Last lines of stderr that a start error quotes, and how much of them. */
const QUOTED_LINES = 8;
const QUOTED_CHARS = 1000;
const QUOTED_LINE_CHARS = 300;
/** How runtimes begin the line that tells what went wrong, and the words that other programs use. */
const ERROR_LINE = /^(Uncaught |Caused by: |Exception in |thread .* panicked|panic: |fatal\b|error\b|[\w.]*(Error|Exception)\b)/i;
const ERROR_WORD = /\b(errors?|exception|fatal|cannot|can't|not found|denied|failed|no such)\b/i;
const STACK_FRAME = /^(at\s|File ")/;

/** What stderr said: the line that tells most (the last one that speaks of an error, else the last one), and the last lines. */
function stderrParts(tail: readonly string[]): { readonly telling: string; readonly last: string } {
  const lines = tail.map((line) => truncate(line.trim(), QUOTED_LINE_CHARS)).filter((line) => !STACK_FRAME.test(line));
  const telling = lines.findLast((line) => ERROR_LINE.test(line)) ?? lines.findLast((line) => ERROR_WORD.test(line)) ?? lines.at(-1);
  if (telling === undefined) return { telling: "", last: "" };
  return {
    telling: `stderr says: ${telling}`,
    last: lines.length === 1 ? "" : truncate(`stderr ends with: ${lines.slice(-QUOTED_LINES).join(" | ")}`, QUOTED_CHARS),
  };
}

/** What the lane found out about answers with wrong ids. */
function strayPart(message: string): string {
  const at = message.indexOf("; meanwhile");
  return at === -1 ? "" : message.slice(at);
}
