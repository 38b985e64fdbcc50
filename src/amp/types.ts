import type { JsonObject } from "../base/json.ts";

export type { AmpEnvelope } from "../../generated/amp.d.ts";

/** `header.method` of an envelope. */
export type AmpMethod = "mcp.lifecycle" | "mcp.notification" | "mcp.tool_result" | "mcp.resource" | "mcp.error" | "aurora/event" | "aurora/host";

/**
 * Something that happened at the platform (guide 16.1), before it is mapped.
 * Which methods a kind has stands in `SIGNAL_METHODS`.
 */
export interface Signal {
  readonly kind: "lifecycle" | "notification" | "tool_result" | "resource" | "error" | "event" | "host";
  readonly app: string;
  readonly instance: string | null;
  readonly method: string;
  readonly params: JsonObject;
  /** Conversation the signal belongs to, when the caller gave one. */
  readonly session?: string;
}

/** How urgent an envelope is when the queue is full. */
export type Priority = "high" | "normal" | "low";
