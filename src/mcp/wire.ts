import type { JsonObject } from "../base/json.ts";
import type { CloseReason, LinkError } from "../runtime/ports.ts";

/** A JSON-RPC message as it came off the wire: an object, nothing in it checked yet. */
export type WireMessage = Record<string, unknown>;

/**
 * Carries JSON-RPC messages to and from one server. The shape is that of the SDK's Transport, so that an SDK client can
 * run straight on it; `onlost`, `abandon` and the reason in `onclose` are what the SDK's lacks.
 */
export interface Wire {
  start(): Promise<void>;
  /** Resolves when the message is handed over; rejects with a LinkError when it cannot be. */
  send(message: JsonObject): Promise<void>;
  close(options?: { readonly force?: boolean }): Promise<void>;
  setProtocolVersion?(version: string): void;
  /** Nobody waits for the answer to this request any more; what is still held for it may go. */
  abandon?(id: number): void;
  onmessage?: ((message: WireMessage) => void) | undefined;
  /** The answer to this request will not come. `null`: to a request that cannot be told. */
  onlost?: ((id: number | string | null, error: LinkError) => void) | undefined;
  onclose?: ((reason: CloseReason) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** A wire that is ready to be started, and what is special about it. */
export interface OpenedWire {
  readonly wire: Wire;
  readonly transport: "stdio" | "http";
  readonly pid: () => number | null;
  /** The last lines of stderr, masked. */
  readonly stderrTail: () => readonly string[];
  /** What helps a person to understand a failed start: the command line, the URL. Masked. */
  readonly explain: () => string;
  /** Where sessions can be forgotten by the server. */
  readonly sessions: { readonly forget: () => void; readonly onLost: (handler: () => void) => void } | null;
}

/** Whether a parsed value can be a JSON-RPC 2.0 message. Answers without `jsonrpc` pass too: the lane takes them only for an open request. */
export function isWireMessage(value: unknown): value is WireMessage {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const message = value as WireMessage;
  if (message["jsonrpc"] === "2.0") return true;
  return typeof message["method"] !== "string" && message["id"] !== undefined && (message["result"] !== undefined || message["error"] !== undefined);
}
