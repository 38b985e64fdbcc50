import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { readAuroraEvent } from "./aurora-event.ts";
import type { Signal } from "./types.ts";

/** The methods of each kind of signal; null where servers choose them. */
export const SIGNAL_METHODS: Readonly<Record<Signal["kind"], readonly string[] | null>> = {
  lifecycle: ["started", "stopping", "stopped", "replaced", "crashed"],
  notification: null,
  tool_result: ["tools/call"],
  resource: ["resources/read", "notifications/resources/updated"],
  error: ["protocol"],
  event: ["aurora/event"],
  host: ["config.applied", "config.rejected", "approval.requested", "approval.decided"],
};

/** The notifications that MCP servers send; they may send others too. */
export const MCP_NOTIFICATIONS: readonly string[] = [
  "notifications/cancelled",
  "notifications/progress",
  "notifications/message",
  "notifications/resources/updated",
  "notifications/resources/list_changed",
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/tasks/status",
  "notifications/elicitation/complete",
];

/** Where a signal comes from. */
export interface SignalSource {
  readonly app: string;
  readonly instance: string | null;
}

/** Params of any shape as the object that a signal has: an object as it is, nothing as `{}`, anything else under `value`. */
export function signalParams(params: unknown): JsonObject {
  if (params === undefined || params === null) return {};
  return isObject(params) ? (params as JsonObject) : { value: params as Json };
}

/**
 * The signal of a server's notification: an Aurora-native event where it is one, else the notification itself. `refused` says why an
 * Aurora-native event was not taken; such an event becomes no other signal.
 */
export function signalOfNotification(source: SignalSource, method: string, params: unknown): { readonly signal: Signal } | { readonly refused: string } {
  const event = readAuroraEvent(method, params);
  if (event === null) return { signal: { kind: "notification", ...source, method, params: signalParams(params) } };
  if (!event.ok) return { refused: event.reason };
  const session = event.event["session_id"];
  return { signal: { kind: "event", ...source, method: "aurora/event", params: event.event, ...(typeof session === "string" ? { session } : {}) } };
}
