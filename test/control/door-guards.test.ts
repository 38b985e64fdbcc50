import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LOCAL_DOOR, startHttpServer } from "../../src/control/http-server.ts";
import { createFakeKit, memoryLog } from "../support/fake-kit.ts";
import { openDoor, rawExchange, request, type Door } from "../support/door.ts";

const kit = createFakeKit([{ package: "org.demo", tools: [{ name: "echo" }, { name: "wipe", risk: "high" }] }]);
let door: Door;
beforeAll(async () => {
  door = await openDoor(kit, { server: { headersTimeoutMs: 1000, requestTimeoutMs: 1500 } });
});
afterAll(() => door.stop());

describe("Host (DNS rebinding)", () => {
  const hosts: [string, (port: number) => string, boolean][] = [
    ["a foreign name", (p) => `evil.invalid:${p}`, false],
    ["a name that starts like ours", (p) => `localhost.evil.invalid:${p}`, false],
    ["a name that ends like ours", (p) => `evil-localhost:${p}`, false],
    ["an address as a prefix", (p) => `127.0.0.1.evil.invalid:${p}`, false],
    ["user info in front", (p) => `127.0.0.1:${p}@evil.invalid`, false],
    ["user info before ours", (p) => `evil@127.0.0.1:${p}`, false],
    ["a number that means loopback", (p) => `2130706433:${p}`, false],
    ["a short form of loopback", (p) => `127.1:${p}`, false],
    ["the wildcard address", (p) => `0.0.0.0:${p}`, false],
    ["another port", () => "127.0.0.1:1", false],
    ["no port", () => "127.0.0.1", false],
    ["a trailing dot", (p) => `localhost.:${p}`, false],
    ["a path", (p) => `127.0.0.1:${p}/x`, false],
    ["the address", (p) => `127.0.0.1:${p}`, true],
    ["localhost", (p) => `localhost:${p}`, true],
    ["localhost in capitals", (p) => `LOCALHOST:${p}`, true],
    ["IPv6 loopback", (p) => `[::1]:${p}`, true],
  ];
  it.each(hosts)("%s", async (_name, host, served) => {
    const answer = await request(door, "POST", "/api/reload", { token: door.operator, body: {}, headers: { host: host(door.port) } });
    expect(answer.status === 403).toBe(!served);
  });

  it("is checked before a byte of the body arrives", async () => {
    const { text } = await rawExchange(
      door.port,
      `POST /mcp HTTP/1.1\r\nHost: evil.invalid:${door.port}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("is checked before 100 Continue is given", async () => {
    const head = (host: string) =>
      `POST /mcp HTTP/1.1\r\nHost: ${host}:${door.port}\r\nAuthorization: Bearer ${door.caller}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
    expect((await rawExchange(door.port, head("evil.invalid"))).text).toMatch(/^HTTP\/1\.1 403 /);
    expect((await rawExchange(door.port, head("127.0.0.1"), 300)).text).toMatch(/^HTTP\/1\.1 100 /);
  });

  it("refuses an empty Host and none at all", async () => {
    expect((await rawExchange(door.port, "GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n")).text).toMatch(/^HTTP\/1\.1 403 /);
    expect((await rawExchange(door.port, "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")).text).toMatch(/^HTTP\/1\.1 400 /);
    expect((await rawExchange(door.port, "GET /healthz HTTP/1.0\r\n\r\n")).text).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("refuses two Host headers, whichever comes first, and an absolute target", async () => {
    const good = `Host: 127.0.0.1:${door.port}\r\n`;
    const evil = "Host: evil.invalid\r\n";
    for (const hosts of [good + evil, evil + good]) {
      const { text } = await rawExchange(door.port, `GET /healthz HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
      expect(text).toMatch(/^HTTP\/1\.1 40[03] /);
    }
    const { text } = await rawExchange(door.port, `GET http://evil.invalid/healthz HTTP/1.1\r\n${good}Connection: close\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("accepts what gateway.allowed_hosts adds, with or without a port, and nothing like it", async () => {
    const named = await openDoor(kit, { gateway: { allowedHosts: ["aurora.lan", "box.lan:9000"] } });
    const status = async (host: string) => (await request(named, "GET", "/healthz", { headers: { host } })).status;
    expect(await status("aurora.lan")).toBe(200);
    expect(await status("Aurora.Lan:80")).toBe(200);
    expect(await status("box.lan:9000")).toBe(200);
    expect(await status("box.lan")).toBe(403);
    expect(await status("x.aurora.lan")).toBe(403);
    await named.stop();
  });
});

describe("Origin (cross-site requests)", () => {
  const origins: [string, (port: number) => string, boolean][] = [
    ["a foreign site", () => "https://evil.invalid", false],
    ["user info that looks like ours", (p) => `http://localhost:${p}@evil.invalid`, false],
    ["null", () => "null", false],
    ["another port of this machine", () => "http://127.0.0.1:3000", false],
    ["a suffix", (p) => `http://localhost:${p}.evil.invalid`, false],
    ["two origins", (p) => `http://127.0.0.1:${p}, https://evil.invalid`, false],
    ["an extension", () => "chrome-extension://abc", false],
    ["an empty one", () => "", false],
    ["our own page", (p) => `http://127.0.0.1:${p}`, true],
    ["our own page as localhost", (p) => `http://localhost:${p}`, true],
  ];
  it.each(origins)("%s", async (_name, origin, served) => {
    const answer = await request(door, "POST", "/api/reload", { token: door.operator, body: {}, headers: { origin: origin(door.port) } });
    expect(answer.status).toBe(served ? 200 : 403);
  });

  it("gives no CORS permission, neither to a preflight nor to an answer", async () => {
    for (const origin of ["https://evil.invalid", `http://127.0.0.1:${door.port}`]) {
      const preflight = await request(door, "OPTIONS", "/mcp", { headers: { origin, "access-control-request-method": "POST" } });
      expect(preflight.status).toBeGreaterThanOrEqual(400);
      const answer = await request(door, "GET", "/healthz", { headers: { origin } });
      for (const headers of [preflight.headers, answer.headers]) expect(Object.keys(headers).filter((h) => h.startsWith("access-control"))).toEqual([]);
    }
  });

  it("takes only application/json, and never a cookie as a token", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json-x"]) {
      expect((await request(door, "POST", "/api/reload", { token: door.operator, body: "{}", headers: { "content-type": type } })).status).toBe(415);
    }
    expect(
      (await request(door, "POST", "/api/reload", { body: {}, headers: { cookie: `token=${door.operator}; authorization=Bearer ${door.operator}` } })).status,
    ).toBe(401);
    expect((await request(door, "POST", `/api/reload?token=${door.operator}`, { body: {} })).status).toBe(401);
  });
});

describe("bounds", () => {
  it("cuts off heads that trickle, and serves others meanwhile", async () => {
    const slow = Array.from({ length: 50 }, () => rawExchange(door.port, "GET /healthz HTTP/1.1\r\nHost: 1", 6000));
    expect((await request(door, "GET", "/healthz")).status).toBe(200);
    for (const { closed } of await Promise.all(slow)) expect(closed).toBe(true);
  });

  it("cuts off a body that trickles", async () => {
    const { text, closed } = await rawExchange(
      door.port,
      `POST /api/reload HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nAuthorization: Bearer ${door.operator}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
      8000,
    );
    expect(closed).toBe(true);
    expect(text).toMatch(/^(HTTP\/1\.1 4|$)/);
  });

  it("refuses compressed and oversized bodies", async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    expect((await request(door, "POST", "/api/reload", { token: door.operator, body: bomb, headers: { "content-encoding": "gzip" } })).status).toBe(415);
    const head = `POST /api/reload HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nAuthorization: Bearer ${door.operator}\r\nContent-Type: application/json\r\n`;
    expect((await rawExchange(door.port, `${head}Content-Length: 5000000\r\n\r\n`)).text).toMatch(/^HTTP\/1\.1 413 /);
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n500000\r\n${" ".repeat(0x500000)}\r\n`;
    expect((await rawExchange(door.port, chunked)).text).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("refuses oversized heads, and smuggling by two lengths", async () => {
    const host = `Host: 127.0.0.1:${door.port}\r\n`;
    expect((await rawExchange(door.port, `GET /healthz HTTP/1.1\r\n${host}X: ${"a".repeat(40_000)}\r\n\r\n`)).text).toMatch(/^HTTP\/1\.1 431 /);
    expect((await rawExchange(door.port, `POST /api/reload HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`)).text).toMatch(
      /^HTTP\/1\.1 400 /,
    );
  });

  it("answers a client that offers another protocol in the one that it came with, after every check", async () => {
    const offer = (upgrade: string, head: string) =>
      rawExchange(
        door.port,
        `POST /api/call HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${upgrade}\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n${head}Content-Type: application/json\r\nContent-Length: 31\r\n\r\n{"tool":"echo","arguments":{}} `,
        300,
      );
    const host = `Host: 127.0.0.1:${door.port}\r\n`;
    const token = `Authorization: Bearer ${door.caller}\r\n`;
    for (const upgrade of ["h2c", "websocket"]) {
      expect((await offer(upgrade, host + token)).text).toMatch(/^HTTP\/1\.1 200 [^]*"ok":true/);
      expect((await offer(upgrade, host)).text).toMatch(/^HTTP\/1\.1 401 /);
      expect((await offer(upgrade, `Host: evil.invalid\r\n${token}`)).text).toMatch(/^HTTP\/1\.1 403 /);
      expect((await offer(upgrade, `${host}${token}Origin: http://evil.invalid\r\n`)).text).toMatch(/^HTTP\/1\.1 403 /);
    }
  });

  it("keeps the connection of a refused request that had no body", async () => {
    const get = `GET /api/status HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\n\r\n`;
    const { text } = await rawExchange(door.port, get + get, 500);
    expect(text.match(/HTTP\/1\.1 401 /g)).toHaveLength(2);
  });

  it("refuses nesting beyond reason before anybody walks it", async () => {
    for (const depth of [600, 100_000]) {
      const body = `{"tool":"org.demo.echo","arguments":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
      const answer = await request(door, "POST", "/api/call", { token: door.caller, body });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("nested deeper than 500 levels")]);
    }
  });

  it("leaves prototypes alone whatever keys come in", async () => {
    await request(door, "POST", "/api/call", { token: door.caller, body: '{"tool":"org.demo.echo","arguments":{"__proto__":{"isAdmin":true},"path":"/a"}}' });
    expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
    expect(Object.hasOwn(kit.calls.at(-1)!.args as object, "__proto__")).toBe(true);
    expect((await request(door, "GET", "/api/apps/__proto__", { token: door.caller })).status).toBe(404);
  });
});

describe("where it listens", () => {
  const start = (gateway: Partial<typeof LOCAL_DOOR>) =>
    startHttpServer({
      gateway: { ...LOCAL_DOOR, ...gateway },
      tokens: () => ({ authenticate: () => null, principals: [], warnings: [] }),
      routes: [],
      log: memoryLog(),
    });

  it("refuses to listen beyond loopback without a token and TLS, and names the settings", async () => {
    await expect(start({ host: "0.0.0.0" })).rejects.toThrow(/gateway\.tls.*allow_insecure_listen/);
    await expect(start({ host: "::" })).rejects.toThrow(/gateway\.tls/);
    await expect(start({ host: "192.0.2.1", authMode: "none", allowInsecureListen: true })).rejects.toThrow(/gateway\.auth\.mode/);
    const open = await start({ host: "0.0.0.0", allowInsecureListen: true });
    expect(open.url).toBe(`http://127.0.0.1:${open.port}`);
    await open.close();
  });

  it("names the setting when the port is busy", async () => {
    await expect(start({ port: door.port })).rejects.toThrow(`gateway.listen: 127.0.0.1:${door.port} is in use`);
  });

  it("names the setting when the certificate cannot be read", async () => {
    await expect(start({ tls: { cert: "/nowhere/cert.pem", key: "/nowhere/key.pem" } })).rejects.toThrow(/gateway\.tls: .*cert\.pem/);
  });
});
