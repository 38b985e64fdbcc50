import { randomBytes } from "node:crypto";
import type { OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/sdk/client/auth.js";
import type { OAuthClientInformationMixed, OAuthClientMetadata } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { OAuthSettings } from "../../generated/app.d.ts";
import { messageOf } from "../base/errors.ts";
import { own } from "../base/json.ts";
import type { AppPlan, HttpSpec } from "../plan/types.ts";
import type { HostEnv } from "./child-environment.ts";
import type { HttpClient } from "./http-client.ts";
import { clientAuthentication, readChallenge, toStored } from "./oauth-authority.ts";
import type { Challenge } from "./oauth-authority.ts";
import { oauthFetch } from "./oauth-fetch.ts";
import { listenForRedirect } from "./oauth-redirect.ts";
import { isSameUrl, mayCarryTokens, oauthOf } from "./oauth-settings.ts";
import { OAuthStore } from "./oauth-store.ts";
import { httpClient } from "./open-http.ts";
import { plainLine } from "./plain-line.ts";
import { SentSecrets } from "./sent-secrets.ts";

/** What {@link login} needs of its host. */
export interface LoginOptions {
  readonly dataDir: string;
  readonly clientName: string;
  readonly hostEnv: HostEnv;
  /** Shows the address to the person; it is https, or http on loopback. */
  readonly openBrowser: (url: string) => void | Promise<void>;
  readonly signal: AbortSignal;
}

/** A sign-in that worked. */
export interface LoginResult {
  readonly issuer: string;
  readonly scope: string | null;
  /** Milliseconds since 1970. */
  readonly expiresAt: number | null;
}

/** The longest that a person may take. */
const LOGIN_MS = 10 * 60_000;

/**
 * Signs a person in to an http app (OAuth 2.1, authorization code with PKCE over a loopback redirect) and stores the tokens.
 * Throws an Error that says in words what went wrong; nothing is stored then.
 */
export async function login(plan: AppPlan, options: LoginOptions): Promise<LoginResult> {
  const { spec, settings } = oauthOf(plan);
  if (settings.grant === "client_credentials") throw new Error(`${plan.package} signs in by itself (grant: client_credentials); there is nothing to log in to`);
  const serverUrl = new URL(spec.url);
  const store = new OAuthStore(options.dataDir, spec.url);
  const secrets = new SentSecrets();
  const client = httpClient(spec, options.hostEnv, (request) => secrets.remember(request));
  const listener = await listenForRedirect(
    settings.redirect_port === undefined || settings.redirect_port === 0 ? [...registeredPorts(store), 0] : [settings.redirect_port],
  );
  try {
    const { auth } = await import("@modelcontextprotocol/sdk/client/auth.js");
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(LOGIN_MS)]);
    const challenge = await askChallenge(client, serverUrl, spec);
    const provider = new LoginProvider(settings, store, options.clientName, listener.url, await clientAuthentication(settings));
    const common = {
      serverUrl,
      fetchFn: oauthFetch(client, serverUrl),
      ...(challenge.resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    };
    const scope = wantedScopes(settings.scopes ?? challenge.scope?.split(" ") ?? [], store.read().wanted_scope?.split(" ") ?? []);
    await auth(provider, { ...common, ...(scope === undefined ? {} : { scope }) });
    const url = provider.authorizationUrl!;
    if (!mayCarryTokens(url, serverUrl))
      throw new Error(`the server wants the browser to open ${plainLine(url.href.slice(0, 100))}, which is not https; refused`);
    const answering = listener.answer(provider.expectedState, signal);
    // A rejection before it is awaited must not count as unhandled.
    answering.catch(() => {});
    await options.openBrowser(url.href);
    const answer = await answering;
    provider.checkIssuer(answer.issuer);
    await auth(provider, { ...common, authorizationCode: answer.code });
    const tokens = store.tokens();
    return { issuer: provider.issuer, scope: tokens?.scope ?? null, expiresAt: tokens?.expires_at ?? null };
  } catch (error) {
    throw new Error(`the sign-in to ${plan.package} failed: ${plainLine(secrets.text(messageOf(error)))}`, { cause: error });
  } finally {
    listener.close();
    client.close();
  }
}

/** One sign-in as the SDK's `auth` sees it: it never finds old tokens, so that it always starts anew. */
class LoginProvider implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly expectedState = randomBytes(32).toString("hex");
  readonly clientMetadataUrl?: string;
  readonly addClientAuthentication?: NonNullable<OAuthClientProvider["addClientAuthentication"]>;
  authorizationUrl: URL | null = null;
  readonly #settings: OAuthSettings;
  readonly #store: OAuthStore;
  readonly #clientName: string;
  #discovered: OAuthDiscoveryState | null = null;
  #verifier = "";

  constructor(
    settings: OAuthSettings,
    store: OAuthStore,
    clientName: string,
    redirectUrl: string,
    authentication: Pick<OAuthClientProvider, "addClientAuthentication">,
  ) {
    this.#settings = settings;
    this.#store = store;
    this.#clientName = clientName;
    this.redirectUrl = redirectUrl;
    if (settings.client_metadata_url !== undefined) this.clientMetadataUrl = settings.client_metadata_url;
    if (authentication.addClientAuthentication !== undefined) this.addClientAuthentication = authentication.addClientAuthentication;
  }

  get issuer(): string {
    return this.#discovered!.authorizationServerUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scopes, client_secret: secret } = this.#settings;
    return {
      client_name: this.#clientName,
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: secret === undefined ? "none" : "client_secret_basic",
      ...{ application_type: "native" },
      ...(scopes === undefined ? {} : { scope: scopes.join(" ") }),
    };
  }

  state(): string {
    return this.expectedState;
  }

  /** Called by the SDK after discovery: the place to check whom we are dealing with. */
  saveDiscoveryState(found: OAuthDiscoveryState): void {
    this.#discovered = found;
    const { authorizationServerUrl: issuer, authorizationServerMetadata: metadata } = found;
    const wanted = this.#settings.issuer;
    if (wanted !== undefined && !isSameUrl(wanted, issuer))
      throw new Error(`the server names the authorization server ${issuer}, but mcp.auth.oauth.issuer is ${wanted}`);
    if (metadata === undefined) return;
    if (!isSameUrl(metadata.issuer, issuer) && !isOwnRootMetadata(found))
      throw new Error(`the metadata of ${issuer} is that of another issuer, ${metadata.issuer}`);
    if (metadata.code_challenge_methods_supported?.includes("S256") !== true)
      throw new Error(`${issuer} does not say that it supports PKCE with S256 (code_challenge_methods_supported)`);
    const bound = own(this.#store.of(issuer).client, "issuer");
    const others = Object.keys(this.#store.read().issuers).filter((known) => !isSameUrl(known, issuer));
    if (this.#settings.client_id !== undefined && wanted === undefined && bound === undefined && others.length > 0) {
      throw new Error(
        `the server now names another authorization server, ${issuer} (before: ${others.join(", ")}); the configured client is not shown to it. If that is right, set mcp.auth.oauth.issuer`,
      );
    }
  }

  /** The code goes to whom it came from, whatever the server names by then. */
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered ?? undefined;
  }

  /** RFC 9207: the answer must come from whom it was asked of. Throws otherwise. */
  checkIssuer(answered: string | null): void {
    const metadata = this.#discovered?.authorizationServerMetadata;
    const promised = own(metadata, "authorization_response_iss_parameter_supported") === true;
    if (answered === null) {
      if (promised) throw new Error("the answer does not name its issuer (iss), although the authorization server promises that");
      return;
    }
    const expected = metadata?.issuer ?? this.issuer;
    if (answered !== expected) throw new Error(`the answer comes from ${answered}, not from ${expected}`);
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    const { client_id: id, client_secret: secret, issuer } = this.#settings;
    if (id !== undefined)
      return {
        client_id: id,
        ...(secret === undefined ? {} : { client_secret: secret }),
        ...(issuer === undefined ? {} : { issuer: this.#discovered?.authorizationServerUrl ?? issuer }),
      };
    const stored = this.#discovered === null ? undefined : this.#store.of(this.issuer).client;
    const uris = own(stored, "redirect_uris");
    // A registration for another port is of no use; a client-id document has no list here.
    return stored !== undefined && (uris === undefined || (Array.isArray(uris) && uris.includes(this.redirectUrl)))
      ? (stored as unknown as OAuthClientInformationMixed)
      : undefined;
  }

  saveClientInformation(information: OAuthClientInformationMixed): void {
    const { client_secret: secret, ...rest } = information;
    // A configured secret stays in the configuration.
    const kept = this.#settings.client_id !== undefined || secret === undefined ? rest : { ...rest, client_secret: secret };
    this.#store.update(this.issuer, { client: kept });
  }

  tokens(): undefined {
    return undefined;
  }

  saveTokens(tokens: Parameters<OAuthClientProvider["saveTokens"]>[0]): void {
    this.#store.update(this.issuer, { tokens: toStored(tokens) });
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }
}

function wantedScopes(...lists: readonly (readonly string[])[]): string | undefined {
  const scopes = [...new Set(lists.flat())].filter((scope) => scope !== "");
  return scopes.length === 0 ? undefined : scopes.join(" ");
}

/** Asks the server, not signed in, how it wants a client to sign in. */
async function askChallenge(client: HttpClient, serverUrl: URL, spec: HttpSpec): Promise<Challenge> {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "sign-in", version: "1" } },
  });
  const response = await client.send(serverUrl, {
    method: "POST",
    headers: { ...spec.headers, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body,
    signal: AbortSignal.timeout(30_000),
  });
  response.body.destroy();
  return response.status === 401 ? await readChallenge(response.headers) : {};
}

/** Loopback ports of earlier registrations: using one again saves a new registration. */
function registeredPorts(store: OAuthStore): number[] {
  const ports: number[] = [];
  for (const { client } of Object.values(store.read().issuers)) {
    const uris = own(client, "redirect_uris");
    if (Array.isArray(uris)) for (const uri of uris) if (typeof uri === "string" && URL.canParse(uri)) ports.push(Number(new URL(uri).port));
  }
  return ports.filter((port) => port > 0);
}

/**
 * Whether these are the metadata at the root of an MCP server that names no authorization server, as revision 2025-03-26 has it. Their issuer may
 * have a path of its own; another origin stays refused, since then it would be another party.
 */
function isOwnRootMetadata({ authorizationServerUrl: root, authorizationServerMetadata: metadata, resourceMetadata }: OAuthDiscoveryState): boolean {
  return resourceMetadata === undefined && metadata !== undefined && URL.canParse(metadata.issuer) && new URL(metadata.issuer).origin === new URL(root).origin;
}
