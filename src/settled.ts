import { setTimeout as sleep } from "node:timers/promises";
import type { Kit } from "./kit-api.ts";

/** Longest wait for apps to come up or fail, in milliseconds; a start that is slower joins later by itself. */
const LONGEST = 60_000;

/** Longest wait for export files that are being written, in milliseconds. */
const EXPORTS_WAIT = 5000;

/** Resolves once the export files have followed the catalogue; gives up after a few seconds. */
export async function exportsWritten(kit: Kit): Promise<void> {
  const behind = (): boolean => kit.status().exports.some((entry) => entry.pending);
  for (const end = performance.now() + EXPORTS_WAIT; behind() && performance.now() < end;) await sleep(25);
}

/** Resolves once no app is starting any more, after `limitMs` at the latest, or when the signal aborts. */
export function settled(kit: Kit, options: { readonly limitMs?: number; readonly signal?: AbortSignal } = {}): Promise<void> {
  const busy = (): boolean => kit.status().apps.some((app) => app.state === "starting");
  return new Promise((resolve) => {
    const stops: (() => void)[] = [];
    const end = (): void => {
      for (const stop of stops) stop();
      resolve();
    };
    if (!busy() || options.signal?.aborted) return end();
    const timer = setTimeout(end, options.limitMs ?? LONGEST);
    options.signal?.addEventListener("abort", end, { once: true });
    stops.push(
      () => clearTimeout(timer),
      () => options.signal?.removeEventListener("abort", end),
      // Told before the snapshot has the new state: look once it has.
      kit.on("app", () => void setImmediate(() => busy() || end())),
    );
  });
}
