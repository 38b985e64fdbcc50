import type { Readable, Writable } from "node:stream";
import type { Json } from "../base/json.ts";
import type { Principal } from "../base/principal.ts";
import type { Gateway } from "./gateway.ts";
import { INVALID_REQUEST, readMessage, rpcFault, rpcResult, RpcError, secondInitialize } from "./gateway-rpc.ts";
import type { GatewaySession } from "./gateway-session.ts";
import { openLines } from "./serve-lines.ts";

export interface ServeStdioOptions {
  readonly gateway: Gateway;
  /** Whom the one client counts as. */
  readonly principal: Principal;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Serves the aggregate MCP server to the one client that started this process. Resolves when the client has gone and its session is over. */
export async function serveStdio(options: ServeStdioOptions): Promise<void> {
  const { gateway, principal } = options;
  let session: GatewaySession | null = null;

  const take = async (value: Json): Promise<void> => {
    const message = readMessage(value);
    if (message.kind === "request" && message.method === "initialize") {
      try {
        if (session) return lines.write(secondInitialize(message.id));
        const opened = gateway.open(message.params, principal, outlet);
        session = opened.session;
        lines.write(rpcResult(message.id, opened.result));
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        lines.write(rpcFault(message.id, error.code, error.message, error.data));
      }
      return;
    }
    if (session) {
      const response = await session.handle(value, outlet);
      if (response) lines.write(response);
    } else if (message.kind === "request") {
      lines.write(message.method === "ping" ? rpcResult(message.id, {}) : rpcFault(message.id, INVALID_REQUEST, "begin with initialize"));
    } else if (message.kind === "invalid") {
      lines.write(rpcFault(message.id, INVALID_REQUEST, message.message));
    }
  };
  const lines = openLines(options.input, options.output, options.signal, (message) => void take(message));
  const outlet = { send: (message: Parameters<typeof lines.write>[0]) => (lines.write(message), true) };
  await lines.ended;
  if (session) await gateway.end(session);
}
