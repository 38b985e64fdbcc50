import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "../base/json.ts";
import type { Principal } from "../base/principal.ts";
import type { RequestContext } from "./route.ts";

/** What a handler sees; the signal is made when somebody asks, because it costs more than the rest of a fast route. */
export class Context implements RequestContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly params: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  readonly body: Json;
  readonly principal: Principal;
  readonly closing: AbortSignal;
  #signal: AbortSignal | null = null;

  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    params: ReadonlyMap<string, string>,
    query: URLSearchParams,
    body: Json,
    principal: Principal,
    closing: AbortSignal,
  ) {
    this.req = req;
    this.res = res;
    this.params = params;
    this.query = query;
    this.body = body;
    this.principal = principal;
    this.closing = closing;
  }

  get signal(): AbortSignal {
    if (this.#signal) return this.#signal;
    const { res } = this;
    const abort = new AbortController();
    const leave = (): void => {
      if (!res.writableFinished) abort.abort();
    };
    if (res.destroyed) leave();
    else res.on("close", leave);
    this.#signal = abort.signal;
    return abort.signal;
  }
}
