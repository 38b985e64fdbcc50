import type { JsonObject } from "../base/json.ts";

/** Where messages to a client go beside the response: the stream of one call, or that of the whole session. */
export interface Outlet {
  /** Sends a notification or a request of the server. False when this way cannot stream; the message is dropped then. */
  send(message: JsonObject): boolean;
}
