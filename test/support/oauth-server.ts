import { createHash } from "node:crypto";
import { httpMcpServer } from "./http-mcp-server.ts";
import type { Exchange, HttpMcpServer } from "./http-mcp-server.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An authorization server for tests, with what it was asked. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** Requests as `POST /token {parameters}`. */
  readonly asked: { readonly path: string; readonly params: Record<string, string>; readonly headers: Record<string, unknown> }[];
  readonly tokenRequests: () => Record<string, string>[];
  /** Access tokens that count now. */
  readonly valid: Set<string>;
  /** What the next token requests get instead of tokens. */
  fail: { readonly status: number; readonly body: object | string } | null;
  /** More or other metadata. */
  metadata: Record<string, unknown>;
  expiresIn: number | undefined;
  /** How long a token request takes. */
  delayMs: number;
  /** Its metadata are those of an OpenID provider. */
  openid: boolean;
  /** Answers a revocation; none is offered while it is null. */
  revoke: ((token: string, answer: (status: number, body: object) => void) => void) | null;
  close(): Promise<void>;
}

/** Starts an authorization server: registration, PKCE-checked codes, refresh tokens that work once. */
export async function authorizationServer(): Promise<AuthorizationServer> {
  const asked: AuthorizationServer["asked"] = [];
  const codes = new Map<string, { challenge: string; redirect: string }>();
  const refreshTokens = new Set<string>();
  let n = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url!, as.issuer);
      const body = Buffer.concat(chunks).toString();
      const isForm = request.headers["content-type"]?.includes("urlencoded") === true;
      const params = Object.fromEntries(isForm ? new URLSearchParams(body) : url.searchParams);
      asked.push({ path: url.pathname, params, headers: request.headers });
      const json = (status: number, value: object | string): void => {
        if (url.pathname === "/token" && as.delayMs > 0) return void setTimeout(() => answer(status, value), as.delayMs);
        answer(status, value);
      };
      const answer = (status: number, value: object | string): void => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(typeof value === "string" ? value : JSON.stringify(value));
      };
      switch (url.pathname) {
        case "/.well-known/oauth-authorization-server":
        case "/.well-known/openid-configuration":
          if (url.pathname.endsWith("openid-configuration") !== as.openid) return json(404, {});
          return json(200, {
            issuer: as.issuer,
            authorization_endpoint: `${as.issuer}/authorize`,
            token_endpoint: `${as.issuer}/token`,
            registration_endpoint: `${as.issuer}/register`,
            response_types_supported: ["code"],
            code_challenge_methods_supported: ["S256"],
            token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "private_key_jwt"],
            ...(as.revoke === null ? {} : { revocation_endpoint: `${as.issuer}/revoke` }),
            ...as.metadata,
          });
        case "/revoke":
          return as.revoke!(params["token"]!, json);
        case "/register":
          return json(201, { ...(JSON.parse(body) as object), client_id: `client-${(n += 1)}` });
        case "/authorize": {
          const code = `code-${(n += 1)}`;
          codes.set(code, { challenge: params["code_challenge"]!, redirect: params["redirect_uri"]! });
          const back = new URL(params["redirect_uri"]!);
          back.searchParams.set("code", code);
          back.searchParams.set("state", params["state"]!);
          response.writeHead(302, { location: back.href });
          return response.end();
        }
        case "/token": {
          if (as.fail !== null) return json(as.fail.status, as.fail.body);
          if (params["grant_type"] === "authorization_code") {
            const known = codes.get(params["code"]!);
            codes.delete(params["code"]!);
            if (
              known === undefined ||
              known.redirect !== params["redirect_uri"] ||
              createHash("sha256").update(params["code_verifier"]!).digest("base64url") !== known.challenge
            )
              return json(400, { error: "invalid_grant" });
          } else if (params["grant_type"] === "refresh_token" && !refreshTokens.delete(params["refresh_token"]!)) return json(400, { error: "invalid_grant" });
          const access = `access-${(n += 1)}`;
          const refresh = `refresh-${n}`;
          as.valid.clear();
          as.valid.add(access);
          refreshTokens.add(refresh);
          return json(200, {
            access_token: access,
            token_type: "Bearer",
            ...(as.expiresIn === undefined ? {} : { expires_in: as.expiresIn }),
            ...(params["grant_type"] === "client_credentials" ? {} : { refresh_token: refresh }),
            scope: "read",
          });
        }
        default:
          return json(404, {});
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const as: AuthorizationServer = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    valid: new Set(),
    fail: null,
    metadata: {},
    expiresIn: undefined,
    delayMs: 0,
    openid: false,
    revoke: null,
    tokenRequests: () => asked.filter((entry) => entry.path === "/token").map((entry) => entry.params),
    close: () => (server.closeAllConnections(), new Promise((resolve) => server.close(() => resolve()))),
  };
  return as;
}

/** An MCP server behind an authorization server. */
export interface ProtectedServer extends HttpMcpServer {
  /** May answer requests that are signed in. */
  refuse: (exchange: Exchange) => unknown;
  /** Requests that need no sign-in. */
  free: (exchange: Exchange) => boolean;
  /** When set: the server names no authorization server and shows these metadata at its own root. */
  actsAsIssuer: (() => Record<string, unknown>) | null;
}

/** An MCP server that takes only tokens of the authorization server that `current` gives. */
export async function protectedServer(current: () => AuthorizationServer): Promise<ProtectedServer> {
  const server: ProtectedServer = Object.assign(
    await httpMcpServer((x) => {
      if (x.path === "/.well-known/oauth-authorization-server" && server.actsAsIssuer !== null) {
        x.reply(200, { "content-type": "application/json" }, JSON.stringify(server.actsAsIssuer()));
        return true;
      }
      if (x.path.startsWith("/.well-known/oauth-protected-resource") && server.actsAsIssuer === null) {
        x.reply(200, { "content-type": "application/json" }, JSON.stringify({ resource: server.url, authorization_servers: [current().issuer] }));
        return true;
      }
      if (x.path.startsWith("/.well-known/")) return (x.reply(404), true);
      if (server.free(x)) return server.refuse(x);
      const token = x.headers.authorization?.replace("Bearer ", "");
      if (token !== undefined && current().valid.has(token)) return server.refuse(x);
      x.reply(401, {
        "www-authenticate":
          server.actsAsIssuer === null ? `Bearer resource_metadata="${server.origin}/.well-known/oauth-protected-resource/mcp", scope="read"` : "Bearer",
      });
      return true;
    }),
    { refuse: (): unknown => false, free: (): boolean => false, actsAsIssuer: null },
  );
  return server;
}
