import { logBodies } from "./body-log.ts";
import type { Approval } from "../calls/approval.ts";
import { approvalRow } from "../calls/approval-view.ts";
import type { AuditEvent } from "../calls/audit.ts";
import { createCallJournal } from "../calls/call-journal.ts";
import { withoutKitMeta } from "../calls/kit-meta.ts";
import type { CallDeps } from "../calls/execute.ts";
import { ANY_CLIENT } from "../calls/sessions.ts";
import { createTurns } from "../calls/turns.ts";
import { HOST_APP, sessionShown } from "../amp/envelope.ts";
import { systemClock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Masker } from "../base/masking.ts";
import { openLockFile } from "../files/lock-file.ts";
import type { KitEvents } from "../kit-api.ts";
import { createConnector } from "../mcp/connector.ts";
import type { Plan } from "../plan/types.ts";
import { createIngest, type Ingest } from "../runtime/ingest.ts";
import type { Connector, Logger } from "../runtime/ports.ts";
import { Runtime } from "../runtime/runtime.ts";
import type { Emitter } from "./emitter.ts";
import { callRecord } from "./call-record.ts";
import { markOfEvent } from "./event-marks.ts";
import { cleanListing } from "./clean-listing.ts";
import { createDroppedLog } from "./dropped-log.ts";
import { createFaultSignals } from "./fault-signals.ts";
import { vetForwarded } from "./forwarded-requests.ts";
import { createHostRequests } from "./host-requests.ts";
import { openInboxes, type Inboxes } from "./inboxes.ts";
import { createLintContext } from "./lint-context.ts";
import { createPinBoard, type PinBoard } from "./pin-board.ts";
import { keepResult } from "./result-store.ts";
import { createPolicyWarnings, type PolicyWarnings } from "./policy-warnings.ts";
import { createResourceWatch, type ResourceWatch } from "./resource-watch.ts";
import { createServerLogs } from "./server-logs.ts";
import { createServerSettings, type ServerSettings } from "./server-settings.ts";
import { changeSignals, crashSignal, hostSignal, notificationSignal, startedSignal, stopSignal } from "./runtime-signals.ts";
import { createRootGrants } from "./root-grants.ts";
import { openStores, type Stores } from "./stores.ts";
import { appStatus } from "./status.ts";
import { AppLog } from "../runtime/app-log.ts";
import { lintMessages } from "../tools/text-lint.ts";
import { version } from "./version.ts";

/** Everything a running kit is made of, wired together once at the start. */
export interface Parts {
  readonly stores: Stores;
  readonly inboxes: Inboxes;
  readonly ingest: Ingest;
  readonly pins: PinBoard;
  readonly runtime: Runtime;
  readonly connector: Connector;
  readonly calls: CallDeps;
  readonly resources: ResourceWatch;
  readonly serverSettings: ServerSettings;
  readonly policyWarnings: PolicyWarnings;
  appLog(app: string): AppLog;
  /** Ends what runs by the clock. */
  stop(): void;
}

const SWEEP_MS = 15_000;

/** What the wiring needs from the kit. */
export interface PartsOptions {
  readonly plan: Plan;
  readonly env: NodeJS.ProcessEnv;
  readonly masker: Masker;
  readonly log: Logger;
  readonly events: Emitter<KitEvents>;
  /** The catalogue changed, after pins and policy. */
  readonly onCatalog: () => void;
}

/** Opens and wires the parts of a kit. No app is started yet. */
export async function openParts(options: PartsOptions): Promise<Parts> {
  const { plan, masker, log, events } = options;
  const clock = systemClock;
  const logs = new Map<string, AppLog>();
  const appLog = (app: string): AppLog => {
    let kept = logs.get(app);
    if (!kept) logs.set(app, (kept = new AppLog((text) => masker.text(text))));
    return kept;
  };
  const serverLogs = createServerLogs(appLog, (text) => masker.text(text), clock);
  const current = (): Plan => runtime.snapshot.plan;
  const instance = plan.name;

  const onApproval = (approval: Approval): void => {
    const row = approvalRow(approval, masker);
    events.emit("approval", row);
    void ingest.emit(
      hostSignal(instance, approval.state === "pending" ? "approval.requested" : "approval.decided", {
        summary: `${row.tool}: ${row.state}`,
        id: row.id,
        tool: row.tool,
        app: row.app,
        state: row.state,
        risk: row.risk,
        reason: row.reason,
        client: row.client,
        session: row.session,
        arguments: row.arguments,
        expires_at: row.expires_at,
        decided_by: [...row.decided_by],
      }),
    );
  };
  const note = (event: AuditEvent): void => void stores.audit.note(event);
  const stores = await openStores(plan, clock, masker, {
    onApproval: (approval) => {
      onApproval(approval);
      const { id, app, tool, client, session, risk, pin } = approval;
      if (approval.state === "pending" && approval.approvedBy.length === 0)
        note({ event: "approval.requested", approval_id: id, app, name: tool, client, session, risk, rule: approval.rule?.id, pin, arguments: approval.args });
      if (approval.state === "expired" || approval.state === "withdrawn")
        note({ event: `approval.${approval.state}`, approval_id: id, app, name: tool, client, session });
    },
    onMark: ({ client, session, source, expires_at }) =>
      note({ event: "session.marked", client, session, source, expires_at: new Date(expires_at).toISOString() }),
    onAuditFault: (error) => log.error({ error: messageOf(error) }, "the audit log cannot be written"),
  });
  // Expiry is told in time even when nobody looks at the queue.
  const sweep = setInterval(() => stores.approvals.sweep(), SWEEP_MS);
  sweep.unref();
  const inboxes = await openInboxes(plan, clock, masker, log, current);
  const ingest = createIngest({
    rules: () => current().signals,
    seal: (event, source) => inboxes.sealer.seal(event, source),
    inboxFor: (event) => inboxes.inboxFor(event),
    clock,
    random: Math.random,
    beforePut: (signal, event) => {
      const mark = markOfEvent(current(), signal, event);
      if (mark === null) return null;
      const session = sessionShown(mark.session, (text) => masker.text(text));
      // The mark counts at once; an event is not lost because the disk refused to remember it over a restart.
      return stores.sessions
        .mark(ANY_CLIENT, session, mark.source, mark.expiresMs)
        .catch((error: unknown) => log.error({ session, error: messageOf(error) }, "a data-flow mark could not be stored"));
    },
    onEnvelope: (envelope) => events.emit("envelope", envelope),
    log,
  });
  const faults = createFaultSignals(ingest, clock);
  const lintContext = createLintContext(() => runtime.snapshot);
  const pins = createPinBoard({
    store: stores.pins,
    lockFile: () => openLockFile(current().lockFile),
    mode: () => current().pins,
    lint: (app) => {
      const context = lintContext(app);
      return (item) => lintMessages(item, context);
    },
    onQuarantine: (app, verdict) => {
      log.warn({ app, kind: verdict.kind, name: verdict.name, reason: verdict.reason }, "quarantined");
      note({
        event: "pin.quarantined",
        app,
        kind: verdict.kind,
        name: verdict.name,
        pin: verdict.pin,
        accepted: verdict.acceptedPin,
        reason: verdict.reason,
        findings: verdict.findings,
      });
    },
    log,
  });
  const connector = createConnector({
    dataDir: plan.dataDir,
    clientName: "aurora-mcp-kit",
    clientVersion: version(),
    listLimits: () => ({ toolsPerApp: current().limits.toolsPerApp, listPages: current().limits.listPages }),
    hostEnv: options.env,
    log,
    mask: (text) => masker.text(text),
    clock,
  });
  const resources = createResourceWatch({ ingest, plan: current, onUpdate: (app, uri) => events.emit("resource", app, uri), log });
  const tellDropped = createDroppedLog(log);
  const roots = createRootGrants((app, message) => {
    appLog(app.package).add(`[kit] ${message}`);
    log.warn({ app: app.package }, message);
  });
  roots.follow(plan);
  const hostRequests = createHostRequests({ snapshot: () => runtime.snapshot, approvals: stores.approvals, limits: stores.limits, roots });
  const runtime: Runtime = new Runtime(plan, {
    connector,
    clock,
    random: Math.random,
    log,
    cleanListing: (listing) => cleanListing(listing, masker),
    mask: (text) => masker.text(text),
    pins: (app, tool) => pins.check(app, "tool", tool),
    events: {
      onSnapshot: (snapshot, changed) => {
        roots.follow(snapshot.plan);
        if (!changed) return;
        options.onCatalog();
        policyWarnings.look();
        events.emit("catalog", runtime.snapshot.catalog);
      },
      onAppChange: (view) => {
        log.info({ app: view.package, state: view.state, ...(view.reason === null ? {} : { reason: view.reason }) }, "app state");
        events.emit("app", appStatus(view, runtime.snapshot, pins.findings(view.package)));
      },
      admitListing: (app, listing) => pins.admit(app, listing),
      onStarted: (app, life, listing) => {
        for (const item of listing.dropped) note({ event: "listing.dropped", app: app.package, kind: item.kind, name: item.name, reason: item.reason });
        tellDropped(app.package, listing.dropped);
        void ingest.emit(startedSignal(app, life, listing));
        serverSettings.started(app, runtime.runner(app.package)?.connection ?? null);
      },
      onStopping: (app, life, replaced) => void ingest.emit(stopSignal(app, "stopping", life, replaced)),
      onStopped: (app, life, replaced) => void ingest.emit(stopSignal(app, "stopped", life, replaced)),
      onReplaced: (app, life) => void ingest.emit(stopSignal(app, "replaced", life, true)),
      onCrashed: (app, life, reason) => {
        log.error({ app: app.package, reason: reason.message, stderr: reason.stderrTail.slice(-5) }, "app died");
        void ingest.emit(crashSignal(app, life, reason));
      },
      onListed: (app, before, after) => {
        for (const signal of changeSignals(app, before, after)) void ingest.emit(signal);
      },
      onNotification: (app, method, params, scope) => {
        events.emit("notification", app.package, method, withoutKitMeta(masker.known(params)), scope === undefined ? undefined : sessionOfScope(scope));
        if (method === "notifications/resources/updated") return resources.updated(app, params, runtime.runner(app.package)?.connection ?? null);
        const signal = notificationSignal(app, method, params);
        if (signal === null) return;
        if ("refused" in signal) {
          appLog(app.package).add(`[kit] event refused: ${signal.refused}`);
          faults.tell(app, `event refused: ${signal.refused}`);
        } else {
          if (method === "notifications/message" && signal.kind === "notification" && !serverLogs.take(app.package, params)) return;
          void ingest.emit(signal);
        }
      },
      onProtocolError: (app, message) => {
        appLog(app.package).add(`[kit] ${message}`);
        log.warn({ app: app.package }, message);
        faults.tell(app, message);
      },
      onLog: (app, line, source) => {
        appLog(app.package).add(source === "kit" ? `[kit] ${line}` : line);
        if (source === "kit") faults.tell(app, line);
      },
      onServerRequest: (app, request) => hostRequests(app, request),
    },
  });
  const serverSettings = createServerSettings(resources, log);
  const policyWarnings = createPolicyWarnings(() => runtime.snapshot, log, masker.text);
  const journal = createCallJournal({
    audit: stores.audit,
    // Where receipts go nowhere, and no rule of the user may make something else of one, the work is spared.
    takesReceipts: () => inboxes.takesReceipts() || current().signals.user.length > 0,
    emit: (signal) => ingest.emit(signal),
    host: () => ({ app: HOST_APP, instance }),
    sourceOf: (app) => ({ app: current().apps.has(app) ? app : HOST_APP, instance: current().apps.get(app)?.instance ?? instance }),
    now: () => clock.now(),
    onEnd: (performed, by) => {
      if (performed.error?.error_code === "TIMEOUT" && performed.target) faults.tell(performed.target.plan, performed.error.message);
      logBodies(log, current().log, performed, by);
      events.emit("call", callRecord(performed, by));
    },
    onFault: (error) => log.error({ error: messageOf(error) }, "an ended call could not be written down in full"),
  });
  for (const call of stores.audit.unfinished) journal.lost(call);
  const calls: CallDeps = {
    snapshot: () => runtime.snapshot,
    lease: (app, request) => runtime.lease(app, request),
    approvals: stores.approvals,
    sessions: stores.sessions,
    limits: stores.limits,
    journal,
    turns: createTurns(),
    mask: masker,
    vetRequest: (target, request) => {
      const vetted = vetForwarded(current().policy, target, request);
      return { ...vetted, params: masker.known(vetted.params) };
    },
    keepResult: (callId, result) => keepResult(plan.dataDir, callId, masker.value(result), log),
    clock,
    newId: stores.newId,
  };
  const stop = (): void => clearInterval(sweep);
  return { stop, stores, inboxes, ingest, pins, runtime, connector, calls, resources, serverSettings, policyWarnings, appLog };
}

/** The calling session behind the scope of a connection of its own. */
function sessionOfScope(scope: string): { readonly client: string; readonly session: string } {
  const [client, session] = JSON.parse(scope) as [string, string];
  return { client, session };
}
