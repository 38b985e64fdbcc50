import path from "node:path";
import { compileSignals } from "../amp/mapping.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { sortDiagnostics } from "../base/diagnostics.ts";
import { parseSize } from "../base/durations.ts";
import { deepFreeze, digest, isObject, keyedDigest } from "../base/json.ts";
import { createMasker } from "../base/masking.ts";
import { soundItems } from "../config/sound.ts";
import type { AppConfig, Config, ParkedApp } from "../config/types.ts";
import { compilePolicy, type PolicyResult } from "../policy/rules.ts";
import type { PolicyConfig } from "../../generated/policy.d.ts";
import type { TopologyConfig } from "../../generated/topology.d.ts";
import { appDefaults, compileApp, type AppDefaults } from "./app-plan.ts";
import { crossCheck } from "./cross-check.ts";
import { classifyLeaves } from "./schema-classes.ts";
import type { AppPlan, GatewayPlan, InboxPlan, Plan } from "./types.ts";

/** What a compile needs beside the configuration. */
export interface CompileOptions {
  /** Keys the digests of values that may be secret; the same key gives comparable digests. */
  readonly secretKey: string;
  /** The running plan: an app whose manifest is broken now keeps the version that it has there (contracts 3). */
  readonly lastGood?: Plan | null;
}

/** A plan with the findings of the compile. `unitOk`: policies and signals have no errors. */
export interface CompileResult {
  readonly plan: Plan;
  readonly unitOk: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles a checked configuration into a frozen plan with nothing left to look up. Pure; never throws for user input. */
export function compilePlan(config: Config, options: CompileOptions): CompileResult {
  const topology = config.topology.value;
  const file = config.topology.source.file;
  const defaults = appDefaults(config.root, topology);
  const policy = policyOf(config.policies);
  const signals = compileSignals(config.signals);
  const appKey = JSON.stringify([defaults, options.secretKey]);
  const apps = new Map<string, AppPlan>();
  const parked = new Map<string, ParkedApp>();
  // The reason is a finding, and findings may quote what stands in the file.
  const masker = createMasker(config.apps.some((app) => app.kind === "parked") ? config.secrets : []);
  for (const app of config.apps) {
    if (app.kind === "app") apps.set(app.package, appPlanOf(app, defaults, options.secretKey, appKey));
    else park({ ...app, reason: masker.text(app.reason) }, options.lastGood ?? null, apps, parked);
  }
  const settings = settingsOf(topology, path.dirname(file));
  const digests = {
    policy: policy.rules.revision,
    signals: digest(signalRules(config), "signals"),
    exports: digest(settings.exports, "exports"),
    ...topologyDigests(topology, options.secretKey),
  };
  const plan: Plan = Object.freeze({
    ...settings,
    digest: digest([[...apps.values()].map(appDigest), [...parked.values()].map((p) => [p.package, p.state, p.reason]), digests], "plan"),
    root: config.root,
    topologyFile: file,
    apps,
    parked,
    policy: policy.rules,
    signals: signals.rules,
    secrets: config.secrets,
    digests,
  });
  const unit = [...policy.diagnostics, ...signals.diagnostics];
  return { plan, unitOk: !unit.some((d) => d.severity === "error"), diagnostics: sortDiagnostics([...unit, ...crossCheck(config, plan, policy.sound)]) };
}

const appDigests = new WeakMap<AppPlan, string>();

/** One digest for an app's package and all classes. */
function appDigest(app: AppPlan): string {
  let known = appDigests.get(app);
  if (known === undefined) appDigests.set(app, (known = digest([app.package, app.digests], "app")));
  return known;
}

/** Mapping rules as they are meant: in which file and in what order they stand changes nothing. */
function signalRules(config: Config): unknown[] {
  return config.signals
    .flatMap((file) => soundItems(file.value.rules, file.wrong, ["rules"]))
    .map(({ item: rule }) => ({ priority: "normal", ...rule }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

const compiled = new WeakMap<AppConfig, { readonly key: string; readonly plan: AppPlan }>();

/** An app's plan; one that was compiled before from the very same configuration object is taken as it is. `key` tells defaults and secret key apart. */
function appPlanOf(app: AppConfig, defaults: AppDefaults, secretKey: string, key: string): AppPlan {
  const known = compiled.get(app);
  if (known?.key === key) return known.plan;
  const plan = deepFreeze(compileApp(app, defaults, secretKey));
  compiled.set(app, { key, plan });
  return plan;
}

const compiledPolicies = new WeakMap<PolicyConfig, { readonly values: readonly PolicyConfig[]; readonly result: PolicyResult }>();

/** The policy of these files; the very same values as before give the very same policy, with all that it has looked up already. */
function policyOf(files: Config["policies"]): PolicyResult {
  const first = files[0]?.value;
  const known = first && compiledPolicies.get(first);
  if (known && known.values.length === files.length && files.every((file, i) => file.value === known.values[i])) return known.result;
  const result = compilePolicy(files);
  if (first) compiledPolicies.set(first, { values: files.map((file) => file.value), result });
  return result;
}

/** Parks an app; a failed one that runs keeps its last good plan. A broken file may have lost its package, so its path counts too. */
function park(app: ParkedApp, lastGood: Plan | null, apps: Map<string, AppPlan>, parked: Map<string, ParkedApp>): void {
  const running =
    app.state === "failed" ? (lastGood?.apps.get(app.package) ?? [...(lastGood?.apps.values() ?? [])].find((a) => a.source === app.display)) : undefined;
  if (running && !apps.has(running.package)) apps.set(running.package, running);
  parked.set(running?.package ?? app.package, app);
}

type Settings = Omit<Plan, "digest" | "root" | "topologyFile" | "apps" | "parked" | "policy" | "signals" | "secrets" | "digests">;

function settingsOf(t: TopologyConfig, dir: string): Settings {
  const dataDir = t.data_dir ?? path.resolve(dir, "../data");
  const limits = t.limits ?? {};
  return deepFreeze({
    name: t.name ?? "aurora",
    dataDir,
    inbox: inboxOf(t, dataDir),
    exports: (t.exports ?? []).map((entry) => ({ mode: "all", ...entry })),
    gateway: t.gateway === undefined ? null : gatewayOf(t.gateway),
    lockFile: path.join(dir, "tools.lock.json"),
    pins: t.pins ?? "first_use",
    reload: t.reload ?? "auto",
    watch: t.watch ?? "auto",
    limits: {
      concurrentStarts: limits.concurrent_starts ?? 4,
      resultBytes: parseSize(limits.result_bytes ?? "32MiB")!,
      messageBytes: parseSize(limits.message_bytes ?? "256KiB")!,
      lineBytes: parseSize(limits.line_bytes ?? "64MiB")!,
      toolsPerApp: limits.tools_per_app ?? 10_000,
      listPages: limits.list_pages ?? 200,
    },
    log: { level: t.log?.level ?? "info", bodies: t.log?.bodies ?? "never", chatText: t.log?.chat_text ?? false },
    audit: {
      file: t.audit?.file ?? path.join(dataDir, "audit.jsonl"),
      arguments: t.audit?.arguments ?? "masked",
      maxBytes: parseSize(t.audit?.max_bytes ?? "64MiB")!,
    },
  });
}

function inboxOf(t: TopologyConfig, dataDir: string): InboxPlan {
  const inbox = t.inbox ?? {};
  return {
    sink: inbox.sink ?? "file",
    dir: inbox.dir ?? path.join(dataDir, "kernel", "inbox", "pending"),
    format: inbox.format ?? "amp",
    receipts: inbox.receipts ?? "inbox",
    resources: inbox.resources ?? "subscribed",
    fsync: inbox.fsync ?? true,
    maxPending: inbox.max_pending ?? 50_000,
    webhook: inbox.webhook === undefined ? null : { url: inbox.webhook.url, secret: inbox.webhook.secret ?? null },
  };
}

function gatewayOf(g: NonNullable<TopologyConfig["gateway"]>): GatewayPlan {
  const listen = g.listen ?? "127.0.0.1:7800";
  const colon = listen.lastIndexOf(":");
  return {
    host: listen.slice(0, colon).replace(/^\[|\]$/g, ""),
    port: Number(listen.slice(colon + 1)),
    naming: g.naming ?? "short",
    authMode: g.auth?.mode ?? "token",
    denied: g.denied ?? "hide",
    invalidArguments: g.invalid_arguments ?? "error",
    clients: (g.clients ?? []).map((c) => ({ name: c.name, tokenFile: c.token_file, include: c.tools?.include ?? null, exclude: c.tools?.exclude ?? [] })),
    tls: g.tls ?? null,
    allowInsecureListen: g.allow_insecure_listen ?? false,
    allowedHosts: g.allowed_hosts ?? [],
  };
}

/** Digests of the topology's own settings: one for everything that holds at once, and one per field that only a host restart changes. */
function topologyDigests(topology: TopologyConfig, secretKey: string): { live: string; host: Readonly<Record<string, string>> } {
  const { apps: _apps, discover: _discover, policies: _policies, signals: _signals, exports: _exports, defaults: _defaults, ...own } = topology;
  const live: [string, unknown][] = [];
  const host: Record<string, string> = {};
  for (const leaf of classifyLeaves(own, "topology.schema.json", "")) {
    if (leaf.isDefault || isEmptyMap(leaf.value)) continue;
    if (leaf.class === "host") host[leaf.path] = keyedDigest(leaf.value, leaf.path, secretKey);
    else live.push([leaf.path, leaf.value]);
  }
  // An open door with nothing but defaults is still a door.
  if (own.gateway !== undefined) host["gateway"] = "open";
  return { live: keyedDigest(live, "settings", secretKey), host };
}

function isEmptyMap(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
