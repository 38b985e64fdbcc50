import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OAuthSettings } from "../../generated/app.d.ts";
import { openBrowser } from "../../src/mcp/open-browser.ts";
import { login } from "../../src/mcp/oauth-login.ts";
import { logout } from "../../src/mcp/oauth-logout.ts";
import { OAuthStore } from "../../src/mcp/oauth-store.ts";
import type { AppPlan } from "../../src/plan/types.ts";
import { appPlan, httpSpec } from "../support/app-plan.ts";
import { authorizationServer, protectedServer } from "../support/oauth-server.ts";
import type { AuthorizationServer } from "../support/oauth-server.ts";
import { atEnd, connectorFor, open, temporaryFolder, toolCall, until } from "./support.ts";

interface World {
  as: AuthorizationServer;
  readonly server: Awaited<ReturnType<typeof protectedServer>>;
  readonly dataDir: string;
  readonly plan: (settings?: OAuthSettings) => AppPlan;
  /** Signs in; `visit` plays the browser. */
  readonly signIn: (settings?: OAuthSettings, visit?: (url: string) => unknown, signal?: AbortSignal) => ReturnType<typeof login>;
  readonly signOut: (settings?: OAuthSettings, signal?: AbortSignal) => ReturnType<typeof logout>;
  readonly connect: (settings?: OAuthSettings) => ReturnType<typeof open>;
}

async function world(): Promise<World> {
  const as = await authorizationServer();
  const dataDir = temporaryFolder();
  const server: World["server"] = await protectedServer(() => w.as);
  atEnd(() => Promise.all([w.as.close(), as.close(), server.close()]));
  const spec = (settings: OAuthSettings): ReturnType<typeof httpSpec> => httpSpec(server.url, { oauth: { ...settings } as never });
  const w: World = {
    as,
    server,
    dataDir,
    plan: (settings = {}) => appPlan(spec(settings)),
    signIn: (settings = {}, visit = (url) => fetch(url), signal = new AbortController().signal) =>
      login(w.plan(settings), { dataDir, clientName: "Test", hostEnv: {}, openBrowser: async (url) => void (await visit(url)), signal }),
    signOut: (settings = {}, signal = new AbortController().signal) => logout(w.plan(settings), { dataDir, hostEnv: {}, signal }),
    connect: (settings = {}) => open(spec(settings), {}, { connector: connectorFor({ dataDir }) }),
  };
  return w;
}

const call = toolCall();

/** Plays the browser up to the redirect, and gives the address that it would go back to. */
async function redirectOf(url: string): Promise<URL> {
  return new URL((await fetch(url, { redirect: "manual" })).headers.get("location")!);
}

describe("login", () => {
  it("signs in with PKCE and state, stores tokens in a file of mode 0600, and connections use them", async () => {
    const w = await world();
    const result = await w.signIn({ scopes: ["read"] });
    expect(result).toMatchObject({ issuer: expect.stringContaining(w.as.issuer), scope: "read" });
    const authorize = w.as.asked.find((entry) => entry.path === "/authorize")!.params;
    expect(authorize).toMatchObject({ code_challenge_method: "S256", response_type: "code", scope: "read", resource: w.server.url });
    expect(authorize["state"]).toMatch(/^[0-9a-f]{64}$/);
    const folder = join(w.dataDir, "run", "oauth");
    for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    const { connection } = await w.connect();
    await connection.request(...call);
  });

  it("is needed before the first start, and the message says how", async () => {
    const w = await world();
    await expect(w.connect()).rejects.toMatchObject({
      retry: false,
      message: expect.stringContaining('not signed in yet; run "aurora-mcp apps login org.example.app"'),
    });
  });

  it("registers once and uses its port again", async () => {
    const w = await world();
    await w.signIn();
    await w.signIn();
    expect(w.as.asked.filter((entry) => entry.path === "/register")).toHaveLength(1);
  });

  it("waits past answers with a wrong state, and past requests by another name", async () => {
    const w = await world();
    const statuses: number[] = [];
    await w.signIn({}, async (url) => {
      const back = await redirectOf(url);
      const wrong = new URL(back);
      wrong.searchParams.set("state", "x".repeat(64));
      statuses.push((await fetch(wrong)).status);
      const { request } = await import("node:http");
      statuses.push(await new Promise<number>((resolve) => request(back, { headers: { host: "evil.test" } }, (r) => resolve(r.statusCode!)).end()));
      statuses.push((await fetch(back)).status);
    });
    expect(statuses).toEqual([400, 404, 200]);
  });

  it.each([
    ["is promised but missing", null],
    ["is another one's", "https://evil.test"],
  ])("aborts before any token request when iss %s", async (_name, iss) => {
    const w = await world();
    w.as.metadata = { authorization_response_iss_parameter_supported: true };
    await expect(
      w.signIn({}, async (url) => {
        const back = await redirectOf(url);
        if (iss !== null) back.searchParams.set("iss", iss);
        await fetch(back);
      }),
    ).rejects.toThrow(/iss|comes from/);
    expect(w.as.tokenRequests()).toEqual([]);
  });

  it("takes the right iss", async () => {
    const w = await world();
    w.as.metadata = { authorization_response_iss_parameter_supported: true };
    await w.signIn({}, async (url) => {
      const back = await redirectOf(url);
      back.searchParams.set("iss", w.as.issuer);
      await fetch(back);
    });
  });

  it("tells a refusal, an abort, and a server without PKCE", async () => {
    const w = await world();
    const refuse = w.signIn({}, async (url) => {
      const back = await redirectOf(url);
      back.searchParams.delete("code");
      back.searchParams.set("error", "access_denied");
      back.searchParams.set("error_description", "not\u001b[31m today");
      await fetch(back);
    });
    await expect(refuse).rejects.toThrow("the sign-in to org.example.app failed: the authorization server refused the sign-in: not today");
    const abort = new AbortController();
    await expect(w.signIn({}, () => abort.abort(new Error("stopped")), abort.signal)).rejects.toThrow("stopped");
    w.as.metadata = { code_challenge_methods_supported: ["plain"] };
    await expect(w.signIn()).rejects.toThrow("PKCE");
  });

  it.each(["javascript:alert(1)", "file:///etc/passwd", "http://evil.test/authorize"])("never opens %s", async (address) => {
    const w = await world();
    w.as.metadata = { authorization_endpoint: address };
    let opened = false;
    await expect(w.signIn({}, () => (opened = true))).rejects.toThrow();
    expect(opened).toBe(false);
    if (!address.startsWith("http://")) expect(await openBrowser(address)).toBe(false);
  });

  it("hands the browser an address as one argument, shell characters and all", async () => {
    const folder = temporaryFolder();
    const { PATH } = process.env;
    writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\nprintf '%s|' "$#" "$1" > '${join(folder, "seen")}'\n`, { mode: 0o755 });
    process.env["PATH"] = `${folder}:${PATH}`;
    atEnd(() => (process.env["PATH"] = PATH));
    const address = "https://as.invalid/a?x=$(touch%20/tmp/p)`id`;&y='z'";
    expect(await openBrowser(address, "linux")).toBe(true);
    const seen = await until(() => existsSync(join(folder, "seen")) && readFileSync(join(folder, "seen"), "utf8"));
    expect(seen).toBe(`1|${new URL(address).href}|`);
  });

  it("refuses metadata of another issuer, and another issuer than the configured", async () => {
    const w = await world();
    await expect(w.signIn({ issuer: "https://as.example.org" })).rejects.toThrow("mcp.auth.oauth.issuer is https://as.example.org");
    w.as.metadata = { issuer: "https://evil.test" };
    await expect(w.signIn()).rejects.toThrow("another issuer");
    expect(w.as.tokenRequests()).toEqual([]);
  });

  it("takes metadata at the server's own root whose issuer has a path, as revision 2025-03-26 has it, but not of another origin", async () => {
    const w = await world();
    const { metadata, issuer } = w.as;
    w.server.actsAsIssuer = () => ({
      ...metadata,
      issuer: `${w.server.origin}/oauth`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
    });
    await w.signIn();
    expect(w.as.tokenRequests()).toHaveLength(1);
    await w.signOut();
    const own = w.server.actsAsIssuer();
    w.server.actsAsIssuer = () => ({ ...own, issuer: "http://127.0.0.1:9/oauth" });
    await expect(w.signIn()).rejects.toThrow("another issuer");
    expect(w.as.tokenRequests()).toHaveLength(1);
  });
});

describe("logout", () => {
  const revocations = (w: World): object[] => w.as.asked.filter((entry) => entry.path === "/revoke").map((entry) => entry.params);
  const gone = async (w: World): Promise<void> => {
    expect(new OAuthStore(w.dataDir, w.server.url).read()).toEqual({ issuer: null, issuers: {} });
    await expect(w.connect()).rejects.toThrow("not signed in yet");
  };

  it("revokes the refresh token, then the access token, as the client that it registered, and forgets them", async () => {
    const w = await world();
    w.as.revoke = (_token, answer) => answer(200, {});
    await w.signIn();
    expect(await w.signOut()).toEqual({ forgotten: true, revoked: true, problems: [] });
    expect(revocations(w)).toEqual([
      { token: "refresh-3", token_type_hint: "refresh_token", client_id: "client-1" },
      { token: "access-3", token_type_hint: "access_token", client_id: "client-1" },
    ]);
    await gone(w);
    expect(await w.signOut()).toEqual({ forgotten: false, revoked: null, problems: [] });
    expect(revocations(w)).toHaveLength(2);
  });

  it("proves itself by secret or private key where it has one", async () => {
    const w = await world();
    w.as.revoke = (_token, answer) => answer(200, {});
    const secret: OAuthSettings = { client_id: "me", client_secret: "s3cret", issuer: w.as.issuer };
    await w.signIn(secret);
    await w.signOut(secret);
    expect(w.as.asked.find((entry) => entry.path === "/revoke")!.headers["authorization"]).toBe(`Basic ${Buffer.from("me:s3cret").toString("base64")}`);
    const { privateKey } = generateKeyPairSync("ec", {
      namedCurve: "P-256",
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
      publicKeyEncoding: { type: "spki", format: "pem" },
    });
    const key: OAuthSettings = { client_id: "me", private_key: privateKey, signing_algorithm: "ES256", issuer: w.as.issuer };
    await w.signIn(key);
    await w.signOut(key);
    expect(revocations(w).at(-1)).toMatchObject({ client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" });
    w.as.metadata = { revocation_endpoint_auth_methods_supported: ["client_secret_post"] };
    await w.signIn(secret);
    await w.signOut(secret);
    expect(revocations(w).at(-1)).toMatchObject({ client_id: "me", client_secret: "s3cret" });
  });

  it("forgets the tokens also where they cannot be revoked, says why, and repeats nothing that the server says of them", async () => {
    const w = await world();
    await w.signIn();
    expect(await w.signOut()).toEqual({ forgotten: true, revoked: false, problems: [expect.stringMatching(/offers no way to revoke tokens/)] });
    await gone(w);
    w.as.revoke = (token, answer) => answer(401, { error: "invalid_client", error_description: `no ${token}` });
    await w.signIn();
    const refused = await w.signOut();
    expect(refused).toEqual({
      forgotten: true,
      revoked: false,
      problems: [expect.stringMatching(/refused to revoke the refresh token: HTTP 401 invalid_client$/)],
    });
    expect(JSON.stringify(refused)).not.toMatch(/(refresh|access)-\d/);
    await gone(w);
    w.as.revoke = (token, answer) => (token.startsWith("access") ? answer(400, { error: "unsupported_token_type" }) : answer(200, {}));
    await w.signIn();
    expect(await w.signOut()).toMatchObject({ revoked: true, problems: [] });
  });

  it("waits for nobody longer than the person does, and a server that is gone does not hold it up", async () => {
    const w = await world();
    w.as.revoke = () => {};
    await w.signIn();
    const abort = new AbortController();
    const waiting = w.signOut({}, abort.signal);
    await until(() => revocations(w).length === 1);
    abort.abort();
    expect(await waiting).toMatchObject({ forgotten: true, revoked: false, problems: [expect.stringMatching(/stopped before it answered/)] });
    await gone(w);
    await w.signIn();
    await w.as.close();
    expect(await w.signOut()).toMatchObject({ forgotten: true, revoked: false, problems: [expect.stringContaining(w.as.issuer)] });
    expect(new OAuthStore(w.dataDir, w.server.url).tokens()).toBeUndefined();
  });

  it("sends tokens only to whom they came from, over https", async () => {
    const w = await world();
    w.as.revoke = (_token, answer) => answer(200, {});
    await w.signIn();
    w.as.metadata = { issuer: "https://evil.test" };
    expect(await w.signOut()).toMatchObject({ revoked: false, problems: [expect.stringContaining("another issuer")] });
    w.as.metadata = {};
    await w.signIn();
    w.as.metadata = { revocation_endpoint: "http://evil.test/revoke" };
    expect(await w.signOut()).toMatchObject({ revoked: false, problems: [expect.stringContaining("which is not https")] });
    expect(revocations(w)).toEqual([]);
  });

  it("finds the revocation in OpenID metadata too", async () => {
    const w = await world();
    w.as.revoke = (_token, answer) => answer(200, {});
    await w.signIn();
    w.as.openid = true;
    expect(await w.signOut()).toMatchObject({ revoked: true });
    expect(revocations(w)).toHaveLength(2);
  });
});

describe("renewal", () => {
  it("runs once for five calls that were refused together (gemini-cli#29048)", async () => {
    const w = await world();
    await w.signIn();
    const { connection } = await w.connect();
    w.as.valid.clear();
    await Promise.all([1, 2, 3, 4, 5].map(() => connection.request(...call)));
    expect(w.as.tokenRequests().filter((params) => params["grant_type"] === "refresh_token")).toHaveLength(1);
  });

  it("runs once for two hosts with one store (claude-code#85236)", async () => {
    const w = await world();
    await w.signIn();
    const hosts = await Promise.all([w.connect(), w.connect()]);
    w.as.valid.clear();
    await Promise.all(hosts.map(({ connection }) => connection.request(...call)));
    expect(w.as.tokenRequests().filter((params) => params["grant_type"] === "refresh_token")).toHaveLength(1);
  });

  it("comes before a token that is about to end", async () => {
    const w = await world();
    w.as.expiresIn = 1;
    await w.signIn();
    w.as.expiresIn = 3600;
    const before = w.server.log.filter((name) => name === "initialize").length;
    await w.connect();
    expect(w.server.log.filter((name) => name === "initialize").length).toBe(before + 1);
  });

  it("keeps the credentials when the authorization server is in trouble, and drops them only on invalid_grant", async () => {
    const w = await world();
    await w.signIn();
    const { connection } = await w.connect();
    w.as.valid.clear();
    w.as.fail = { status: 503, body: "<html>down</html>" };
    await expect(connection.request(...call)).rejects.toMatchObject({ kind: "network" });
    w.as.fail = { status: 400, body: { error: "temporarily_unavailable" } };
    await expect(connection.request(...call)).rejects.toMatchObject({ kind: "network" });
    w.as.fail = null;
    await connection.request(...call);
    w.as.valid.clear();
    w.as.fail = { status: 400, body: { error: "invalid_grant" } };
    await expect(connection.request(...call)).rejects.toMatchObject({ kind: "unauthorized", message: expect.stringContaining("apps login") });
    expect(new OAuthStore(w.dataDir, w.server.url).tokens()).toBeUndefined();
  });

  it("never shows credentials to another authorization server that the server names later", async () => {
    const w = await world();
    await w.signIn();
    const { connection } = await w.connect();
    const first = w.as;
    w.as = await authorizationServer();
    await expect(connection.request(...call)).rejects.toMatchObject({ kind: "unauthorized", message: expect.stringContaining("another authorization server") });
    expect(w.as.tokenRequests()).toEqual([]);
    expect(JSON.stringify(w.as.asked)).not.toMatch(/access-|refresh-/);
    await first.close();
  });

  it("does not help where the scope is too small; the next sign-in asks for what the server wanted", async () => {
    const w = await world();
    await w.signIn({ scopes: ["read"] });
    const { connection } = await w.connect({ scopes: ["read"] });
    w.server.refuse = (x) =>
      x.message.method === "tools/call" && (x.reply(403, { "www-authenticate": 'Bearer error="insufficient_scope", scope="read write"' }), true);
    await expect(connection.request(...call)).rejects.toMatchObject({ kind: "forbidden", message: expect.stringContaining("read write") });
    await w.signIn({ scopes: ["read"] });
    expect(w.as.asked.filter((entry) => entry.path === "/authorize").map((entry) => entry.params["scope"])).toEqual(["read", "read write"]);
  });

  it("keeps what was granted when more scopes are wanted, one after the other", async () => {
    const w = await world();
    await w.signIn();
    const { connection } = await w.connect();
    for (const scope of ["write", "admin"]) {
      w.server.refuse = (x) =>
        x.message.method === "tools/call" && (x.reply(403, { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` }), true);
      await expect(connection.request(...call)).rejects.toMatchObject({ kind: "forbidden" });
      await w.signIn();
    }
    const asked = w.as.asked.filter((entry) => entry.path === "/authorize").map((entry) => entry.params["scope"]!.split(" ").sort());
    expect(asked).toEqual([["read"], ["read", "write"], ["admin", "read", "write"]]);
  });

  it("asks for the scope of a refusal that came after a free initialize", async () => {
    const w = await world();
    w.server.free = (x) => x.message.method !== "tools/call";
    const { connection } = await w.connect();
    await expect(connection.request(...call)).rejects.toMatchObject({ kind: "unauthorized" });
    await w.signIn();
    expect(w.as.asked.find((entry) => entry.path === "/authorize")!.params["scope"]).toBe("read");
    await connection.request(...call);
  });

  it("breaks the lock of a dead process", async () => {
    const w = await world();
    await w.signIn();
    const { connection } = await w.connect();
    const folder = join(w.dataDir, "run", "oauth");
    writeFileSync(join(folder, `${readdirSync(folder)[0]!}.lock`), JSON.stringify({ pid: 1_234_567, start: "x" }));
    w.as.valid.clear();
    await connection.request(...call);
  });
});

describe("client credentials", () => {
  it("sign in by themselves, with a secret", async () => {
    const w = await world();
    const { connection } = await w.connect({ grant: "client_credentials", client_id: "me", client_secret: "s3cret", issuer: w.as.issuer });
    await connection.request(...call);
    w.as.valid.clear();
    await connection.request(...call);
    expect(w.as.tokenRequests()).toHaveLength(2);
    expect(w.as.asked.find((entry) => entry.path === "/token")!.headers["authorization"]).toBe(`Basic ${Buffer.from("me:s3cret").toString("base64")}`);
  });

  it("sign in by themselves, with a private key", async () => {
    const w = await world();
    const { privateKey } = generateKeyPairSync("ec", {
      namedCurve: "P-256",
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
      publicKeyEncoding: { type: "spki", format: "pem" },
    });
    const { connection } = await w.connect({ grant: "client_credentials", client_id: "me", private_key: privateKey, signing_algorithm: "ES256" });
    await connection.request(...call);
    expect(w.as.tokenRequests()[0]).toMatchObject({ client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" });
  });

  it("are not shown to an authorization server other than the configured one", async () => {
    const w = await world();
    await expect(w.connect({ grant: "client_credentials", client_id: "me", client_secret: "s3cret", issuer: "https://as.example.org" })).rejects.toMatchObject({
      retry: false,
    });
    expect(w.as.tokenRequests()).toEqual([]);
  });

  it("stay with the first authorization server that took them, over restarts too", async () => {
    const w = await world();
    const settings: OAuthSettings = { grant: "client_credentials", client_id: "me", client_secret: "s3cret" };
    await w.connect(settings);
    w.as = await authorizationServer();
    await expect(w.connect(settings)).rejects.toMatchObject({ retry: false, message: expect.stringContaining("not presented to") });
    expect(w.as.tokenRequests()).toEqual([]);
  });

  it("cannot be logged in to", async () => {
    const w = await world();
    await expect(w.signIn({ grant: "client_credentials" })).rejects.toThrow("signs in by itself");
  });
});
