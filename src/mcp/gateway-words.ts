import { own, type JsonObject } from "../base/json.ts";
import type { Kit } from "../kit-api.ts";
import { wantsLog } from "./gateway-log.ts";
import { rpcNotification } from "./gateway-rpc.ts";
import type { GatewaySession, InFlight } from "./gateway-session.ts";
import type { Speaker } from "./gateway-speaker.ts";
import type { GatewayTasks } from "./gateway-tasks.ts";

/** Whom a connection of an app serves where it serves one conversation alone. */
export interface Conversation {
  readonly client: string;
  readonly session: string;
}

/** Where words of an app may go: to a conversation for which it works, on the stream of the call or the session's own. */
interface Listener {
  readonly session: GatewaySession;
  readonly speaker: Speaker;
  readonly way: GatewaySession | InFlight;
}

export interface Words {
  readonly kit: Pick<Kit, "heard">;
  readonly sessions: Iterable<GatewaySession>;
  readonly tasks: Pick<GatewayTasks, "running">;
}

/**
 * Passes on what an app says beside its answers: log messages, to the one conversation for which it works now, and that an address was dealt with, to who
 * was asked to open it. Nothing else, and to nobody else: what comes while no call of the conversation runs is not said.
 */
export function passWords(words: Words, app: string, method: string, params: JsonObject, scope?: Conversation): void {
  if (method === "notifications/message") {
    const listener = listenerTo(words, app, scope);
    if (listener && wantsLog(params, listener.session.logLevel)) tell(words.kit, listener, rpcNotification(method, params));
  }
  if (method === "notifications/elicitation/complete") {
    const id = own(params, "elicitationId");
    for (const session of words.sessions) {
      if (scope && session.principal.client !== scope.client) continue;
      const speaker = session.elicitations.complete(app, id, scope?.session);
      if (speaker) tell(words.kit, { session, speaker, way: flightOf(session, speaker) ?? session }, rpcNotification(method, { elicitationId: id as string }));
    }
  }
}

/** The conversation that an app speaks to; on a shared connection with several at once nobody can tell whose it is, and then nobody gets it. */
function listenerTo({ sessions, tasks }: Words, app: string, scope?: Conversation): Listener | undefined {
  const listeners = new Map<string, Listener>();
  const add = (listener: Listener): void => {
    const { session, speaker } = listener;
    if (scope && (session.principal.client !== scope.client || speaker.conversation !== scope.session)) return;
    listeners.set(JSON.stringify([session.id, speaker.conversation]), listener);
  };
  // The session of a task may have ended before the task: it still uses the app.
  for (const { session, speaker } of tasks.running(app)) add({ session, speaker, way: session });
  for (const session of sessions)
    for (const flight of session.inFlight.values()) if (flight.speaker?.source.app === app) add({ session, speaker: flight.speaker, way: flight });
  if (!scope && listeners.size !== 1) return undefined;
  return [...listeners.values()].findLast(({ session }) => !session.closed);
}

function flightOf(session: GatewaySession, { source, conversation }: Speaker): InFlight | undefined {
  return [...session.inFlight.values()].findLast(({ speaker }) => speaker?.source.app === source.app && speaker.conversation === conversation);
}

/** Words reach a conversation in their order, and marked: a call may outlast its mark, or an operator clear it. What cannot be marked is not said. */
function tell(kit: Words["kit"], { session, speaker, way }: Listener, message: JsonObject): void {
  way.telling = way.telling
    .then(() => kit.heard?.(speaker.source, { client: session.principal.client, session: speaker.conversation }))
    .then(() => {
      if (!session.closed) way.outlet.send(message);
    })
    .catch(() => undefined);
}
