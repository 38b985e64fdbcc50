import { watch, type FSWatcher } from "node:fs";

/** Wakes a waiting reader when something happens in a folder. Where the system cannot tell, only the time-out does. */
export function ringOnChange(folder: string, signal: AbortSignal): { wait(timeoutMs: number): Promise<void>; close(): void } {
  let rung = false;
  let wake = (): void => {};
  const ring = (): void => {
    rung = true;
    wake();
  };
  let watcher: FSWatcher | null = null;
  try {
    watcher = watch(folder, ring);
    watcher.on("error", () => {});
  } catch {
    // Polling remains.
  }
  signal.addEventListener("abort", ring);
  return {
    async wait(timeoutMs) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = signal.aborted;
      wake = () => {};
    },
    close() {
      watcher?.close();
      signal.removeEventListener("abort", ring);
    },
  };
}
