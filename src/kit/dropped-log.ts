import type { DroppedItem } from "../tools/types.ts";
import type { Logger } from "../runtime/ports.ts";

/** Items that one log line names; `status` and `explain` have all. */
const NAMES_TOLD = 3;

/** Says in the log which items of an app's lists were left out: one line for all of them, and only when they are others than last time. */
export function createDroppedLog(log: Logger): (app: string, dropped: readonly DroppedItem[]) => void {
  const told = new Map<string, string>();
  return (app, dropped) => {
    const lines = dropped.map((item) => `${item.kind} "${item.name}": ${item.reason}`);
    const text = lines.join("\n");
    if ((told.get(app) ?? "") === text) return;
    told.set(app, text);
    if (lines.length === 0) return;
    const more = lines.length - NAMES_TOLD;
    log.warn(
      { app, count: lines.length, items: lines.slice(0, NAMES_TOLD) },
      `left out of the catalogue: ${lines.length}${more > 0 ? `, of which the first ${NAMES_TOLD} are named; aurora-mcp status has all` : ""}`,
    );
  };
}
