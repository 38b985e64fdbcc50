import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { webRoutes } from "../../src/web/web-routes.ts";
import { createFakeKit } from "../support/fake-kit.ts";
import { openDoor, request, type Door } from "../support/door.ts";
import { createMetrics } from "../../src/control/metrics.ts";
import { createRoutes } from "../../src/control/routes.ts";

const kit = createFakeKit([{ package: "org.demo", tools: [{ name: "echo" }] }]);
const assets = new URL("../../src/web/assets/", import.meta.url);
let door: Door;
beforeAll(async () => {
  const metrics = createMetrics(kit);
  door = await openDoor(kit, {
    server: { routes: createRoutes({ kit, metrics, version: "0.0.0", mcp: { handle: () => undefined }, extra: await webRoutes() }) },
  });
});
afterAll(() => door.stop());
const get = (path: string, headers: Record<string, string> = {}) => request(door, "GET", path, { headers });

describe("the web page's files", () => {
  it("are served without a token, with types and a policy that allows nothing inline and nothing from elsewhere", async () => {
    for (const [path, type] of [
      ["/", "text/html"],
      ["/web/main.js", "text/javascript"],
      ["/web/style.css", "text/css"],
      ["/web/icon.svg", "image/svg+xml"],
    ] as const) {
      const { status, headers } = await get(path);
      expect([path, status, headers["content-type"]?.startsWith(type)]).toEqual([path, 200, true]);
      const rules = String(headers["content-security-policy"]).split("; ");
      expect(rules).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "frame-ancestors 'none'",
          "base-uri 'none'",
          "form-action 'none'",
          "require-trusted-types-for 'script'",
          "trusted-types 'none'",
        ]),
      );
      expect(rules.join()).not.toMatch(/unsafe|\*|https?:|data:/);
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "x-frame-options": "DENY" });
      expect(headers["set-cookie"]).toBeUndefined();
    }
  });

  it("name only files that are there, and nothing of the host", async () => {
    const { text } = await get("/");
    const named = [...text.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map((match) => match[1]!);
    expect(named.length).toBeGreaterThan(3);
    for (const path of named) expect([path, (await get(path)).status]).toEqual([path, 200]);
    expect(text).not.toContain("test");
    expect(text).not.toMatch(/<script(?![^>]*src=)|<style|style=|\son\w+=/);
  });

  it("import only each other, and make no markup out of text", async () => {
    const files = (await readdir(assets)).filter((file) => file.endsWith(".js"));
    for (const file of files) {
      const text = await readFile(new URL(file, assets), "utf8");
      for (const [, source] of text.matchAll(/from "([^"]+)"/g)) expect([file, files.includes(source!.replace("./", ""))]).toEqual([file, true]);
      expect([
        file,
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|await import|localStorage|document\.cookie/.exec(text)?.[0],
      ]).toEqual([file, undefined]);
    }
  });

  it("are fetched again only when they changed", async () => {
    const first = await get("/web/main.js");
    expect(first.headers["cache-control"]).toBe("no-cache");
    const again = await get("/web/main.js", { "if-none-match": first.headers.etag! });
    expect([again.status, again.text]).toEqual([304, ""]);
    expect((await get("/web/main.js", { "if-none-match": '"x"' })).status).toBe(200);
  });

  it("and nothing beside them is", async () => {
    for (const path of [
      "/web/",
      "/web/none.js",
      "/web/..%2fweb-routes.ts",
      "/web/%2e%2e/web-routes.ts",
      "/web/tsconfig.json",
      "/web/__proto__",
      "/index.html",
      "/web/a/b",
    ])
      expect([path, [401, 404].includes((await get(path)).status)]).toEqual([path, true]);
    expect((await request(door, "POST", "/", { body: {} })).status).toBe(401);
  });

  it("Host and Origin are checked for them too", async () => {
    expect((await get("/", { host: "evil.example" })).status).toBe(403);
    expect((await get("/", { origin: "https://evil.example" })).status).toBe(403);
  });
});

describe("what the page asks the host", () => {
  it("whoami tells role and name of a token, and needs one", async () => {
    const who = async (token?: string) => (await request(door, "GET", "/api/whoami", token ? { token } : {})).json;
    expect(await who(door.operator)).toEqual({ role: "operator", client: "operator" });
    expect(await who(door.caller)).toEqual({ role: "caller", client: "caller" });
    expect(await who()).toMatchObject({ error_code: "UNAUTHORIZED" });
  });

  it("graph and schemas are for operators; an unknown tool is 404", async () => {
    for (const path of ["/api/graph", "/api/schemas?tool=org.demo.echo"]) {
      expect((await request(door, "GET", path, { token: door.caller })).status).toBe(403);
      expect((await request(door, "GET", path, { token: door.operator })).status).toBe(200);
    }
    expect((await request(door, "GET", "/api/schemas?tool=org.demo.none", { token: door.operator })).status).toBe(404);
    expect((await request(door, "GET", "/api/schemas", { token: door.operator })).status).toBe(400);
  });
});
