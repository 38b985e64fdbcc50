import type { AuthorizationServerMetadata } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { OAuthSettings } from "../../generated/app.d.ts";
import { messageOf } from "../base/errors.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";
import type { AppPlan } from "../plan/types.ts";
import type { HostEnv } from "./child-environment.ts";
import { clientAuthentication, clientInformation } from "./oauth-authority.ts";
import { oauthFetch } from "./oauth-fetch.ts";
import { isSameUrl, oauthOf } from "./oauth-settings.ts";
import { OAuthStore, type StoredTokens } from "./oauth-store.ts";
import { httpClient } from "./open-http.ts";
import { plainLine } from "./plain-line.ts";
import { SentSecrets } from "./sent-secrets.ts";

/** What {@link logout} needs of its host. */
export interface LogoutOptions {
  readonly dataDir: string;
  readonly hostEnv: HostEnv;
  /** Ends the talk with the authorization server; the tokens are forgotten all the same. */
  readonly signal: AbortSignal;
}

/** What became of a sign-out. */
export interface LogoutResult {
  /** Whether there was anything to forget. */
  readonly forgotten: boolean;
  /** Whether every authorization server took its tokens back; null where there were no tokens. */
  readonly revoked: boolean | null;
  /** Why tokens still count until they end, in words; empty when none does. */
  readonly problems: readonly string[];
}

/** How long all authorization servers together may take, in milliseconds. */
const REVOKE_MS = 10_000;

type Fetch = ReturnType<typeof oauthFetch>;

/**
 * Asks the authorization servers to take their tokens back (RFC 7009), for ten seconds at most, then forgets all credentials of an http
 * app, however that went. Tokens go only to the server that gave them.
 */
export async function logout(plan: AppPlan, options: LogoutOptions): Promise<LogoutResult> {
  const { spec, settings } = oauthOf(plan);
  const store = new OAuthStore(options.dataDir, spec.url);
  if (holders(store).length === 0) return { forgotten: store.clear(), revoked: null, problems: [] };
  const secrets = new SentSecrets();
  const client = httpClient(spec, options.hostEnv, (request) => secrets.remember(request));
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(REVOKE_MS)]);
  const fetchFn = oauthFetch(client, new URL(spec.url), signal);
  const why = (error: unknown): string => plainLine(signal.aborted ? lateness(options.signal) : secrets.text(messageOf(error)));
  try {
    // A host that renews at this moment must not put new tokens in the place of those that are given back.
    const problems = await store.locked(() =>
      Promise.all(
        holders(store).map(({ issuer, tokens }) => revoke(issuer, tokens, settings, store, fetchFn).catch((error: unknown) => `${issuer}: ${why(error)}`)),
      ),
    );
    const told = problems.filter((problem) => problem !== null);
    return { forgotten: true, revoked: told.length === 0, problems: told };
  } catch (error) {
    return { forgotten: true, revoked: false, problems: [why(error)] };
  } finally {
    store.clear();
    client.close();
  }
}

/** The authorization servers whose tokens are kept. */
function holders(store: OAuthStore): { readonly issuer: string; readonly tokens: StoredTokens }[] {
  return Object.entries(store.read().issuers).flatMap(([issuer, { tokens }]) => (tokens === undefined ? [] : [{ issuer, tokens }]));
}

function lateness(stopped: AbortSignal): string {
  return stopped.aborted ? "stopped before it answered" : `no answer within ${REVOKE_MS / 1000}s`;
}

/** Takes the tokens of one issuer back; gives why some still count, or null. */
async function revoke(issuer: string, tokens: StoredTokens, settings: OAuthSettings, store: OAuthStore, fetchFn: Fetch): Promise<string | null> {
  const metadata = await readMetadata(issuer, fetchFn);
  const named = textOf(metadata, "issuer");
  if (named !== null && !isSameUrl(named, issuer) && originOf(named) !== originOf(issuer))
    return `${issuer}: its metadata are those of another issuer, ${plainLine(named)}; the tokens are not sent there`;
  const endpoint = textOf(metadata, "revocation_endpoint");
  if (metadata === null || endpoint === null) return `${issuer} offers no way to revoke tokens`;
  const send = (token: string, hint: "refresh_token" | "access_token"): Promise<string | null> =>
    revokeOne(new URL(endpoint), new URLSearchParams({ token, token_type_hint: hint }), { issuer, metadata, settings, store, fetchFn });
  // The refresh token first: with it, most servers end the access tokens that came of it too.
  const refresh = tokens.refresh_token === undefined ? null : await send(tokens.refresh_token, "refresh_token");
  const access = await send(tokens.access_token, "access_token");
  // A server may take back refresh tokens alone; what is left ends by itself soon.
  if (refresh === null && access === UNSUPPORTED && tokens.refresh_token !== undefined) return null;
  const problem = refresh ?? access;
  return problem === null ? null : `${issuer} refused to revoke the ${refresh === null ? "access" : "refresh"} token: ${problem}`;
}

/** The metadata of an authorization server as they are; the SDK's reader leaves the revocation out of OpenID metadata. */
async function readMetadata(issuer: string, fetchFn: Fetch): Promise<JsonObject | null> {
  const { buildDiscoveryUrls } = await import("@modelcontextprotocol/sdk/client/auth.js");
  for (const { url } of buildDiscoveryUrls(issuer)) {
    const response = await fetchFn(url, { headers: { accept: "application/json" } });
    const value: unknown = response.ok ? await response.json().catch(() => null) : null;
    if (isObject(value)) return value as JsonObject;
  }
  return null;
}

const UNSUPPORTED = "HTTP 400 unsupported_token_type";

/** Null when the token counts no more, also where the server did not know it. What the server says is not repeated, for it may hold the token. */
async function revokeOne(
  endpoint: URL,
  params: URLSearchParams,
  from: {
    readonly issuer: string;
    readonly metadata: JsonObject;
    readonly settings: OAuthSettings;
    readonly store: OAuthStore;
    readonly fetchFn: Fetch;
  },
): Promise<string | null> {
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded", accept: "application/json" });
  await authenticate(headers, params, endpoint, from);
  const response = await from.fetchFn(endpoint, { method: "POST", headers, body: params });
  if (response.ok) return null;
  const code = own(await response.json().catch(() => null), "error");
  return `HTTP ${response.status}${typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? ` ${code}` : ""}`;
}

/** The client proves itself as at the token endpoint: by private key, by secret, or by its name alone. */
async function authenticate(
  headers: Headers,
  params: URLSearchParams,
  endpoint: URL,
  { issuer, metadata, settings, store }: Parameters<typeof revokeOne>[2],
): Promise<void> {
  const { addClientAuthentication } = await clientAuthentication(settings);
  if (addClientAuthentication !== undefined) return addClientAuthentication(headers, params, endpoint, metadata as unknown as AuthorizationServerMetadata);
  const { selectClientAuthMethod } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const client = clientInformation(settings, store, issuer);
  const supported = own(metadata, "revocation_endpoint_auth_methods_supported") ?? own(metadata, "token_endpoint_auth_methods_supported");
  const methods = Array.isArray(supported) ? supported.filter((method) => typeof method === "string") : [];
  const secret = client.client_secret;
  if (secret !== undefined && selectClientAuthMethod(client, methods) === "client_secret_basic")
    return headers.set("authorization", `Basic ${Buffer.from(`${client.client_id}:${secret}`).toString("base64")}`);
  params.set("client_id", client.client_id);
  if (secret !== undefined) params.set("client_secret", secret);
}

function textOf(metadata: JsonObject | null, key: string): string | null {
  const value = own(metadata, key);
  return typeof value === "string" ? value : null;
}

function originOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).origin : null;
}
