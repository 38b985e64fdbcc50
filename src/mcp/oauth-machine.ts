import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type { OAuthClientInformationMixed, OAuthClientMetadata, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { OAuthSettings } from "../../generated/app.d.ts";
import { LinkError } from "../runtime/ports.ts";
import type { OAuthStore } from "./oauth-store.ts";

/** The client-credentials grant as the SDK's `auth` sees it. Tokens stay in memory; the first authorization server that accepts the client is remembered, and no other is shown its credentials. */
export class MachineProvider implements OAuthClientProvider {
  readonly redirectUrl = undefined;
  readonly addClientAuthentication?: NonNullable<OAuthClientProvider["addClientAuthentication"]>;
  readonly #settings: OAuthSettings;
  readonly #store: OAuthStore;
  readonly #clientName: string;
  readonly #clientId: string;
  #tokens: OAuthTokens | undefined;

  constructor(settings: OAuthSettings, store: OAuthStore, clientName: string, authentication: Pick<OAuthClientProvider, "addClientAuthentication">) {
    if (settings.client_id === undefined || (settings.client_secret === undefined && settings.private_key === undefined)) {
      throw new LinkError("unauthorized", "mcp.auth.oauth: the grant client_credentials needs client_id, and client_secret or private_key");
    }
    this.#settings = settings;
    this.#store = store;
    this.#clientName = clientName;
    this.#clientId = settings.client_id;
    if (authentication.addClientAuthentication !== undefined) this.addClientAuthentication = authentication.addClientAuthentication;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scopes } = this.#settings;
    return {
      client_name: this.#clientName,
      redirect_uris: [],
      grant_types: ["client_credentials"],
      ...(scopes === undefined ? {} : { scope: scopes.join(" ") }),
    };
  }

  clientInformation(): OAuthClientInformationMixed {
    const issuer = this.#settings.issuer ?? Object.keys(this.#store.read().issuers)[0];
    const { client_secret: secret } = this.#settings;
    return { client_id: this.#clientId, ...(secret === undefined ? {} : { client_secret: secret }), ...(issuer === undefined ? {} : { issuer }) };
  }

  saveClientInformation(information: OAuthClientInformationMixed): void {
    if (information.issuer !== undefined) this.#store.update(information.issuer, { client: { client_id: this.#clientId } });
  }

  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }

  prepareTokenRequest(scope?: string): URLSearchParams {
    return new URLSearchParams({ grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) });
  }

  redirectToAuthorization(): void {
    throw new Error("this grant has no browser");
  }

  saveCodeVerifier(): void {}

  codeVerifier(): string {
    throw new Error("this grant has no code");
  }
}
