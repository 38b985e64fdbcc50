import { compileSelection, type Principal } from "../base/principal.ts";
import type { Plan } from "../plan/types.ts";

const selections = new WeakMap<Plan, Map<string, Principal["sees"]>>();
const everything = (): boolean => true;

/** Which tools a client may see at all: the selection of `gateway.clients`, or all of them for a name that has none. */
export function clientSelection(plan: Plan, client: string): Principal["sees"] {
  let known = selections.get(plan);
  if (!known) {
    known = new Map((plan.gateway?.clients ?? []).map((c) => [c.name, compileSelection(c.include, c.exclude)]));
    selections.set(plan, known);
  }
  return known.get(client) ?? everything;
}
