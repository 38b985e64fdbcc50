import type { Clock } from "../base/clock.ts";
import { isObject } from "../base/json.ts";
import type { JsonObject } from "../base/json.ts";
import type { AppPlan } from "../plan/types.ts";
import { LinkError } from "../runtime/ports.ts";
import type { Connection, ConnectionHooks, ServerRequest } from "../runtime/ports.ts";
import { taskOf } from "../calls/related-task.ts";
import { clientCapabilities } from "./client-capabilities.ts";
import { McpConnection } from "./connection.ts";
import { shakeHands } from "./handshake.ts";
import type { Session } from "./handshake.ts";
import type { ListLimits } from "./list-pages.ts";
import type { Debt } from "./owed-answers.ts";
import { plainLine } from "./plain-line.ts";
import { RpcLane } from "./rpc-lane.ts";
import { startErrorOf } from "./start-error.ts";
import type { OpenedWire, WireMessage } from "./wire.ts";

/** What {@link establish} needs. */
export interface EstablishOptions {
  readonly plan: AppPlan;
  readonly scope: string;
  readonly hooks: ConnectionHooks;
  readonly signal: AbortSignal;
  readonly opened: OpenedWire;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Milliseconds until the start must be done. */
  readonly timeLeft: () => number;
  readonly limits: () => ListLimits;
  /** Protocol revision to ask for first. */
  readonly version: string;
  readonly onVersion: (version: string) => void;
  readonly clock: Clock;
}

const METHOD_NOT_FOUND = -32601;
const EARLY_KEPT = 100;
/** Requests of the server that may be open at the same time. */
const MAX_ASKED = 100;

/** Starts a wire and initialises the server on it. Throws StartError and leaves nothing running. */
export async function establish(options: EstablishOptions): Promise<Connection> {
  const { plan, hooks, signal, opened, timeLeft } = options;
  const { wire } = opened;
  const { capabilities, methods } = clientCapabilities(plan.grants, hooks.clientCapabilities);
  const note = (text: string): void => hooks.onLog?.(text, "kit");
  const startedAt = options.clock.monotonic();
  let connection: McpConnection | null = null;
  let early: WireMessage[] = [];
  const lane = new RpcLane(
    wire,
    {
      request: (message) => {
        // Answered at once: a server may ping before it answers initialize.
        if (message["method"] === "ping") void lane.respond({ jsonrpc: "2.0", id: message["id"] as number, result: {} });
        else if (connection !== null) connection.session.deliver(message);
        else if (early.length < EARLY_KEPT) early.push(message);
      },
      notification: (method, params) =>
        connection === null ? early.length < EARLY_KEPT && early.push({ method, params }) : connection.deliverNotification(method, params),
      closed: (reason) => connection?.deliverClosed(reason),
      protocolError: (message) => hooks.onProtocolError?.(message),
      note,
    },
    options.clock,
  );
  let asked = 0;
  const onRequest = async (request: ServerRequest): Promise<JsonObject> => {
    if (methods.has(request.method) && hooks.onServerRequest !== undefined) {
      if (asked >= MAX_ASKED) throw new Error(`${MAX_ASKED} requests of this server already wait for an answer`);
      asked += 1;
      const over = new AbortController();
      const task = taskOf(request.params);
      const debt: Debt = { method: request.method, task, approvalId: null };
      // A task outlives the request that made it.
      const settle = lane.owe(debt, () => task === null && over.abort(new Error("the call that it belongs to has ended")));
      try {
        const signal = AbortSignal.any([request.signal, over.signal]);
        return await hooks.onServerRequest({ ...request, signal, onApproval: (id) => (debt.approvalId = id) });
      } finally {
        settle();
        asked -= 1;
      }
    }
    note(`the server asked for ${plainLine(request.method)}, which is not granted to it; refused`);
    throw Object.assign(new Error(`Method not found: ${request.method}`), { code: METHOD_NOT_FOUND });
  };
  const open = (version: string): Promise<Session> =>
    shakeHands({ lane, wire, clientInfo: options.clientInfo, capabilities, version, timeoutMs: timeLeft(), signal, onNote: note, onRequest });
  const onAbort = (): void => void wire.close({ force: true });
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await wire.start();
    const session = await open(options.version);
    const { protocolVersion } = session.hello;
    options.onVersion(protocolVersion);
    const renew = async (): Promise<Session> => {
      opened.sessions!.forget();
      return await shakeHands({
        lane,
        wire,
        clientInfo: options.clientInfo,
        capabilities,
        version: protocolVersion,
        timeoutMs: plan.startTimeoutMs,
        signal: AbortSignal.timeout(plan.startTimeoutMs),
        onNote: note,
        onRequest,
      });
    };
    const ready = new McpConnection({
      app: plan.package,
      scope: options.scope,
      transport: opened.transport,
      pid: opened.pid,
      wire,
      lane,
      session,
      limits: options.limits,
      renew: opened.sessions === null ? null : renew,
      onNote: note,
    });
    if (signal.aborted) throw new LinkError("cancelled", "cancelled");
    connection = ready;
    opened.sessions?.onLost(() => ready.sessionLost());
    const waiting = early;
    early = [];
    for (const message of waiting) {
      if (message["id"] !== undefined) session.deliver(message);
      else ready.deliverNotification(message["method"] as string, isObject(message["params"]) ? (message["params"] as JsonObject) : {});
    }
    return ready;
  } catch (error) {
    const elapsedMs = options.clock.monotonic() - startedAt;
    await wire.close({ force: signal.aborted });
    throw startErrorOf(error, { plan, opened, aborted: signal.aborted, elapsedMs });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
