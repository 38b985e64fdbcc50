/* Made from schemas/amp.schema.json by `npm run generate`. Do not edit. */

/**
 * The event envelope that the brain reads from the inbox (guide 16.2).
 */
export interface AmpEnvelope {
  header: AmpHeader;
  payload: AmpPayload;
}
/**
 * Where the event comes from.
 */
export interface AmpHeader {
  /**
   * Always amp/1.0.
   */
  protocol: "amp/1.0";
  /**
   * Kind of the original signal.
   */
  method:
    | "mcp.lifecycle"
    | "mcp.notification"
    | "mcp.tool_result"
    | "mcp.resource"
    | "mcp.error"
    | "aurora/event"
    | "aurora/host";
  /**
   * Unique id (UUIDv7, or UUIDv5 where the sender gave an idempotency key).
   */
  message_id: string;
  /**
   * ISO 8601 with offset and microseconds; strictly increasing per writer.
   */
  timestamp: string;
  source: AmpSource;
}
/**
 * Which app.
 */
export interface AmpSource {
  /**
   * The app's package, or aurora-mcp-kit for the host itself.
   */
  app: string;
  /**
   * Which instance; stable over restarts.
   */
  instance?: string;
}
/**
 * What happened.
 */
export interface AmpPayload {
  /**
   * Dotted event type (guide 16.3).
   */
  type: string;
  /**
   * Conversation or session the event belongs to.
   */
  session_id?: string;
  /**
   * One line for people.
   */
  summary?: string;
  /**
   * Data of the type.
   */
  data?: {};
  /**
   * After this moment the event is stale; ISO 8601 with offset.
   */
  expire_at?: string;
}
