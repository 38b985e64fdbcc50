import { summaryWithoutChat } from "../base/chat-text.ts";
import type { Clock } from "../base/clock.ts";
import { canonicalJson, type JsonObject } from "../base/json.ts";
import { uuidV5, uuidV7Source } from "../base/uuid.ts";
import { boundData, boundSummary, MAX_SESSION } from "./bounds.ts";
import { truncate } from "../base/text.ts";
import type { MappedEvent } from "./map-signal.ts";
import type { SignalSource } from "./signal.ts";
import { formatTimestamp, isTimestamp, parseTimestamp } from "./timestamp.ts";
import type { AmpEnvelope } from "./types.ts";

/** `source.app` of the host's own events. */
export const HOST_APP = "aurora-mcp-kit";

/** Namespace of ids made from idempotency keys. */
const NAMESPACE = "9aebf276-1b05-4aa4-bd4e-b42b0bbbdd8b";

/** A session's id as it stands in an envelope. `mask` takes secrets out of a text. */
export function sessionShown(session: string, mask: (text: string) => string): string {
  return truncate(mask(session), MAX_SESSION);
}

/** What a sealer is made of. */
export interface SealerOptions {
  readonly clock: Clock;
  /** Fresh random bytes. */
  readonly random: (size: number) => Uint8Array;
  /** Minutes east of UTC at a moment (milliseconds since 1970). */
  readonly offset: (nowMs: number) => number;
  /** Takes secrets out of a JSON value; runs before anything is cut, for half a secret is not recognised. */
  readonly mask: (value: unknown) => unknown;
  /** Largest `payload.data` in bytes of JSON (`limits.message_bytes`). */
  readonly maxDataBytes: () => number;
  /** Whether texts of chat messages may stand in summaries (`log.chat_text`). Default false. */
  readonly chatText?: () => boolean;
  /** Timestamp of the last envelope that an earlier run of this writer wrote; new ones are later. */
  readonly last?: string | null;
}

/** Makes envelopes of mapped events. */
export interface Sealer {
  /** Gives the event an id and a time, masks and bounds it (guide 16.2, contracts 7). Timestamps of one sealer strictly increase. */
  seal(event: MappedEvent, source: SignalSource): AmpEnvelope;
}

/** Makes a sealer; one per inbox, so that its timestamps and ids rise together. */
export function createSealer(options: SealerOptions): Sealer {
  let last = parseTimestamp(options.last) ?? 0;
  // Ids take the time of the timestamp, so that they rise even when the clock steps back or a new run starts.
  const uuidV7 = uuidV7Source(() => last / 1000, options.random);
  return {
    seal(event, source) {
      last = Math.max(Math.floor(options.clock.now() * 1000), last + 1);
      const offset = options.offset(last / 1000);
      const id =
        event.idempotency_key === undefined
          ? uuidV7()
          : uuidV5(NAMESPACE, canonicalJson([source.app, event.type, event.session_id ?? null, event.idempotency_key]));
      const expireAt = isTimestamp(event.expireAt)
        ? event.expireAt
        : event.expiresInMs === undefined
          ? undefined
          : formatTimestamp(last + event.expiresInMs * 1000, offset);
      // Before anything is masked, or a text with a secret in it would no longer be found.
      const summaryOf = (summary: string): string =>
        event.type.startsWith("message.") && !options.chatText?.() ? summaryWithoutChat(summary, event.data) : summary;
      const text = (value: string): string => options.mask(value) as string;
      return {
        header: {
          protocol: "amp/1.0",
          method: event.method,
          message_id: id,
          timestamp: formatTimestamp(last, offset),
          source: { app: source.app, ...(source.instance === null ? {} : { instance: source.instance }) },
        },
        payload: {
          type: event.type,
          ...(event.session_id === undefined ? {} : { session_id: sessionShown(event.session_id, text) }),
          ...(event.summary === undefined ? {} : { summary: boundSummary(text(summaryOf(event.summary))) }),
          ...(event.data === undefined ? {} : { data: boundData(options.mask(event.data) as JsonObject, options.maxDataBytes()) }),
          ...(expireAt === undefined ? {} : { expire_at: expireAt }),
        },
      };
    },
  };
}
