import { KitError, messageOf } from "../base/errors.ts";
import { isObject, own } from "../base/json.ts";
import { INTERNAL_ERROR, INVALID_REQUEST, readMessage, rpcFault, rpcNotification, rpcResult, RpcError } from "./gateway-rpc.ts";
import { refusal, unknownMethod } from "./gateway-results.ts";
/** Requests of one session that may run at once. */
const MAX_IN_FLIGHT = 256;
/** What a server-to-client method needs the client to have declared. */
const NEEDED_CAPABILITY = new Map([
    ["sampling/createMessage", "sampling"],
    ["elicitation/create", "elicitation"],
    ["roots/list", "roots"],
]);
/** One MCP session of a gateway client, whatever the transport: requests in, responses out, and the way back to the client. */
export class GatewaySession {
    id;
    outlet;
    /** The newest principal that proved itself; always of the same client. */
    principal;
    protocolVersion = "";
    capabilities = {};
    /** Least severe log messages that the client wants. */
    logLevel = "info";
    subscriptions = new Set();
    /** Conversations that calls of this session belonged to. */
    conversations;
    inFlight = new Map();
    #find;
    #asked = new Map();
    #nextId = 0;
    #closed = false;
    constructor(options) {
        this.id = options.id;
        this.principal = options.principal;
        this.outlet = options.outlet;
        this.conversations = new Set([options.id]);
        this.#find = options.find;
    }
    get closed() {
        return this.#closed;
    }
    /** Takes one message. Gives the response of a request, or null where there is none: a notification, a response, a cancelled request. Never throws. */
    async handle(value, outlet, abort = new AbortController()) {
        const message = readMessage(value);
        switch (message.kind) {
            case "invalid":
                return rpcFault(message.id, INVALID_REQUEST, message.message);
            case "response":
                this.#answered(message.id, message.result, message.error);
                return null;
            case "notification":
                if (message.method === "notifications/cancelled")
                    this.#cancel(message.params["requestId"]);
                return null;
            case "request":
                return this.#request(message.id, message.method, message.params, outlet, abort);
        }
    }
    async #request(id, method, params, outlet, abort) {
        if (this.inFlight.has(id))
            return rpcFault(id, INVALID_REQUEST, `a request with id ${JSON.stringify(id)} is running already`);
        if (this.inFlight.size >= MAX_IN_FLIGHT)
            return rpcFault(id, INVALID_REQUEST, `more than ${MAX_IN_FLIGHT} requests of this session are running`);
        const flight = { id, outlet, abort, app: null };
        this.inFlight.set(id, flight);
        try {
            const handler = this.#find(method);
            if (!handler)
                throw unknownMethod(method);
            const result = await handler(this, params, flight);
            return abort.signal.aborted ? null : rpcResult(id, result);
        }
        catch (error) {
            if (abort.signal.aborted)
                return null;
            const fault = error instanceof KitError ? refusal(error.toBody()) : error;
            return fault instanceof RpcError ? rpcFault(id, fault.code, fault.message, fault.data) : rpcFault(id, INTERNAL_ERROR, messageOf(fault));
        }
        finally {
            this.inFlight.delete(id);
        }
    }
    #cancel(requestId) {
        if (typeof requestId === "string" || typeof requestId === "number")
            this.inFlight.get(requestId)?.abort.abort();
    }
    /** Sends a notification on the session's own way. */
    notify(method, params) {
        if (!this.#closed)
            this.outlet.send(rpcNotification(method, params));
    }
    /** Whether the client declared any capability that servers may ask for. */
    get answersRequests() {
        return [...NEEDED_CAPABILITY.values()].some((name) => isObject(own(this.capabilities, name)));
    }
    /**
     * Asks the client, on the stream of the call that caused the request, and nowhere else. Rejects when the client did not declare
     * the capability, cannot be reached on that stream, refuses, or the call ends.
     */
    ask(request, flight) {
        const capability = NEEDED_CAPABILITY.get(request.method);
        if (capability === undefined || !isObject(own(this.capabilities, capability)))
            return Promise.reject(new Error(`the calling client does not offer ${capability ?? request.method}`));
        return new Promise((resolve, reject) => {
            const id = `aurora-${(this.#nextId += 1)}`;
            const signals = [request.signal, flight.abort.signal];
            const give = (reason) => {
                settle();
                flight.outlet.send(rpcNotification("notifications/cancelled", { requestId: id, reason }));
                reject(new Error(reason));
            };
            const onAbort = () => give("the call ended before the client answered");
            const settle = () => {
                this.#asked.delete(id);
                for (const signal of signals)
                    signal.removeEventListener("abort", onAbort);
            };
            if (this.#closed || signals.some((signal) => signal.aborted))
                return reject(new Error("the call has ended"));
            this.#asked.set(id, {
                resolve: (result) => (settle(), resolve(result)),
                reject: (error) => (settle(), reject(error)),
            });
            for (const signal of signals)
                signal.addEventListener("abort", onAbort);
            if (!flight.outlet.send({ jsonrpc: "2.0", id, method: request.method, params: request.params })) {
                settle();
                reject(new Error("the calling client takes no event stream, so it cannot be asked"));
            }
        });
    }
    #answered(id, result, error) {
        const waiting = this.#asked.get(id);
        if (result !== null)
            return waiting?.resolve(result);
        const message = error === null ? undefined : own(error, "message");
        waiting?.reject(new Error(`the calling client refused: ${typeof message === "string" ? message : "no reason given"}`));
    }
    /** Ends the session: every request of it is cancelled, every open question fails. */
    close() {
        if (this.#closed)
            return;
        this.#closed = true;
        for (const flight of this.inFlight.values())
            flight.abort.abort();
        for (const { reject } of [...this.#asked.values()])
            reject(new Error("the session ended"));
    }
}
