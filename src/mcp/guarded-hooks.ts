import type { Clock } from "../base/clock.ts";
import type { ConnectionHooks } from "../runtime/ports.ts";
import { LineAllowance } from "./line-allowance.ts";
import { plainLine } from "./plain-line.ts";

const NOTES = { burst: 50, perSecond: 5 };

/** The hooks of a connection with every text masked, free of control characters and, for the kit's own notes, at a bounded rate. */
export function guardHooks(hooks: ConnectionHooks, mask: (text: string) => string, clock: Clock): ConnectionHooks {
  const allowance = new LineAllowance(clock, NOTES);
  return {
    ...hooks,
    onLog(line, source) {
      if (source === "stderr") return hooks.onLog?.(mask(line), source);
      if (!allowance.take()) return;
      const held = allowance.takeHeldBack();
      if (held > 0) hooks.onLog?.(`(${held} notes left out)`, source);
      hooks.onLog?.(plainLine(mask(line)), source);
    },
    onProtocolError: (message) => hooks.onProtocolError?.(plainLine(mask(message))),
  };
}
