import type { Clock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import type { AppLog } from "../runtime/app-log.ts";
import { LineAllowance } from "../mcp/line-allowance.ts";
import { plainLine } from "../mcp/plain-line.ts";

/** A server that talks more than this is heard in part; the next line says how much was left out. */
const ALLOWED = { burst: 500, perSecond: 50 };

/** Writes the log messages of servers (`notifications/message`) into the logs of their apps. */
export interface ServerLogs {
  /** Takes one message. False when the server talks too much: the message is dropped everywhere. */
  take(app: string, params: JsonObject): boolean;
}

/** Makes the writer. `mask` takes secrets out of a text. */
export function createServerLogs(logOf: (app: string) => AppLog, mask: (text: string) => string, clock: Clock): ServerLogs {
  const allowances = new Map<string, LineAllowance>();
  return {
    take(app, params) {
      let allowance = allowances.get(app);
      if (!allowance) allowances.set(app, (allowance = new LineAllowance(clock, ALLOWED)));
      if (!allowance.take()) return false;
      const log = logOf(app);
      const leftOut = allowance.takeHeldBack();
      if (leftOut > 0) log.add(`[kit] ${leftOut} log messages of the server were left out`);
      log.add(lineOf(params, mask));
      return true;
    },
  };
}

/** `[log LEVEL] logger: text`, on one line. */
function lineOf({ level, logger, data }: JsonObject, mask: (text: string) => string): string {
  const text = typeof data === "string" ? data : JSON.stringify(data ?? null);
  const from = typeof logger === "string" && logger !== "" ? `${logger}: ` : "";
  return plainLine(`[log ${typeof level === "string" ? level : "info"}] ${mask(`${from}${text}`)}`);
}
