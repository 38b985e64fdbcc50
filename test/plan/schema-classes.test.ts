import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { isObject } from "../../src/base/json.ts";
import { classifyLeaves, schemaProperties } from "../../src/plan/schema-classes.ts";

describe("reload classes in the schemas", () => {
  it("classifies every leaf by its own x-reload, else by its parent's", () => {
    const leaves = classifyLeaves(
      { name: "n", mcp: { command: ["a"], env: { A: "1" }, url: "http://x", health_timeout: 3 }, tools: { include: ["a"] }, grants: { roots: ["/r"] } },
      "app.schema.json",
      "/$defs/entry",
    );
    expect(Object.fromEntries(leaves.map((l) => [l.path, l.class]))).toEqual({
      name: "live",
      "mcp.command": "restart",
      "mcp.env.A": "restart",
      "mcp.url": "reconnect",
      "mcp.health_timeout": "live",
      "tools.include": "live",
      "grants.roots": "reconnect",
    });
  });

  it("has a description and a reload class on every property of every configuration schema", async () => {
    for (const file of (await readdir("schemas")).filter((f) => f.endsWith(".schema.json"))) {
      const schema = JSON.parse(await readFile(`schemas/${file}`, "utf8")) as Record<string, unknown>;
      const events = file === "amp.schema.json" || file === "aurora-event.schema.json";
      const visit = (node: unknown, path: string): void => {
        if (Array.isArray(node)) return node.forEach((n, i) => visit(n, `${path}/${i}`));
        if (!isObject(node)) return;
        if (isObject(node["properties"])) {
          for (const [key, property] of Object.entries(node["properties"])) {
            const p = property as Record<string, unknown>;
            if (typeof p["$ref"] === "string" && p["description"] === undefined) continue;
            expect(p["description"], `${file}${path}/properties/${key} needs a description`).toEqual(expect.stringMatching(/\S/));
            if (!events) expect(["live", "relist", "reconnect", "restart", "host"], `${file}${path}/properties/${key} needs x-reload`).toContain(p["x-reload"]);
          }
        }
        for (const [key, value] of Object.entries(node)) visit(value, `${path}/${key}`);
      };
      visit(schema, "");
    }
  });

  it("lists every property once for the docs", () => {
    const rows = schemaProperties("topology.schema.json");
    expect(rows.find((r) => r.path === "gateway.listen")).toMatchObject({ class: "host" });
    expect(rows.find((r) => r.path === "exports[].format")).toMatchObject({ class: "live" });
    expect(rows.every((r) => r.description !== "")).toBe(true);
  });
});
