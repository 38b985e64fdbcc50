import { describe, expect } from "vitest";
import { hasErrors } from "../../src/base/diagnostics.ts";
import { loadConfig } from "../../src/config/load.ts";
import { compilePlan } from "../../src/plan/compile.ts";
import { diffPlans } from "../../src/plan/diff.ts";
import type { Plan } from "../../src/plan/types.ts";
import { fc, test as property } from "./property.ts";
import { dress, withDefaults, type Dice } from "./support/dress.ts";
import { NO_CHANGES } from "../support/changes.ts";

const HTTP = {
  url: "https://mcp.example.org/mcp",
  headers: { Authorization: "Bearer ${TOKEN}", "X-Kind": "a" },
  auth: { oauth: { client_id: "c" } },
  tls: { ca: "ca.pem" },
};
const LIFE = { restart: { max_attempts: 4 } };

/** Much of the configuration, none of it at its default. */
const FILES = {
  "topology/topology.yaml": {
    topology: 1,
    name: "n",
    discover: [{ glob: "../apps/*/manifest.yaml", trusted: true }],
    apps: {
      "org.b.http": { mcp: { ...HTTP, ...LIFE }, trust: "high", tools: { rename: { a: "b" } }, call_timeout: "1m" },
      "org.c.low": { mcp: { command: "node", args: ["a.js", "--x"], env: { A: "1" } }, grants: { sampling: { forward: true } } },
    },
    inbox: { receipts: "off" },
    exports: [
      { format: "openai", file: "o.json" },
      { format: "litellm", file: "l.json", mode: "search" },
    ],
    gateway: { listen: "127.0.0.1:7801", clients: [{ name: "bot", token_file: "bot.token" }] },
    policies: ["policies/*.yaml"],
    signals: ["signals/*.yaml"],
  },
  "apps/a/manifest.yaml": {
    package: "org.a.stdio",
    type: "mcp-server",
    version: "1.10",
    mcp: { command: ["node", "server.js"], env: { A: "1", B: "2" }, ...LIFE },
    commands: [{ name: "send", risk: "high" }],
  },
  "topology/policies/p.yaml": {
    rules: [
      { id: "a", tools: ["x_*", "send"], args: { to: { equals: "me" } }, action: "allow" },
      { id: "b", tools: ["send"], risk: "high" },
    ],
    data_flow: { action: "deny" },
  },
  "topology/signals/s.yaml": {
    rules: [
      { id: "r", when: { method: "notifications/x", params: { a: "1" } }, emit: { type: "x.y", data: "{params}" } },
      { id: "d", when: { method: "notifications/y" }, drop: true },
    ],
  },
} as const;

describe("what means the same", () => {
  property(
    "changes nothing: order of keys, comments, style, anchors and written defaults",
    fc.nat(),
    (seed) => {
      const dice = diceOf(seed);
      const topology = FILES["topology/topology.yaml"];
      const apps = Object.fromEntries(Object.entries(topology.apps).map(([name, entry]) => [name, appDefaults(entry, dice)]));
      const dressed = planOf({
        ...texts(dice, {
          ...FILES,
          "topology/topology.yaml": {
            ...withDefaults({ ...topology, apps: undefined }, "topology.schema.json", "", dice, ["limits", "log", "audit", "defaults"]),
            apps,
          },
          "apps/a/manifest.yaml": appDefaults(FILES["apps/a/manifest.yaml"], dice),
        }),
      });
      const changes = diffPlans(PLAIN, dressed);
      expect(changes).toEqual({ ...NO_CHANGES, unchanged: ["org.a.stdio", "org.b.http", "org.c.low"] });
      expect(dressed.digest).toBe(PLAIN.digest);
      expect(diffPlans(dressed, dressed).empty).toBe(true);
    },
    120,
  );
});

const PLAIN = planOf(texts(() => 0, FILES));

/** A small generator of its own (mulberry32), so that one number tells the whole case. */
function diceOf(seed: number): Dice {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

function appDefaults(app: object, dice: Dice): Record<string, unknown> {
  const filled = withDefaults(app as Record<string, unknown>, "app.schema.json", "/$defs/entry", dice);
  // A key of the other transport is an error, whatever it says.
  if (!JSON.stringify(app).includes('"url"')) delete (filled["mcp"] as Record<string, unknown>)["allow_http"];
  return filled;
}

function texts(dice: Dice, files: Readonly<Record<string, object>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, value]) => [name, dress(JSON.parse(JSON.stringify(value)), dice)]));
}

function planOf(files: Readonly<Record<string, string>>): Plan {
  const source = (display: string) => ({ file: `/ws/${display}`, display, text: files[display]! });
  const loaded = loadConfig(
    {
      root: "/ws",
      topology: source("topology/topology.yaml"),
      manifests: [{ ...source("apps/a/manifest.yaml"), trusted: true }],
      policies: [source("topology/policies/p.yaml")],
      signals: [source("topology/signals/s.yaml")],
      unmatched: [],
      unreadable: [],
    },
    { env: { TOKEN: "t0ken-of-the-app" }, readSecretFile: () => "x" },
  );
  expect(
    hasErrors(loaded.diagnostics),
    `${JSON.stringify(
      loaded.diagnostics.filter((d) => d.severity === "error"),
      null,
      1,
    )}\n${Object.values(files).join("\n=====\n")}`,
  ).toBe(false);
  return compilePlan(loaded.config!, { secretKey: "key" }).plan;
}
