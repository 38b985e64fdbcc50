import type { Clock } from "../base/clock.ts";
import type { AppPlan } from "../plan/types.ts";
import type { Ingest } from "../runtime/ingest.ts";
import { errorSignal } from "./runtime-signals.ts";

/** Most mcp.error events of one app in a minute; a server that writes garbage without end must not flood the inbox. */
const MOST_PER_MINUTE = 10;
const MINUTE_MS = 60_000;

/** Tells breaches of the protocol, garbage and time-outs of an app as events, a few a minute. */
export interface FaultSignals {
  tell(app: AppPlan, message: string): void;
}

/** Makes the teller; when it has left faults out, the next event says how many. */
export function createFaultSignals(ingest: Ingest, clock: Clock): FaultSignals {
  const windows = new Map<string, { from: number; told: number; leftOut: number }>();
  return {
    tell(app, message) {
      const now = clock.monotonic();
      let window = windows.get(app.package);
      if (!window || now - window.from >= MINUTE_MS) {
        window = { from: now, told: 0, leftOut: window?.leftOut ?? 0 };
        windows.set(app.package, window);
      }
      if (window.told >= MOST_PER_MINUTE) {
        window.leftOut += 1;
        return;
      }
      window.told += 1;
      void ingest.emit(errorSignal(app, window.leftOut === 0 ? message : `${message} (${window.leftOut} more faults were not told)`));
      window.leftOut = 0;
    },
  };
}
