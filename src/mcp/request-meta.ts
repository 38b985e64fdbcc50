import { isObject, own, type JsonObject } from "../base/json.ts";
import type { RequestOptions } from "../runtime/ports.ts";

/** Methods whose work may take long: the server is always told where to send progress, and may ask the client something. */
const LONG_WORK = new Set(["tools/call", "resources/read", "prompts/get", "tasks/result"]);

/** Whether a request may take long, and may cause requests of the server. */
export function isLongWork(method: string): boolean {
  return LONG_WORK.has(method);
}

/** The params of a request with its `_meta`: the caller's members, and where to send progress. */
export function withMeta(method: string, params: JsonObject, options: RequestOptions, id: number): JsonObject {
  const withToken = options.onProgress !== undefined || (isLongWork(method) && method !== "tasks/result");
  if (!withToken && options.meta === undefined) return params;
  const before = params["_meta"];
  // Nearly all requests; a spread costs many times as much.
  if (before === undefined && options.meta === undefined) return Object.assign({}, params, { _meta: { progressToken: id } });
  // A token that the caller chose itself wins: that of a task outlives its request.
  const token = withToken ? { progressToken: own(before, "progressToken") ?? id } : {};
  return { ...params, _meta: { ...(isObject(before) ? (before as JsonObject) : {}), ...options.meta, ...token } as JsonObject };
}
