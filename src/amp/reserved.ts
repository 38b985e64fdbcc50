/** First segments of event types that only the host may send (contracts 7). */
export const RESERVED_NAMESPACES: readonly string[] = ["tool", "lifecycle", "capability", "config", "approval", "mcp"];

/** Whether an event type is the host's own; case does not make it another. */
export function isReservedType(type: string): boolean {
  return RESERVED_NAMESPACES.includes(type.split(".", 1)[0]!.trim().toLowerCase());
}
