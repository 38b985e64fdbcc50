/* Made from schemas/aurora-event.schema.json by `npm run generate`. Do not edit. */

/**
 * Params of an aurora/event notification, or data of a logging message with logger aurora/event (guide 16.1).
 */
export interface AuroraEvent {
  /**
   * Dotted event type. tool.*, lifecycle.*, capability.*, config.*, approval.* and mcp.* are reserved for the host.
   */
  type: string;
  /**
   * Conversation or session.
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
   * The same key is the same event, even when sent again.
   */
  idempotency_key?: string;
  /**
   * ISO 8601 with offset.
   */
  expire_at?: string;
}
