import type { JsonObject } from "../base/json.ts";
import type { CloseReason } from "../runtime/ports.ts";
import type { WireMessage } from "./wire.ts";

/** Whom a `RpcLane` tells. */
export interface LaneHandlers {
  /** A request of the server; whoever takes it answers with `respond`. */
  readonly request: (message: WireMessage) => void;
  /** A notification of the server, but progress of own requests. */
  readonly notification: (method: string, params: JsonObject) => void;
  readonly closed: (reason: CloseReason) => void;
  /** Something the server did wrong on the wire. */
  readonly protocolError: (message: string) => void;
  /** A thing worth a line in the app's log, no breach. */
  readonly note: (message: string) => void;
}
