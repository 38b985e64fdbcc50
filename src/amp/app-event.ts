import type { JsonObject } from "../base/json.ts";
import type { AmpEnvelope } from "./types.ts";

/** An event in the flat form of AuroraBot's older `AppEvent` files: every member is always there. */
export interface AppEvent {
  readonly source: string;
  readonly type: string;
  readonly session_id: string;
  readonly summary: string;
  readonly payload: JsonObject;
  readonly expire_at: string | null;
  readonly id: string;
  readonly created_at: string;
}

/** The flat form of an envelope, for brains that have not moved to AMP (`inbox.format: app_event`). `header.method` and the instance have no place in it. */
export function toAppEvent({ header, payload }: AmpEnvelope): AppEvent {
  return {
    source: header.source.app,
    type: payload.type,
    session_id: payload.session_id ?? "",
    summary: payload.summary ?? "",
    payload: (payload.data ?? {}) as JsonObject,
    expire_at: payload.expire_at ?? null,
    id: header.message_id,
    created_at: header.timestamp,
  };
}
