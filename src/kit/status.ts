import type { DiagnosticJson } from "../base/diagnostics.ts";
import type { AppStatus, KitStatus } from "../kit-api.ts";
import type { AppView, Snapshot } from "../runtime/snapshot.ts";
import type { Inbox } from "../runtime/ports.ts";
import type { Risk } from "../tools/types.ts";
import type { ExportState } from "./export-files.ts";

/** What became of the newest edit of the configuration. */
export interface ConfigState {
  readonly state: "applied" | "rejected" | "partial" | "pending";
  /** Free of secrets. */
  readonly errors: readonly DiagnosticJson[];
  readonly warnings: readonly DiagnosticJson[];
  /** Fields that only a restart of the host will change. */
  readonly hostChanges: readonly string[];
}

/** What a status is made of, beside the snapshot. */
export interface StatusParts {
  readonly state: KitStatus["state"];
  readonly startedAt: Date;
  readonly gatewayUrl: string | null;
  readonly inbox: ReturnType<Inbox["stats"]>;
  readonly exports: readonly ExportState[];
  readonly config: ConfigState;
  readonly pendingApprovals: number;
  readonly policyWarnings: readonly DiagnosticJson[];
  readonly findings: (app: string) => AppStatus["findings"];
}

/** A print-out of the running graph (contracts 10, `status --json`). */
export function statusOf(snapshot: Snapshot, parts: StatusParts): KitStatus {
  const byRisk: Record<Risk, number> = { low: 0, medium: 0, high: 0, critical: 0 };
  const count = { exposed: 0, quarantined: 0, denied: 0, unavailable: 0, excluded: 0 };
  for (const tool of snapshot.catalog.tools) {
    count[tool.state] += 1;
    if (tool.state === "exposed") byRisk[tool.risk] += 1;
  }
  const { policy } = snapshot.plan;
  return {
    name: snapshot.plan.name,
    revision: snapshot.revision,
    state: parts.state,
    pid: process.pid,
    started_at: parts.startedAt.toISOString(),
    topology: snapshot.plan.topologyFile,
    apps: [...snapshot.apps.values()].sort((a, b) => (a.package < b.package ? -1 : 1)).map((view) => appStatus(view, snapshot, parts.findings(view.package))),
    gateway: { url: parts.gatewayUrl },
    inbox: {
      dir: parts.inbox.dir,
      written: parts.inbox.written,
      pending: parts.inbox.pending,
      degraded: parts.inbox.degraded,
      queued: parts.inbox.queued,
      dropped: parts.inbox.dropped,
      duplicates: parts.inbox.duplicates,
    },
    exports: parts.exports,
    config: { state: parts.config.state, errors: parts.config.errors, warnings: parts.config.warnings, host_changes: parts.config.hostChanges },
    tools: { exposed: count.exposed, quarantined: count.quarantined, denied: count.denied, unavailable: count.unavailable, by_risk: byRisk },
    policy: { loaded: policy.refusal === null, rules: policy.rules.length, warnings: parts.policyWarnings },
    approvals: { pending: parts.pendingApprovals },
  };
}

/** One app of the status. An app that runs on with its last good version although its file is broken now says so. */
export function appStatus(view: AppView, snapshot: Snapshot, findings: AppStatus["findings"]): AppStatus {
  const held = view.plan === null ? undefined : snapshot.plan.parked.get(view.package);
  const reason = held ? `${held.reason}; the last good version runs on${view.reason === null ? "" : ` (${view.reason})`}` : view.reason;
  return {
    package: view.package,
    name: view.plan?.name ?? view.package,
    state: view.state,
    pid: view.pid,
    transport: view.plan?.connect.transport ?? null,
    protocol: view.protocol,
    version: view.version,
    tools: view.listing?.tools.length ?? 0,
    restarts: view.restarts,
    next_attempt: view.nextAttempt === null ? null : new Date(view.nextAttempt).toISOString(),
    reason,
    source: view.source,
    calls: view.calls,
    sessions: view.sessions && { ...view.sessions, open: view.sessions.open.map((each) => ({ ...each, since: new Date(each.since).toISOString() })) },
    dropped: view.listing?.dropped ?? [],
    warnings: view.listing?.warnings ?? [],
    findings,
  };
}
