import { pointTo, typesOf, type Node, type Notes } from "./schema-node.ts";

/** Says exclusive bounds with inclusive ones in `out`: the next whole number for integers, the bound itself and words in `facts` otherwise. */
export function inclusiveBounds(node: Node, out: Node, pointer: string, facts: string[], notes: Notes): void {
  if (!("exclusiveMinimum" in node || "exclusiveMaximum" in node)) return;
  const whole = typesOf(node).length > 0 && typesOf(node).every((type) => type === "integer" || type === "null");
  const low = node["exclusiveMinimum"];
  if (typeof low === "number") {
    const bound = whole ? Math.floor(low) + 1 : low;
    out["minimum"] = Math.max(bound, typeof node["minimum"] === "number" ? node["minimum"] : Number.NEGATIVE_INFINITY);
    if (!whole) facts.push(`more than ${low}`);
    notes.add("bounds.inclusive", pointTo(pointer, "exclusiveMinimum"), low, bound, whole ? "annotated" : "widened");
  }
  const high = node["exclusiveMaximum"];
  if (typeof high === "number") {
    const bound = whole ? Math.ceil(high) - 1 : high;
    out["maximum"] = Math.min(bound, typeof node["maximum"] === "number" ? node["maximum"] : Number.POSITIVE_INFINITY);
    if (!whole) facts.push(`less than ${high}`);
    notes.add("bounds.inclusive", pointTo(pointer, "exclusiveMaximum"), high, bound, whole ? "annotated" : "widened");
  }
}
