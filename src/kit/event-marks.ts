import type { MappedEvent } from "../amp/map-signal.ts";
import type { Signal } from "../amp/types.ts";
import type { Plan } from "../plan/types.ts";
import { isSourceEvent } from "../policy/flow.ts";

/** The data-flow mark that an event sets on the conversation it opens. */
export interface EventMark {
  readonly session: string;
  readonly source: string;
  readonly expiresMs: number;
}

/** Signals whose words are the app's own; the rest is told by the host, and a call marks its session by itself. */
const OWN_WORDS: ReadonlySet<Signal["kind"]> = new Set(["event", "notification", "resource"]);

/**
 * The mark of an event of a data-flow source (contracts 5, `data_flow.sources`): of a low-trust app, or of a type that the policy
 * names, in the app's own word or the mapped one. Null for other events and for those that name no session: they open none.
 */
export function markOfEvent(plan: Plan, signal: Signal, event: MappedEvent): EventMark | null {
  const app = plan.apps.get(signal.app);
  if (!app || event.session_id === undefined || event.session_id === "" || !OWN_WORDS.has(signal.kind)) return null;
  const { flow } = plan.policy;
  const own = signal.kind === "event" ? signal.params["type"] : undefined;
  const types = typeof own === "string" && own !== event.type ? [own, event.type] : [event.type];
  const type = types.find((name) => isSourceEvent(flow, { app: signal.app, type: name, trust: app.trust }));
  return type === undefined ? null : { session: event.session_id, source: `${signal.app}/${type}`, expiresMs: flow.expiresMs };
}
