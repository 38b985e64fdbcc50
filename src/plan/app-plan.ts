import { trustOf } from "../config/trust.ts";
import type { AppConfig } from "../config/types.ts";
import { compileGlob } from "../base/glob.ts";
import { parseDuration, parseSize } from "../base/durations.ts";
import { keyedDigest } from "../base/json.ts";
import type { TopologyConfig } from "../../generated/topology.d.ts";
import type { AppManifest, McpSettings } from "../../generated/app.d.ts";
import type { Risk } from "../tools/types.ts";
import { classifyLeaves } from "./schema-classes.ts";
import type { AppPlan, HttpSpec, ReloadClass, StdioSpec } from "./types.ts";

/** Topology-wide values that apps fall back to, in milliseconds and bytes. */
export interface AppDefaults {
  readonly root: string;
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly maxTotalTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly lineBytes: number;
  readonly resultBytes: number;
  readonly toolsPerApp: number;
  readonly listPages: number;
}

/** Resolves the topology's `defaults` and `limits` for apps. The values have passed the schema check, so they parse. */
export function appDefaults(root: string, topology: TopologyConfig): AppDefaults {
  const d = topology.defaults ?? {};
  const limits = topology.limits ?? {};
  return {
    root,
    startTimeoutMs: duration(d.start_timeout, 60_000),
    callTimeoutMs: duration(d.call_timeout, 30_000),
    maxTotalTimeoutMs: duration(d.max_total_timeout, 600_000),
    drainTimeoutMs: duration(d.drain_timeout, 30_000),
    lineBytes: size(limits.line_bytes, 64 * 1024 ** 2),
    resultBytes: size(limits.result_bytes, 32 * 1024 ** 2),
    toolsPerApp: limits.tools_per_app ?? 10_000,
    listPages: limits.list_pages ?? 200,
  };
}

/**
 * Compiles one app. Everything is resolved; the digests say, class by class, whether two plans of an app differ.
 * `secretKey` keys the digests, so that they tell nothing about secrets in `env` and `headers`.
 */
export function compileApp(app: AppConfig, defaults: AppDefaults, secretKey: string): AppPlan {
  const s = app.settings;
  const trust = trustOf(app);
  const connect = s.mcp.url === undefined ? stdioSpec(s, defaults) : httpSpec(s.mcp, defaults);
  const counted = app.trusted || app.trustFromTopology;
  const values = {
    package: app.package,
    name: s.name ?? app.package,
    version: s.version ?? null,
    instance: s.instance ?? app.package,
    trust,
    connect,
    protocol: s.mcp.protocol ?? "auto",
    isolation: s.isolation ?? "shared",
    grants: s.grants ?? {},
    handover: s.mcp.handover ?? "overlap",
    restart: {
      enabled: s.mcp.restart?.enabled ?? true,
      maxAttempts: s.mcp.restart?.max_attempts ?? 3,
      backoffMs: (s.mcp.restart?.backoff_seconds ?? 2) * 1000,
    },
    healthTimeoutMs: duration(s.mcp.health_timeout, 10_000),
    startTimeoutMs: duration(s.start_timeout, defaults.startTimeoutMs),
    callTimeoutMs: duration(s.call_timeout, defaults.callTimeoutMs),
    maxTotalTimeoutMs: duration(s.max_total_timeout, defaults.maxTotalTimeoutMs),
    drainTimeoutMs: duration(s.drain_timeout, defaults.drainTimeoutMs),
    maxConcurrentCalls: s.max_concurrent_calls ?? 64,
    maxSessions: s.max_sessions ?? 64,
    include: s.tools?.include?.map(compileGlob) ?? null,
    exclude: (s.tools?.exclude ?? []).map(compileGlob),
    rename: s.tools?.rename ?? {},
    manifestRisks: counted ? manifestRisks(s) : {},
    commands: (s.commands ?? []).map((c) => ({ name: c.name, description: c.description ?? null })),
    subscribe: s.subscribe ?? [],
    outputCheck: s.output_check ?? (trust === "low" ? "strict" : "lenient"),
    logLevel: s.log_level ?? null,
    source: app.display,
  } satisfies Omit<AppPlan, "digests">;
  return { ...values, digests: classDigests(values, defaults, secretKey) };
}

function manifestRisks(s: AppManifest): Record<string, Risk> {
  const out: Record<string, Risk> = Object.create(null) as Record<string, Risk>;
  for (const command of s.commands ?? []) if (command.risk !== undefined) out[command.name] = command.risk;
  return out;
}

function stdioSpec(s: AppManifest, defaults: AppDefaults): StdioSpec {
  const mcp = s.mcp;
  const words = mcp.command === undefined ? [] : typeof mcp.command === "string" ? [mcp.command] : mcp.command;
  const [command = "", ...first] = words;
  const rest = mcp.args ?? (mcp.entry === undefined ? [] : [mcp.entry]);
  return {
    transport: "stdio",
    command,
    args: [...first, ...rest],
    cwd: mcp.cwd ?? defaults.root,
    env: { ...(mcp.env as Record<string, string> | undefined), ...(s.env as Record<string, string> | undefined) },
    inheritEnv: mcp.inherit_env ?? [],
    lineBytes: size(mcp.line_bytes, defaults.lineBytes),
  };
}

/** Written or not, they mean the same. */
const OAUTH_DEFAULTS = { grant: "authorization_code", signing_algorithm: "ES256", redirect_port: 0 };

function httpSpec(mcp: McpSettings, defaults: AppDefaults): HttpSpec {
  return {
    transport: "http",
    url: mcp.url ?? "",
    headers: mcp.headers ?? {},
    bearer: mcp.auth?.bearer ?? null,
    oauth: mcp.auth?.oauth === undefined ? null : { ...OAUTH_DEFAULTS, ...mcp.auth.oauth },
    ca: mcp.tls?.ca ?? null,
    insecure: mcp.tls?.insecure ?? false,
    bodyBytes: defaults.resultBytes,
  };
}

/**
 * One digest per reload class over the effective values, put back under the keys that the schema knows. Explicit defaults,
 * key order and comments therefore change nothing, and removing a key is a change.
 */
function classDigests(plan: Omit<AppPlan, "digests">, defaults: AppDefaults, secretKey: string): AppPlan["digests"] {
  const c = plan.connect;
  const effective = {
    name: plan.name,
    version: plan.version,
    trust: plan.trust,
    instance: plan.instance,
    start_timeout: plan.startTimeoutMs,
    call_timeout: plan.callTimeoutMs,
    max_total_timeout: plan.maxTotalTimeoutMs,
    drain_timeout: plan.drainTimeoutMs,
    max_concurrent_calls: plan.maxConcurrentCalls,
    max_sessions: plan.maxSessions,
    commands: [plan.commands, plan.manifestRisks],
    tools: { include: plan.include?.map((g) => g.source) ?? null, exclude: plan.exclude.map((g) => g.source), rename: plan.rename },
    isolation: plan.isolation,
    grants: plan.grants,
    subscribe: plan.subscribe,
    output_check: plan.outputCheck,
    log_level: plan.logLevel,
    mcp: {
      transport: c.transport,
      protocol: plan.protocol,
      ...(c.transport === "stdio"
        ? { command: c.command, args: c.args, cwd: c.cwd, env: c.env, inherit_env: c.inheritEnv, line_bytes: c.lineBytes }
        : { url: c.url, headers: c.headers, auth: { bearer: c.bearer, oauth: c.oauth }, tls: { ca: c.ca, insecure: c.insecure } }),
      health_timeout: plan.healthTimeoutMs,
      restart: plan.restart,
      handover: plan.handover,
    },
  };
  // Limits of the topology that reach into each app have the class that they have there.
  const limits = { tools_per_app: defaults.toolsPerApp, list_pages: defaults.listPages, ...(c.transport === "http" ? { result_bytes: c.bodyBytes } : {}) };
  const byClass: Record<ReloadClass, [string, unknown][]> = { live: [], relist: [], reconnect: [], restart: [], host: [] };
  const leaves = [...classifyLeaves(effective, "app.schema.json", "/$defs/entry"), ...classifyLeaves({ limits }, "topology.schema.json", "")];
  for (const leaf of leaves) byClass[leaf.class].push([leaf.path, leaf.value]);
  const hash = (cls: ReloadClass): string => keyedDigest(byClass[cls], `app-${cls}`, secretKey);
  return { live: hash("live"), relist: hash("relist"), reconnect: hash("reconnect"), restart: hash("restart"), host: hash("host") };
}

function duration(value: string | number | undefined, fallback: number): number {
  return value === undefined ? fallback : (parseDuration(value) ?? fallback);
}

function size(value: string | number | undefined, fallback: number): number {
  return value === undefined ? fallback : (parseSize(value) ?? fallback);
}
