import type { IncomingHttpHeaders } from "node:http";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type { OAuthClientInformationMixed } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { OAuthSettings } from "../../generated/app.d.ts";
import { messageOf } from "../base/errors.ts";
import { LinkError } from "../runtime/ports.ts";
import type { HttpClient, HttpResponse } from "./http-client.ts";
import type { HttpAuthority } from "./http-session.ts";
import { oauthFetch } from "./oauth-fetch.ts";
import { MachineProvider } from "./oauth-machine.ts";
import type { OAuthStore, StoredTokens } from "./oauth-store.ts";
import { plainLine } from "./plain-line.ts";

/** What an {@link OAuthAuthority} signs in for. */
export interface AuthorityOptions {
  readonly app: string;
  readonly serverUrl: URL;
  readonly settings: OAuthSettings;
  readonly store: OAuthStore;
  readonly client: HttpClient;
  readonly clientName: string;
}

/** What a 401 or 403 says about how to sign in. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
  readonly error?: string;
}

/** A token is renewed this long before it ends. */
const EARLY_MS = 30_000;

/** Signs requests in with stored tokens and renews them: once for all calls of this process that were refused, and once for all processes with the same store. */
export class OAuthAuthority implements HttpAuthority {
  readonly #options: AuthorityOptions;
  #renewal: Promise<void> | null = null;
  #machine: MachineProvider | null = null;

  constructor(options: AuthorityOptions) {
    this.#options = options;
  }

  async headers(): Promise<Record<string, string>> {
    let tokens = await this.#tokens();
    if (tokens?.expires_at !== undefined && tokens.expires_at - EARLY_MS < Date.now() && (tokens.refresh_token !== undefined || this.#signsInItself)) {
      await this.#renew(tokens.access_token, {});
      tokens = await this.#tokens();
    }
    return tokens === undefined ? {} : { authorization: `Bearer ${tokens.access_token}` };
  }

  async refused(response: HttpResponse, sent: Readonly<Record<string, string>>): Promise<boolean> {
    const challenge = await readChallenge(response.headers);
    const used = sent["authorization"]?.replace("Bearer ", "");
    if (response.status === 403) {
      if (challenge.error !== "insufficient_scope") return false;
      if (!this.#signsInItself) {
        this.#wantScope(challenge);
        throw new LinkError(
          "forbidden",
          `the server wants the scope ${plainLine(challenge.scope ?? "")}; run "aurora-mcp apps login ${this.#options.app}" to grant it`,
          { code: 403 },
        );
      }
    }
    await this.#renew(used, challenge);
    return true;
  }

  #wantScope({ scope }: Challenge): void {
    if (scope !== undefined) this.#options.store.wantScope(scope.slice(0, 2000));
  }

  get #signsInItself(): boolean {
    return this.#options.settings.grant === "client_credentials";
  }

  async #tokens(): Promise<StoredTokens | undefined> {
    if (!this.#signsInItself) return this.#options.store.tokens();
    const tokens = this.#machine?.tokens();
    return tokens === undefined ? undefined : { access_token: tokens.access_token, token_type: tokens.token_type };
  }

  /** Gets a token other than `used`. One renewal at a time; who comes later takes its result. */
  async #renew(used: string | undefined, challenge: Challenge): Promise<void> {
    if (this.#renewal === null && (await this.#isNewer(used))) return;
    this.#renewal ??= (this.#signsInItself ? this.#signIn(challenge) : this.#refresh(used, challenge)).finally(() => (this.#renewal = null));
    await this.#renewal;
  }

  async #isNewer(used: string | undefined): Promise<boolean> {
    const now = await this.#tokens();
    return now !== undefined && used !== undefined && now.access_token !== used;
  }

  async #refresh(used: string | undefined, challenge: Challenge): Promise<void> {
    const { store, app } = this.#options;
    await store.locked(async () => {
      // Another process may have been faster.
      if (await this.#isNewer(used)) return;
      const tokens = store.tokens();
      if (tokens?.refresh_token === undefined) {
        // Not every server asks for a sign-in at its first request, where the sign-in would see the scope by itself.
        if (this.#options.settings.scopes === undefined) this.#wantScope(challenge);
        throw signInNeeded(app, tokens === undefined ? "not signed in yet" : "the sign-in has expired");
      }
      await this.#refreshWith(tokens, challenge);
    });
  }

  async #refreshWith(tokens: StoredTokens, challenge: Challenge): Promise<void> {
    const { store, app, serverUrl, client } = this.#options;
    const { discoverOAuthServerInfo, refreshAuthorization, selectResourceURL } = await import("@modelcontextprotocol/sdk/client/auth.js");
    const fetchFn = oauthFetch(client, serverUrl);
    const issuer = store.read().issuer!;
    try {
      const found = await discoverOAuthServerInfo(serverUrl, {
        fetchFn,
        ...(challenge.resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: challenge.resourceMetadataUrl }),
      });
      if (found.authorizationServerUrl !== issuer) {
        // Without the server's own metadata the SDK guesses; a guess is no news.
        if (found.resourceMetadata === undefined) throw new LinkError("network", `the sign-in metadata of ${serverUrl.host} cannot be read now`);
        throw signInNeeded(
          app,
          `the server now names another authorization server (${plainLine(found.authorizationServerUrl)}); the stored credentials are not sent to it`,
        );
      }
      const provider = await clientAuthentication(this.#options.settings);
      const resource = await selectResourceURL(serverUrl, provider as OAuthClientProvider, found.resourceMetadata);
      const renewed = await refreshAuthorization(issuer, {
        clientInformation: clientInformation(this.#options.settings, store, issuer),
        refreshToken: tokens.refresh_token!,
        fetchFn,
        ...(found.authorizationServerMetadata === undefined ? {} : { metadata: found.authorizationServerMetadata }),
        ...(resource === undefined || found.resourceMetadata === undefined ? {} : { resource: found.resourceMetadata.resource }),
        ...provider,
      });
      store.update(issuer, { tokens: toStored(renewed) });
    } catch (error) {
      if (error instanceof LinkError) throw error;
      if ((error as { errorCode?: unknown }).errorCode !== "invalid_grant")
        throw new LinkError("network", `the token could not be renewed: ${plainLine(messageOf(error))}`, { cause: error });
      // Only the token that was refused: a newer one in the store is somebody's success.
      if (store.tokens()?.refresh_token === tokens.refresh_token) store.update(issuer, { tokens: null });
      throw signInNeeded(app, "the authorization server no longer accepts the refresh token");
    }
  }

  async #signIn(challenge: Challenge): Promise<void> {
    const { serverUrl, client, settings } = this.#options;
    const { auth } = await import("@modelcontextprotocol/sdk/client/auth.js");
    this.#machine ??= new MachineProvider(settings, this.#options.store, this.#options.clientName, await clientAuthentication(settings));
    try {
      await auth(this.#machine, {
        serverUrl,
        fetchFn: oauthFetch(client, serverUrl),
        ...(challenge.scope === undefined ? {} : { scope: challenge.scope }),
        ...(challenge.resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: challenge.resourceMetadataUrl }),
      });
    } catch (error) {
      throw error instanceof LinkError
        ? error
        : new LinkError("unauthorized", `the sign-in by client credentials failed: ${plainLine(messageOf(error))}`, { cause: error });
    }
  }
}

/** The credentials of a client: as configured, or as registered with this issuer. */
export function clientInformation(settings: OAuthSettings, store: OAuthStore, issuer: string): OAuthClientInformationMixed {
  if (settings.client_id !== undefined)
    return { client_id: settings.client_id, ...(settings.client_secret === undefined ? {} : { client_secret: settings.client_secret }) };
  return (store.of(issuer).client ?? { client_id: "" }) as OAuthClientInformationMixed;
}

/** How a client with a private key proves itself; nothing for others. */
export async function clientAuthentication(settings: OAuthSettings): Promise<Pick<OAuthClientProvider, "addClientAuthentication">> {
  if (settings.private_key === undefined || settings.client_id === undefined) return {};
  const { createPrivateKeyJwtAuth } = await import("@modelcontextprotocol/sdk/client/auth-extensions.js");
  return {
    addClientAuthentication: createPrivateKeyJwtAuth({
      issuer: settings.client_id,
      subject: settings.client_id,
      privateKey: settings.private_key,
      alg: settings.signing_algorithm ?? "ES256",
    }),
  };
}

/** Tokens of an authorization server in the form in which they are kept. */
export function toStored(tokens: {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token?: string | undefined;
  readonly scope?: string | undefined;
  readonly expires_in?: number | undefined;
}): StoredTokens {
  return {
    access_token: tokens.access_token,
    token_type: tokens.token_type,
    ...(tokens.refresh_token === undefined ? {} : { refresh_token: tokens.refresh_token }),
    ...(tokens.scope === undefined ? {} : { scope: tokens.scope }),
    ...(tokens.expires_in === undefined ? {} : { expires_at: Date.now() + tokens.expires_in * 1000 }),
  };
}

/** Reads `WWW-Authenticate`. */
export async function readChallenge(headers: IncomingHttpHeaders): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/sdk/client/auth.js");
  return extractWWWAuthenticateParams(new Response(null, { headers: { "www-authenticate": (headers["www-authenticate"] ?? "").slice(0, 8192) } }));
}

function signInNeeded(app: string, why: string): LinkError {
  return new LinkError("unauthorized", `${why}; run "aurora-mcp apps login ${app}"`, { code: 401 });
}
