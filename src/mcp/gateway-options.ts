import { isObject, own, setOwn, type Json, type JsonObject } from "../base/json.ts";
import type { Mutable } from "../base/mutable.ts";
import type { CallOptions } from "../kit-api.ts";
import { INVALID_PARAMS, isId, rpcNotification, RpcError } from "./gateway-rpc.ts";
import type { GatewaySession, InFlight } from "./gateway-session.ts";

/** `_meta` members that are the kit's own or name another hop, and so are not passed on. `baggage` may carry what a low-trust server must not see. */
const OWN_META = new Set(["progressToken", "baggage"]);
/** Longest name of a conversation. A longer one is refused and never cut: two with one beginning would share marks, approvals and connections. */
const MAX_NAME_CHARS = 256;
const isOwnMeta = (key: string): boolean => OWN_META.has(key) || key.startsWith("aurora/") || key.startsWith("io.modelcontextprotocol/");

/** What the kit is told with a request: who asks and in which conversation, and the way back to the client on the request's own stream. Throws an {@link RpcError} for a name that is too long. */
export function optionsOf(session: GatewaySession, params: JsonObject, flight: InFlight): CallOptions {
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  const conversation = own(meta, "aurora/session");
  const approvalId = own(meta, "aurora/approval_id");
  const token = progressToken(params);
  const name = typeof conversation === "string" && conversation !== "" ? conversation : session.id;
  if (name.length > MAX_NAME_CHARS)
    throw new RpcError(INVALID_PARAMS, `_meta["aurora/session"] has ${name.length} characters; a conversation's name may have ${MAX_NAME_CHARS}`);
  session.joins(name);
  const passed: JsonObject = {};
  for (const [key, value] of Object.entries(meta)) if (!isOwnMeta(key)) setOwn(passed, key, value);
  const options: Mutable<CallOptions> = {
    client: session.principal.client,
    session: name,
    signal: flight.abort.signal,
    clientCapabilities: session.capabilities,
    onSent: (source) => void (flight.speaker = { source, conversation: name }),
  };
  if (typeof approvalId === "string") options.approvalId = approvalId;
  if (token !== null)
    options.onProgress = (progress) => void flight.outlet.send(rpcNotification("notifications/progress", { progressToken: token, ...progress }));
  if (session.answersRequests) options.onServerRequest = (request) => session.ask(request, flight);
  if (Object.keys(passed).length > 0) options.meta = passed;
  return options;
}

/** The token under which the client wants progress; null when it wants none. */
export function progressToken(params: JsonObject): Json {
  const token = own(params["_meta"], "progressToken");
  return isId(token) ? (token as Json) : null;
}

/** A member of the params that must be a text with something in it; throws an {@link RpcError} otherwise. */
export function textOf(params: JsonObject, key: string): string {
  const value = own(params, key);
  if (typeof value !== "string" || value === "") throw new RpcError(INVALID_PARAMS, `${key} must be a text`);
  return value;
}
