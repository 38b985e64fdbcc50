import { generateKeyPairSync } from "node:crypto";
import path from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createKit } from "../../src/kit.ts";
import { builtCli, runCli, startCli } from "../support/built-cli.ts";
import { startKit, topologyText, until, type TestKit } from "../support/kit.ts";
import { authorizationServer, protectedServer, type AuthorizationServer } from "../support/oauth-server.ts";

const APP = "org.example.search";
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
beforeAll(async () => void (await builtCli()), 120_000);

interface World {
  readonly as: AuthorizationServer;
  readonly t: TestKit;
  readonly refreshes: () => number;
  readonly state: () => string;
}

/** A kit with one app behind an authorization server. */
async function world(oauth: object = {}, files: Record<string, string> = {}): Promise<World> {
  const as = await authorizationServer();
  cleanups.push(() => as.close());
  const server = await protectedServer(() => as);
  cleanups.push(() => server.close());
  const text = topologyText({ [APP]: { trust: "high", mcp: { transport: "http", url: server.url, auth: { oauth } } } }).replaceAll("$ISSUER", as.issuer);
  const t = await startKit({ "topology/topology.yaml": text, ...files });
  cleanups.push(() => t.stop());
  return { as, t, refreshes: () => as.tokenRequests().filter((r) => r["grant_type"] === "refresh_token").length, state: () => t.kit.status().apps[0]!.state };
}

/** `apps login` in a process of its own; the test plays the person at the browser. */
async function signIn({ t }: World): Promise<void> {
  const cli = await startCli(["apps", "login", APP, "--no-browser", "--json"], { cwd: t.workspace.root });
  await cli.until(/\/authorize\?\S+/, 30_000);
  await fetch(/http:\/\/\S+\/authorize\?\S+/.exec(cli.stderr())![0]);
  expect(await cli.done).toMatchObject({ code: 0, stdout: expect.stringContaining(`"app":"${APP}"`) });
  await t.kit.restartApp(APP);
}

describe("an app behind OAuth", { timeout: 120_000 }, () => {
  it("says how to sign in, works after `apps login`, and renews its token once for five calls at the same time", async () => {
    const w = await world();
    expect(w.t.kit.status().apps[0]).toMatchObject({ state: "failed", reason: expect.stringContaining(`aurora-mcp apps login ${APP}`) });
    await signIn(w);
    expect(w.state()).toBe("ready");
    expect(await w.t.kit.callTool(`${APP}.echo`, { q: 1 })).toMatchObject({ ok: true });
    w.as.valid.clear();
    const calls = await Promise.all(Array.from({ length: 5 }, (_, i) => w.t.kit.callTool(`${APP}.echo`, { i })));
    expect(calls.map((c) => c.ok)).toEqual([true, true, true, true, true]);
    expect(w.refreshes()).toBe(1);
    w.as.revoke = (_token, answer) => answer(200, {});
    const out = await runCli(["apps", "logout", APP], { cwd: w.t.workspace.root });
    expect(out).toMatchObject({ code: 0, stdout: `signed out of ${APP}, its tokens are revoked\n`, stderr: "" });
    await signIn(w);
    w.as.revoke = (_token, answer) => answer(503, {});
    const failed = await runCli(["apps", "logout", APP, "--json"], { cwd: w.t.workspace.root });
    expect(JSON.parse(failed.stdout)).toMatchObject({ app: APP, forgotten: true, revoked: false });
    expect(failed).toMatchObject({ code: 0, stderr: expect.stringMatching(/HTTP 503; the tokens are forgotten here, but count there until they end/) });
  });

  it("is signed in for every process that shares the data folder: two of them renew together once (claude-code#85236)", async () => {
    const w = await world();
    await signIn(w);
    w.as.valid.clear();
    w.as.delayMs = 2_500;
    const other = async (n: number) => runCli(["call", `${APP}.echo`, "--args", `{"n":${n}}`, "--json"], { cwd: w.t.workspace.root });
    const results = await Promise.all([other(1), other(2), w.t.kit.callTool(`${APP}.echo`, { n: 3 })]);
    expect(results.slice(0, 2).map((r) => ("code" in r ? [r.code, r.stderr] : r))).toEqual([
      [0, ""],
      [0, ""],
    ]);
    expect(results[2]).toMatchObject({ ok: true });
    expect(w.refreshes()).toBe(1);
  });

  it("keeps its sign-in over a restart of the host", async () => {
    const w = await world();
    await signIn(w);
    await w.t.kit.close();
    const again = createKit({ topology: path.join(w.t.workspace.root, "topology/topology.yaml"), watch: false });
    cleanups.push(() => again.close());
    await again.start();
    await until(() => again.status().apps[0]!.state === "ready");
    expect(w.as.tokenRequests()).toHaveLength(1);
  });

  it("signs in by itself with client credentials, by secret or by private key, and again when the token ends", async () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const secret = await world({ grant: "client_credentials", issuer: "$ISSUER", client_id: "host", client_secret: "s3cret-of-the-host" });
    const key = await world(
      { grant: "client_credentials", issuer: "$ISSUER", client_id: "host", private_key: "${file:../key.pem}", signing_algorithm: "ES256" },
      { "key.pem": privateKey.export({ type: "pkcs8", format: "pem" }).toString() },
    );
    for (const w of [secret, key]) {
      expect(w.t.kit.status().apps[0]).toMatchObject({ state: "ready", reason: null });
      w.as.valid.clear();
      const calls = await Promise.all([1, 2, 3].map((n) => w.t.kit.callTool(`${APP}.echo`, { n })));
      expect(calls.map((c) => c.ok)).toEqual([true, true, true]);
      expect(w.as.tokenRequests().map((r) => r["grant_type"])).toEqual(["client_credentials", "client_credentials"]);
    }
    expect(key.as.tokenRequests()[0]).toMatchObject({ client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" });
    expect(JSON.stringify(secret.t.kit.status())).not.toContain("s3cret-of-the-host");
  });
});
