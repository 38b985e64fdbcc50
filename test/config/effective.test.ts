import { expect, test } from "vitest";
import { parse } from "yaml";
import { effectiveConfig, effectiveYaml } from "../../src/config/effective.ts";
import { load } from "./workspace.ts";
import { VALID, withFile } from "./valid-workspace.ts";

const effective = effectiveConfig(load(VALID).config!);
const yaml = effectiveYaml(effective);

test("the YAML holds the same value", () => {
  expect(parse(yaml)).toEqual(JSON.parse(JSON.stringify(effective.value)));
});

test("values are resolved, and defaults filled in", () => {
  expect(effective.value).toMatchObject({
    name: "aurora",
    data_dir: "/ws/data",
    pins: "first_use",
    gateway: { listen: "127.0.0.1:7801", naming: "short" },
    defaults: { call_timeout: 30, drain_timeout: "30s" },
    limits: { result_bytes: "32MiB", list_pages: 200 },
    log: { level: "info", bodies: "never" },
    apps: {
      "im.polaris.qq": {
        call_timeout: "10s",
        enabled: true,
        mcp: { cwd: "/ws", entry: "/ws/apps/qq/mcp_server.py", handover: "overlap", env: { ONEBOT_URL: "http://127.0.0.1:3000", LIMIT: "10" } },
      },
      "org.example.search": { mcp: { url: "https://mcp.example.org/mcp", allow_http: false } },
    },
  });
});

test("secrets never stand in it", () => {
  expect(yaml).not.toMatch(/s3arch|qq-s3cret/);
  expect(yaml).toMatch(/QQ_TOKEN: "\*\*\*"/);
  expect(yaml).toMatch(/Authorization: "\*\*\*"/);
});

test("every value says where it comes from", () => {
  const line = (key: string): string => yaml.split("\n").find((l) => l.trim().startsWith(`${key}:`))!;
  expect(line("name")).toBe("name: aurora  # topology/topology.yaml:3");
  expect(line("listen")).toBe('  listen: "127.0.0.1:7801"  # topology/topology.yaml:27, ${PORT}');
  expect(line("pins")).toBe("pins: first_use  # default");
  expect(line("data_dir")).toBe("data_dir: /ws/data  # topology/topology.yaml:4");
  // Filled in, not written.
  expect(line("cwd")).toBe("      cwd: /ws  # default");
  expect(yaml).toContain("  dir: /ws/data/kernel/inbox/pending  # default\n");
  expect(line("ONEBOT_URL")).toContain("# topology/topology.yaml:9, ${ONEBOT_URL}");
  expect(line("QQ_TOKEN")).toContain("# apps/qq/manifest.yaml:9, ${file:token.txt}");
  const fallback = effectiveYaml(effectiveConfig(load({ ...VALID, env: { SEARCH_TOKEN: "abcdefgh", PORT: "1" } }).config!));
  expect(fallback).toContain("${ONEBOT_URL (unset, default)}");
  for (const [path, source] of effective.sources) expect(source.kind === "default" || source.line > 0, path).toBe(true);
});

test("the trust of an app that names none is shown, by where it comes from", () => {
  const files = {
    "topology/topology.yaml": "topology: 1\napps:\n  own: { mcp: { command: node } }\n",
    "apps/a/manifest.yaml": "package: a\nmcp: { command: node }\n",
  };
  const shown = effectiveConfig(load({ files }).config!);
  expect(shown.value["apps"]).toMatchObject({ own: { trust: "low" }, a: { trust: "medium" } });
  expect(shown.sources.get("apps.own.trust")).toEqual({ kind: "default" });
  expect(effectiveYaml(shown)).toContain("    trust: low  # default\n");
});

test("apps that do not run are told with their reason", () => {
  const broken = effectiveConfig(load(withFile("apps/qq/manifest.yaml", "package: im.polaris.qq\nmcp: { comand: x }\n")).config!);
  expect(broken.value["apps"]).toMatchObject({
    "im.polaris.qq": { state: "failed", reason: expect.stringContaining("comand"), declared_in: "apps/qq/manifest.yaml" },
  });
});
