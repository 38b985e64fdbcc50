import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json, JsonObject } from "../base/json.ts";
import type { Principal } from "../base/principal.ts";

/** What a handler sees of one request. */
export interface RequestContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Values of `{name}` in the path, decoded. */
  readonly params: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  /** The parsed body; null for routes without one. */
  readonly body: Json;
  readonly principal: Principal;
  /** Aborted when the client goes away before the answer is out. */
  readonly signal: AbortSignal;
  /** Aborted when the server closes; streams that wait for events end then. */
  readonly closing: AbortSignal;
}

/** A handler's answer. `json` is sent as JSON, `text` as it is with `type`. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
  readonly type?: string;
}

export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  readonly values?: readonly string[];
}

/** One row of the route table; the OpenAPI document is made from the same rows. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** Exact path; a segment `{name}` matches one non-empty segment. */
  readonly path: string;
  /** `public` needs no token; `caller` any; `operator` the operator's. */
  readonly role: "public" | "caller" | "operator";
  readonly group: string;
  readonly summary: string;
  readonly query?: readonly QueryParameter[];
  /** JSON Schema of the body. A route without one reads no body. */
  readonly body?: JsonObject;
  /** Refusals before its handler are JSON-RPC errors; of all rows with the path, or none. */
  readonly rpc?: true;
  /** Media type and meaning of the 200 answer. */
  readonly answer: { readonly type: string; readonly description: string; readonly schema?: JsonObject };
  /** Gives the answer; undefined when it has written to `res` itself. */
  handle(context: RequestContext): Reply | undefined | Promise<Reply | undefined>;
}

/** A found route with its path values; or the methods that the path has; or nothing. */
export type RouteMatch = { readonly route: Route; readonly params: ReadonlyMap<string, string> } | { readonly allow: readonly string[] } | null;

const NO_PARAMS: ReadonlyMap<string, string> = new Map();

/** Makes the look-up of a route table. Throws for two rows with the same method and path. */
export function compileRoutes(routes: readonly Route[]): (method: string, path: string) => RouteMatch {
  const literal = new Map<string, Map<string, Route>>();
  const patterns: { segments: string[]; methods: Map<string, Route> }[] = [];
  const byPath = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    let methods = byPath.get(route.path);
    if (!methods) {
      methods = new Map();
      byPath.set(route.path, methods);
      if (route.path.includes("{")) patterns.push({ segments: route.path.split("/"), methods });
      else literal.set(route.path, methods);
    }
    if (methods.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
    methods.set(route.method, route);
  }
  const pick = (methods: ReadonlyMap<string, Route>, method: string, params: ReadonlyMap<string, string>): RouteMatch => {
    const route = methods.get(method);
    return route ? { route, params } : { allow: [...methods.keys()].sort() };
  };
  return (method, path) => {
    const exact = literal.get(path);
    if (exact) return pick(exact, method, NO_PARAMS);
    const segments = path.split("/");
    for (const pattern of patterns) {
      const params = matchSegments(pattern.segments, segments);
      if (params) return pick(pattern.methods, method, params);
    }
    return null;
  };
}

function matchSegments(pattern: readonly string[], path: readonly string[]): ReadonlyMap<string, string> | null {
  if (pattern.length !== path.length) return null;
  const params = new Map<string, string>();
  for (const [i, part] of pattern.entries()) {
    const value = path[i]!;
    if (!part.startsWith("{")) {
      if (part !== value) return null;
      continue;
    }
    try {
      params.set(part.slice(1, -1), decodeURIComponent(value));
    } catch {
      return null;
    }
    if (value === "") return null;
  }
  return params;
}
