import type { CancelSignal } from "../base/cancel-signal.ts";
import { MAX_TIMER_MS } from "../base/durations.ts";
import { signalWithin } from "../calls/join-signals.ts";
import type { Runtime } from "../runtime/runtime.ts";

/**
 * Waits for the app that an unknown tool name may belong to while nothing is known of that app's tools: it may still be starting; a
 * parked one is woken. Waits no longer than a call of the app may take, and never rejects: what is still missing then is the call's own fault.
 */
export async function awaitOwner(runtime: Runtime, name: string, signal: CancelSignal | undefined): Promise<void> {
  await Promise.all(
    runtime.ownersOf(name).map(async (runner) => {
      if (runner.lastListing !== null) return;
      const waiting = signalWithin(signal, Math.min(runner.plan.callTimeoutMs, MAX_TIMER_MS));
      await runner.ready(() => waiting.signal).catch(() => undefined);
      waiting.release();
    }),
  );
}
