import { interpolate, type VariableSource } from "./interpolate.ts";
import type { TextNode } from "./nodes.ts";

/** Whether an app's entry says `enabled: false`, be it by a variable. */
export function isOff(entry: TextNode, variables: VariableSource | null): boolean {
  const enabled = entry.kind === "map" ? entry.entries.get("enabled")?.value : undefined;
  if (enabled?.kind !== "scalar") return false;
  if (typeof enabled.value !== "string" || variables === null) return enabled.value === false;
  const { whole, text, faults } = interpolate(enabled.value, variables);
  return whole && faults.length === 0 && text === "false";
}
