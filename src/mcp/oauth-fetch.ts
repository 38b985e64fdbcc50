import { LinkError } from "../runtime/ports.ts";
import { readBody } from "./http-client.ts";
import type { HttpClient } from "./http-client.ts";
import { mayCarryTokens } from "./oauth-settings.ts";

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** The `fetch` that the SDK's OAuth functions use: the app's own TLS settings and proxies, https only (plain http between two ends on this machine), bounded in size and time; `until` ends them earlier. */
export function oauthFetch(client: HttpClient, serverUrl: URL, until?: AbortSignal): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (input, init = {}) => {
    const url = new URL(input);
    if (!mayCarryTokens(url, serverUrl))
      throw new LinkError("unauthorized", `the sign-in would go to ${url.origin}, which is not https (or is this machine, for a server elsewhere); refused`);
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    const body = typeof init.body === "string" ? init.body : init.body instanceof URLSearchParams ? init.body.toString() : undefined;
    const response = await client.send(url, {
      method: init.method === "POST" ? "POST" : "GET",
      headers,
      signal: until === undefined ? AbortSignal.timeout(TIMEOUT_MS) : AbortSignal.any([until, AbortSignal.timeout(TIMEOUT_MS)]),
      ...(body === undefined ? {} : { body }),
    });
    const text = await readBody(response, MAX_BYTES);
    const { status } = response;
    return new Response(status === 204 || status === 304 ? null : text, {
      status: status < 200 ? 502 : status,
      headers: { "content-type": response.headers["content-type"] ?? "application/json" },
    });
  };
}
