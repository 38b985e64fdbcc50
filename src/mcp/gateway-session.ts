import { BriefMap } from "../base/brief-map.ts";
import { CancelSource } from "../base/cancel-signal.ts";
import { KitError, messageOf } from "../base/errors.ts";
import { stringifyExact } from "../base/exact-json.ts";
import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import type { Principal } from "../base/principal.ts";
import { opensAddresses } from "../calls/address-needed.ts";
import type { ServerRequest } from "../runtime/ports.ts";
import { Elicitations } from "./gateway-elicitations.ts";
import type { Outlet } from "./gateway-outlet.ts";
import type { Speaker } from "./gateway-speaker.ts";
import {
  idKey,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isId,
  readMessage,
  rpcFault,
  rpcNotification,
  rpcResult,
  RpcError,
  type RpcId,
  type RpcMessage,
  type RpcRequest,
} from "./gateway-rpc.ts";
import { refusal, unknownMethod } from "./gateway-results.ts";
import { faultOf, startRequestSpan } from "./gateway-span.ts";

/** Requests of one session that may run at once. */
const MAX_IN_FLIGHT = 256;
const MAX_CONVERSATIONS = 1000;

/** One request that runs. */
export interface InFlight {
  readonly id: RpcId;
  readonly outlet: Outlet;
  readonly abort: CancelSource;
  /** Who works on it; null until its call is sent. */
  speaker: Speaker | null;
  /** Resolves when all that an app said so far has gone out; the answer comes after it. */
  telling: Promise<void>;
}

/** Answers one request of a session; throws an {@link RpcError}. */
export type MethodHandler = (session: GatewaySession, params: JsonObject, flight: InFlight) => Promise<JsonObject> | JsonObject;

/** What a server-to-client method needs the client to have declared. The client's own roots are never asked for: what an app sees stands in its grants. */
const NEEDED_CAPABILITY: ReadonlyMap<string, string> = new Map([
  ["sampling/createMessage", "sampling"],
  ["elicitation/create", "elicitation"],
]);

/** How a message came in. */
export interface Hop {
  readonly transport: "tcp" | "pipe";
  /** Trace context of the HTTP request, as `_meta` members. */
  readonly trace: JsonObject;
}

const STDIO: Hop = { transport: "pipe", trace: {} };

export interface SessionOptions {
  readonly id: string;
  readonly principal: Principal;
  /** Where messages go that belong to no call. */
  readonly outlet: Outlet;
  readonly find: (method: string) => MethodHandler | undefined;
}

/** One MCP session of a gateway client, whatever the transport: requests in, responses out, and the way back to the client. */
export class GatewaySession {
  readonly id: string;
  readonly outlet: Outlet;
  /** The newest principal that proved itself; always of the same client. */
  principal: Principal;
  protocolVersion = "";
  capabilities: JsonObject = {};
  /** Whether the client was told at the beginning that calls may run as tasks. */
  offersTasks = false;
  /** Least severe log messages that the client wants. */
  logLevel = "info";
  readonly subscriptions = new Set<string>();
  /** Conversations that calls of this session belonged to; the newest when there are very many. */
  readonly conversations: Set<string>;
  readonly inFlight = new BriefMap<ReturnType<typeof idKey>, InFlight>();
  /** As {@link InFlight.telling}, for what goes the session's own way. */
  telling = Promise.resolve();
  readonly elicitations = new Elicitations();
  readonly #find: SessionOptions["find"];
  readonly #asked = new Map<RpcId, { resolve: (result: JsonObject) => void; reject: (error: Error) => void }>();
  #nextId = 0;
  #closed = false;

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.principal = options.principal;
    this.outlet = options.outlet;
    this.conversations = new Set([options.id]);
    this.#find = options.find;
  }

  /** Notes that a call belongs to a conversation. */
  joins(conversation: string): void {
    if (this.conversations.size >= MAX_CONVERSATIONS && !this.conversations.has(conversation)) {
      const oldest = [...this.conversations].find((name) => name !== this.id);
      if (oldest !== undefined) this.conversations.delete(oldest);
    }
    this.conversations.add(conversation);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Takes one message as it came. Gives the response of a request, or null where there is none: a notification, a response, a cancelled request. Never rejects. */
  handle(value: Json, outlet: Outlet): Promise<JsonObject | null> {
    return this.take(readMessage(value), outlet);
  }

  /** As {@link handle}, with a message that was read already. */
  take(message: RpcMessage, outlet: Outlet, abort = new CancelSource(), hop: Hop = STDIO): Promise<JsonObject | null> {
    if (message.kind === "request") return this.#traced(message, hop, (params) => this.#request(message.id, message.method, params, outlet, abort));
    if (message.kind === "response") this.#answered(message.id, message.result, message.error);
    if (message.kind === "notification" && message.method === "notifications/cancelled") this.#cancel(message.params["requestId"]);
    return Promise.resolve(message.kind === "invalid" ? rpcFault(message.id, INVALID_REQUEST, message.message) : null);
  }

  /** Runs a request, where somebody traces within its span: the span is the parent of whatever the request causes. */
  #traced({ id, method, params }: RpcRequest, hop: Hop, run: (params: JsonObject) => Promise<JsonObject | null>): Promise<JsonObject | null> {
    const meta = isObject(params["_meta"]) ? (params["_meta"] as JsonObject) : undefined;
    // Trace context in the message is nearer to the call than that of the HTTP hop.
    const span = startRequestSpan(id, method, params, meta && Object.hasOwn(meta, "traceparent") ? meta : hop.trace, {
      session: this.id,
      protocol: this.protocolVersion,
      transport: hop.transport,
    });
    if (span === null) return run(params);
    return run({ ...params, _meta: { ...meta, ...span.meta } }).then((response) => {
      span.end(faultOf(response));
      return response;
    });
  }

  async #request(id: RpcId, method: string, params: JsonObject, outlet: Outlet, abort: CancelSource): Promise<JsonObject | null> {
    const key = idKey(id);
    if (this.inFlight.has(key)) return rpcFault(id, INVALID_REQUEST, `a request with id ${stringifyExact(id)} is running already`);
    if (this.inFlight.size >= MAX_IN_FLIGHT) return rpcFault(id, INVALID_REQUEST, `more than ${MAX_IN_FLIGHT} requests of this session are running`);
    const flight: InFlight = { id, outlet, abort, speaker: null, telling: Promise.resolve() };
    this.inFlight.add(key, flight);
    try {
      const handler = this.#find(method);
      if (!handler) throw unknownMethod(method);
      const result = await handler(this, params, flight);
      await flight.telling;
      return abort.signal.aborted ? null : rpcResult(id, result);
    } catch (error) {
      await flight.telling;
      if (abort.signal.aborted) return null;
      const fault = error instanceof KitError ? refusal(error.toBody()) : error;
      const addresses = fault instanceof RpcError ? own(fault.data, "elicitations") : undefined;
      if (Array.isArray(addresses)) this.elicitations.note(addresses, flight.speaker);
      return fault instanceof RpcError ? rpcFault(id, fault.code, fault.message, fault.data) : rpcFault(id, INTERNAL_ERROR, messageOf(fault));
    } finally {
      this.inFlight.take(key);
    }
  }

  #cancel(requestId: unknown): void {
    if (isId(requestId)) this.inFlight.get(idKey(requestId))?.abort.abort();
  }

  /** Sends a notification on the session's own way. */
  notify(method: string, params?: JsonObject): void {
    if (!this.#closed) this.outlet.send(rpcNotification(method, params));
  }

  /** Whether the client declared any capability that servers may ask for. */
  get answersRequests(): boolean {
    return [...NEEDED_CAPABILITY.values()].some((name) => isObject(own(this.capabilities, name)));
  }

  /** Whether the client can have its person open an address (URL mode elicitation). */
  get opensAddresses(): boolean {
    return opensAddresses(this.capabilities);
  }

  /**
   * Asks the client, on the stream of the call that caused the request, and nowhere else. Rejects when the client did not declare
   * the capability, cannot be reached on that stream, refuses, or the call ends.
   */
  ask(request: ServerRequest, flight: InFlight, speaker = flight.speaker): Promise<JsonObject> {
    const capability = NEEDED_CAPABILITY.get(request.method);
    if (capability === undefined || !isObject(own(this.capabilities, capability)))
      return Promise.reject(new Error(`the calling client does not offer ${capability ?? request.method}`));
    if (request.method === "elicitation/create" && own(request.params, "mode") === "url") {
      if (!this.opensAddresses) return Promise.reject(new Error("the calling client opens no addresses (elicitation.url)"));
      this.elicitations.note([request.params], speaker);
    }
    return new Promise((resolve, reject) => {
      const id = `aurora-${(this.#nextId += 1)}`;
      const signals = [request.signal, flight.abort.signal];
      const give = (reason: string): void => {
        settle();
        flight.outlet.send(rpcNotification("notifications/cancelled", { requestId: id, reason }));
        reject(new Error(reason));
      };
      const onAbort = (): void => give("the call ended before the client answered");
      const settle = (): void => {
        this.#asked.delete(id);
        for (const signal of signals) signal.removeEventListener("abort", onAbort);
      };
      if (this.#closed || signals.some((signal) => signal.aborted)) return reject(new Error("the call has ended"));
      this.#asked.set(id, {
        resolve: (result) => (settle(), resolve(result)),
        reject: (error) => (settle(), reject(error)),
      });
      for (const signal of signals) signal.addEventListener("abort", onAbort);
      if (!flight.outlet.send({ jsonrpc: "2.0", id, method: request.method, params: request.params })) {
        settle();
        reject(new Error("the calling client takes no event stream, so it cannot be asked"));
      }
    });
  }

  #answered(id: RpcId, result: JsonObject | null, error: JsonObject | null): void {
    const waiting = this.#asked.get(id);
    if (result !== null) return waiting?.resolve(result);
    const message = error === null ? undefined : own(error, "message");
    waiting?.reject(new Error(`the calling client refused: ${typeof message === "string" ? message : "no reason given"}`));
  }

  /** Ends the session: every request of it is cancelled, every open question fails. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const flight of this.inFlight.values()) flight.abort.abort();
    for (const { reject } of this.#asked.values()) reject(new Error("the session ended"));
  }
}
