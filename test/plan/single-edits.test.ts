import { describe, expect, it } from "vitest";
import { hasErrors } from "../../src/base/diagnostics.ts";
import { loadConfig } from "../../src/config/load.ts";
import { compilePlan } from "../../src/plan/compile.ts";
import { diffPlans } from "../../src/plan/diff.ts";
import type { ChangeSet, Plan } from "../../src/plan/types.ts";
import { schemaEdits, withEdit, type Edit } from "./support/schema-edits.ts";
import { NO_CHANGES } from "../support/changes.ts";

const COMMON = {
  name: "A",
  version: "1.0",
  description: "d",
  commands: [{ name: "send", title: "t", description: "d", risk: "high", parameters: ["p"], returns: "r" }],
  trust: "high",
  instance: "i",
  start_timeout: "11s",
  call_timeout: "12s",
  max_total_timeout: "13s",
  drain_timeout: "14s",
  max_concurrent_calls: 5,
  max_sessions: 6,
  tools: { include: ["a_*"], exclude: ["b_*"], rename: { a_b: "c" } },
  isolation: "session",
  subscribe: ["repo://main"],
  output_check: "strict",
  log_level: "warning",
  grants: {
    roots: ["../files"],
    sampling: { forward: true, endpoint: "http://127.0.0.1:4000/v1", api_key: "k3y-of-the-endpoint", model: "m", max_tokens: 10, rate: "5/min" },
    elicitation: { forward: true, approvals: true },
  },
};
const LIFE = { health_timeout: 11, restart: { enabled: false, max_attempts: 4, backoff_seconds: 3 }, handover: "stop_first", protocol: "legacy" };

const STDIO = {
  ...COMMON,
  env: { B: "1" },
  mcp: {
    transport: "stdio",
    command: ["node", "server.js"],
    args: ["a"],
    cwd: "work",
    env: { A: "1" },
    inherit_env: ["HTTP_PROXY"],
    line_bytes: "3MiB",
    ...LIFE,
  },
};
const HTTP = {
  ...COMMON,
  mcp: {
    transport: "http",
    url: "https://mcp.example.org/mcp",
    allow_http: true,
    headers: { "X-Kind": "a" },
    tls: { ca: "ca.pem", insecure: true },
    ...LIFE,
    auth: {
      bearer: "t0ken-of-the-app",
      oauth: {
        grant: "client_credentials",
        client_id: "c",
        client_secret: "s3cret-of-the-app",
        client_metadata_url: "https://x.example/m",
        private_key: "k",
        signing_algorithm: "RS256",
        issuer: "https://i.example",
        scopes: ["s"],
        redirect_port: 4000,
      },
    },
  },
};
const PLAIN = { trust: "high", mcp: { command: "node", entry: "main.js" } };

const TOPOLOGY = {
  topology: 1,
  name: "n",
  data_dir: "../state",
  apps: { "org.a.stdio": STDIO, "org.b.http": HTTP, "org.c.plain": PLAIN },
  defaults: { start_timeout: "21s", call_timeout: "22s", max_total_timeout: "23s", drain_timeout: "24s" },
  inbox: {
    sink: "off",
    dir: "in",
    format: "app_event",
    receipts: "receipts",
    resources: "all",
    fsync: false,
    max_pending: 100,
    webhook: { url: "https://h.example/x", secret: "s3cret-of-the-hook" },
  },
  exports: [{ format: "openai", file: "o.json", max_name: 40, budget_tokens: 100, max_tools: 10, mode: "search", order: "append" }],
  gateway: {
    listen: "127.0.0.1:7801",
    naming: "full",
    auth: { mode: "none" },
    denied: "refuse",
    invalid_arguments: "result",
    tls: { cert: "c.pem", key: "k.pem" },
    allow_insecure_listen: true,
    allowed_hosts: ["h"],
    clients: [{ name: "bot", token_file: "bot.token", tools: { include: ["org.*"], exclude: ["org.b*"] } }],
  },
  limits: { concurrent_starts: 2, result_bytes: "2MiB", message_bytes: "1MiB", line_bytes: "5MiB", tools_per_app: 100, list_pages: 10 },
  reload: "confirm",
  watch: "poll",
  pins: "warn",
  log: { level: "warn", bodies: "debug", chat_text: true },
  audit: { file: "a.jsonl", arguments: "shapes", max_bytes: "9MiB" },
};

const ALL = ["org.a.stdio", "org.b.http", "org.c.plain"];
const { unchanged: _all, empty: _nothing, ...NOTHING } = NO_CHANGES;

/** Fields that say nothing to the host: documentation, and leave for a check. */
const SILENT = new Set(["description", "commands[].title", "commands[].parameters", "commands[].returns", "mcp.allow_http"]);
/** What cannot be changed alone: the transport goes with its keys, and patterns name other files. */
const NOT_ALONE = new Set(["discover", "policies", "signals", "apps.*.mcp.transport"]);

describe("an edit of one field in topology.yaml", () => {
  const { edits, absent } = schemaEdits(TOPOLOGY, "topology.schema.json");
  const before = planOf(TOPOLOGY);

  it("is tried for every field of the schema", () => {
    const tried = new Set(edits.map((edit) => edit.field));
    const covered = (field: string): boolean => [...tried].some((t) => t === field || t.startsWith(`${field}.`) || t.startsWith(`${field}[`));
    expect(new Set(absent.filter((field) => !NOT_ALONE.has(field) && !covered(field)))).toEqual(new Set(["apps.*.enabled"]));
    expect(tried.size).toBeGreaterThan(110);
  });

  it.each(edits.filter(isPossible).map((edit) => [`${edit.kind} of ${edit.at.join(".")}`, edit] as const))(
    "%s changes what its class says and nothing else",
    (_name, edit) => {
      const { empty, unchanged, ...changes } = diffPlans(before, planOf(withEdit(TOPOLOGY, edit)));
      const expected = { ...NOTHING, ...expectation(edit) };
      expect(changes).toEqual(expected);
      expect(empty).toBe(JSON.stringify(expected) === JSON.stringify(NOTHING));
      const touched = [...changes.restart, ...changes.reconnect, ...changes.relist, ...changes.live];
      expect(unchanged).toEqual(ALL.filter((app) => !touched.includes(app)));
    },
  );
});

describe("an edit of one field in a manifest", () => {
  const manifests = { "org.a.stdio": STDIO, "org.b.http": HTTP, "org.c.plain": PLAIN };
  const before = planOf({ topology: 1 }, manifests);
  const cases = Object.entries(manifests).flatMap(([app, settings]) =>
    schemaEdits(settings, "app.schema.json").edits.map((edit) => ({ app, settings, edit: { ...edit, field: `apps.*.${edit.field}`, at: edit.at } })),
  );

  it.each(cases.filter(({ edit }) => isPossible(edit)).map((c) => [`${c.edit.kind} of ${c.edit.at.join(".")} of ${c.app}`, c] as const))(
    "%s changes that app as its class says",
    (_name, { app, settings, edit }) => {
      const {
        empty: _empty,
        unchanged: _unchanged,
        ...changes
      } = diffPlans(before, planOf({ topology: 1 }, { ...manifests, [app]: withEdit(settings, edit) }));
      expect(changes).toEqual({ ...NOTHING, ...expectation({ ...edit, at: ["apps", app, ...edit.at] }) });
    },
  );
});

it("enabled stops and starts", () => {
  const off = planOf({ ...TOPOLOGY, apps: { ...TOPOLOGY.apps, "org.a.stdio": { ...STDIO, enabled: false } } });
  expect(diffPlans(planOf(TOPOLOGY), off)).toMatchObject({ stop: ["org.a.stdio"], parked: ["org.a.stdio"], restart: [], live: [] });
  expect(diffPlans(off, planOf(TOPOLOGY))).toMatchObject({ start: ["org.a.stdio"], parked: ["org.a.stdio"], restart: [], live: [] });
});

function isPossible(edit: Edit): boolean {
  if (edit.field === "topology" || NOT_ALONE.has(edit.field)) return false;
  // Without them the app has no transport, or the file no name.
  return edit.kind === "change" || !["apps.*.mcp.command", "apps.*.mcp.url", "apps.*.package"].includes(edit.field);
}

function expectation(edit: Edit): Partial<ChangeSet> {
  const [top, key] = edit.field.split(/[.[]/) as [string, string];
  if (top === "apps") {
    if (SILENT.has(edit.field.slice("apps.*.".length))) return {};
    return { [edit.class]: [String(edit.at[1])] };
  }
  if (top === "defaults") return { live: ["org.c.plain"] };
  if (top === "exports") return { exports: true };
  if (edit.class === "host") return { host: [edit.field] };
  // Limits that reach into apps.
  if (top === "limits" && edit.class === "relist") return { relist: ALL, settings: true };
  if (key === "line_bytes") return { restart: ["org.c.plain"], settings: true };
  if (key === "result_bytes") return { reconnect: ["org.b.http"], settings: true };
  return { settings: true };
}

function planOf(topology: unknown, manifests: Readonly<Record<string, unknown>> = {}): Plan {
  const source = (display: string, value: unknown) => ({ file: `/ws/${display}`, display, text: JSON.stringify(value, null, 1) });
  const files = {
    root: "/ws",
    topology: source("topology/topology.yaml", topology),
    manifests: Object.entries(manifests).map(([name, value]) => ({
      ...source(`apps/${name}/manifest.yaml`, { package: name, type: "mcp-server", ...(value as object) }),
      trusted: true,
    })),
    policies: [],
    signals: [],
    unmatched: [],
    unreadable: [],
  };
  const loaded = loadConfig(files, { env: {}, readSecretFile: () => "x" });
  expect(
    hasErrors(loaded.diagnostics),
    JSON.stringify(
      loaded.diagnostics.filter((d) => d.severity === "error"),
      null,
      1,
    ),
  ).toBe(false);
  return compilePlan(loaded.config!, { secretKey: "key" }).plan;
}
