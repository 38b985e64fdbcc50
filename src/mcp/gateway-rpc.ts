import type { ErrorBody } from "../base/errors.ts";
import { ExactNumber } from "../base/exact-json.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";

/** An id as the client wrote it: whole numbers keep all their digits, for the client knows its request by them. */
export type RpcId = string | number | ExactNumber;

/** A JSON-RPC request. */
export interface RpcRequest {
  readonly kind: "request";
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

/** One JSON-RPC message, told apart. */
export type RpcMessage =
  | RpcRequest
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "response"; readonly id: RpcId; readonly result: JsonObject | null; readonly error: JsonObject | null }
  | { readonly kind: "invalid"; readonly id: RpcId | null; readonly message: string };

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const RESOURCE_NOT_FOUND = -32002;
/** A person has to open an address before the request can run (2025-11-25). */
export const URL_ELICITATION_REQUIRED = -32042;
/** A refusal of the kit outside tools/call; `data` is the one error shape. */
export const REFUSED = -32000;
/** As the MCP SDK says it; what counts for clients is status 404. */
export const SESSION_NOT_FOUND = -32001;

/** An error that becomes a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: Json | undefined;
  constructor(code: number, message: string, data?: Json) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}

/** Tells a parsed value apart by hand: this runs for every message, and schema engines are dear when they refuse. */
export function readMessage(value: Json): RpcMessage {
  if (Array.isArray(value)) return { kind: "invalid", id: null, message: "batches are not part of this protocol" };
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return { kind: "invalid", id: null, message: 'a message is an object with "jsonrpc": "2.0"' };
  const id = value["id"];
  const method = value["method"];
  if (typeof method === "string") {
    const params = value["params"] ?? {};
    if (!isObject(params)) return { kind: "invalid", id: isId(id) ? id : null, message: "params must be an object" };
    if (id === undefined) return { kind: "notification", method, params: params as JsonObject };
    if (!isId(id)) return { kind: "invalid", id: null, message: "id must be a string or a number" };
    return { kind: "request", id, method, params: params as JsonObject };
  }
  if (isId(id) && isObject(value["result"])) return { kind: "response", id, result: value["result"] as JsonObject, error: null };
  if (isId(id) && isObject(value["error"])) return { kind: "response", id, result: null, error: value["error"] as JsonObject };
  return { kind: "invalid", id: isId(id) ? id : null, message: "neither a request, a notification nor a response" };
}

/** Whether a value can be the id of a request. */
export function isId(value: unknown): value is RpcId {
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value)) || value instanceof ExactNumber;
}

/** What ids are equal by, as keys of a map. */
export function idKey(id: RpcId): string | number | bigint {
  return id instanceof ExactNumber ? BigInt(id.digits) : id;
}

/** A success response. */
export function rpcResult(id: RpcId, result: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id: id as Json, result };
}

/** An error response; `id` null when the request's own cannot be known. */
export function rpcFault(id: RpcId | null, code: number, message: string, data?: Json): JsonObject {
  return { jsonrpc: "2.0", id: id as Json, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** The answer to an initialize on a connection that has its session. */
export function secondInitialize(id: RpcId): JsonObject {
  return rpcFault(id, INVALID_REQUEST, "the session is initialized already");
}

/** A notification. */
export function rpcNotification(method: string, params: JsonObject = {}): JsonObject {
  return Object.keys(params).length === 0 ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
}

/** The kit's error shape as JSON. */
export function bodyToJson(body: ErrorBody): JsonObject {
  return { ...body };
}
