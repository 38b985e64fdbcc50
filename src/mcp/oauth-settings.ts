import type { OAuthSettings } from "../../generated/app.d.ts";
import type { AppPlan, HttpSpec } from "../plan/types.ts";
import { StartError } from "../runtime/ports.ts";
import { isLoopback } from "./http-proxy.ts";

/** The http side of a plan that signs in by OAuth. Throws a StartError in words for any other app. */
export function oauthOf(plan: AppPlan): { readonly spec: HttpSpec; readonly settings: OAuthSettings } {
  const spec = plan.connect;
  if (spec.transport !== "http" || spec.oauth === null)
    throw new StartError(`${plan.package} does not sign in by OAuth; add mcp.auth.oauth to use a sign-in`, { retry: false });
  return { spec, settings: spec.oauth as OAuthSettings };
}

/** Whether a URL may carry sign-in traffic: https, or plain http between two ends on this machine. */
export function mayCarryTokens(url: URL, serverUrl: URL): boolean {
  // A remote server must not send this client to services on its own machine.
  if (isLoopback(url.hostname) && !isLoopback(serverUrl.hostname)) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}

/** Whether two URLs mean the same, but for a slash at the end. */
export function isSameUrl(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).href.replace(/\/$/, "") === new URL(b).href.replace(/\/$/, "");
}
