import type { AuroraEvent } from "../common/app.ts";
import { BusinessError } from "../common/business-error.ts";
import type { EventStream } from "./event-stream.ts";
import { atSegment, textSegment, type Segment } from "./message.ts";
import type { OneBotApi } from "./onebot-api.ts";

/** Where a message goes. */
export interface Target {
  readonly kind: "group" | "private";
  readonly id: string;
}

/** A message that OneBot took. `messageId` is missing where OneBot sends it later and does not say its id. */
export interface Sent {
  readonly target: Target;
  readonly messageId: string | undefined;
}

/** How the app stands with OneBot. */
export interface QqStatus {
  /** Messages can be sent. */
  readonly connected: boolean;
  readonly account: { readonly user_id: string; readonly nickname: string } | undefined;
  /** Why messages cannot be sent. */
  readonly reason: string | undefined;
  readonly events: { readonly connected: boolean; readonly connections: number; readonly reason: string | undefined };
}

/** QQ through OneBot. */
export interface QqService {
  /** Sends a text. Throws BusinessError ONEBOT_…. */
  send(target: Target, text: string, signal?: AbortSignal): Promise<Sent>;
  /** Sends a text to a group with a mention of a user before it. Throws BusinessError ONEBOT_…. */
  sendWithMention(groupId: string, userId: string, text: string, signal?: AbortSignal): Promise<Sent>;
  /** Asks OneBot; never throws for a OneBot that is not there. */
  status(signal?: AbortSignal): Promise<QqStatus>;
}

/** Pattern of a target's written form; the ids are numbers of at most 15 digits, which JSON carries exactly. */
export const TARGET_PATTERN = "^(group|private):[1-9][0-9]{0,14}$";

/** Reads `group:123` or `private:456`, already checked against TARGET_PATTERN. */
export function parseTarget(text: string): Target {
  const [kind, id = ""] = text.split(":", 2);
  return { kind: kind === "group" ? "group" : "private", id };
}

/** The service over OneBot's two connections. */
export function createQqService(api: OneBotApi, stream: Pick<EventStream, "state">): QqService {
  const send = async (target: Target, message: readonly Segment[], signal: AbortSignal | undefined): Promise<Sent> => {
    const group = target.kind === "group";
    const to = group ? { group_id: Number(target.id) } : { user_id: Number(target.id) };
    const data = await api.call(group ? "send_group_msg" : "send_private_msg", { ...to, message }, signal);
    const id = data?.["message_id"];
    return { target, messageId: typeof id === "number" || typeof id === "string" ? String(id) : undefined };
  };
  return {
    send: (target, text, signal) => send(target, [textSegment(text)], signal),
    sendWithMention: (groupId, userId, text, signal) => send({ kind: "group", id: groupId }, [atSegment(userId), textSegment(` ${text}`)], signal),
    status: async (signal) => {
      const { connected, connections, reason } = stream.state();
      const events = { connected, connections, reason };
      try {
        const login = await api.call("get_login_info", {}, signal);
        return {
          connected: true,
          account: { user_id: String(login?.["user_id"] ?? ""), nickname: String(login?.["nickname"] ?? "") },
          reason: undefined,
          events,
        };
      } catch (error) {
        if (!(error instanceof BusinessError)) throw error;
        return { connected: false, account: undefined, reason: error.message, events };
      }
    },
  };
}

/** Lets each event through once: after a reconnect, or from two OneBot programs, the same one may come again. */
export function createDeduplicator(remembered = 1000): (event: AuroraEvent) => boolean {
  const keys = new Set<string>();
  return ({ idempotency_key }) => {
    if (keys.has(idempotency_key)) return false;
    keys.add(idempotency_key);
    for (const oldest of keys) {
      if (keys.size <= remembered) break;
      keys.delete(oldest);
    }
    return true;
  };
}
