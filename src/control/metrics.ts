import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Kit } from "../kit-api.ts";

/** Prometheus metrics of one host: no arguments, no tool texts, no tokens. */
export interface Metrics {
  readonly contentType: string;
  /** The exposition text, with gauges as they are now. */
  text(): Promise<string>;
  /** Stops listening to the kit. */
  close(): void;
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Tools are named by servers; past this many series the rest is counted under `other`. */
const MAX_TOOLS = 2000;

/** Counts what the kit tells, from now on. */
export function createMetrics(kit: Kit): Metrics {
  const registers = [new Registry()];
  const counter = <T extends string>(name: string, help: string, labelNames: T[]) => new Counter({ name, help, labelNames, registers });
  const gauge = <T extends string>(name: string, help: string, labelNames: T[] = []) => new Gauge({ name, help, labelNames, registers });

  const calls = counter("aurora_calls_total", "Calls that ended, by outcome; code is empty for success.", ["app", "tool", "outcome", "code"]);
  const latency = new Histogram({
    name: "aurora_call_duration_seconds",
    help: "From acceptance to answer, waiting for people included.",
    labelNames: ["app"],
    buckets: BUCKETS,
    registers,
  });
  const decisions = counter("aurora_decisions_total", "Policy decisions of calls.", ["decision", "risk"]);
  const results = counter("aurora_result_tokens_total", "Estimated tokens of the results' texts, for a model that reads them whole.", ["app"]);
  const reloads = counter("aurora_reloads_total", "Reloads by result.", ["result"]);
  const envelopes = counter("aurora_events_total", "Envelopes on their way to the inbox.", ["app"]);
  const approvals = counter("aurora_approvals_total", "Approvals by the state they reached.", ["state"]);

  const tallies = [tally(calls), tally(results), tally(decisions)] as const;
  const [ended, tokensOf, decided] = tallies;
  const names = new Set<string>();
  const bounded = (app: string, tool: string): string => {
    const key = `${app}/${tool}`;
    if (names.size < MAX_TOOLS) names.add(key);
    return names.has(key) ? tool : "other";
  };
  const stops = [
    kit.on("call", (call) => {
      const app = call.app ?? "";
      ended.add([app, call.tool === null ? "" : bounded(app, call.tool), call.outcome, call.errorCode ?? ""]);
      latency.observe({ app }, call.durationMs / 1000);
      if (call.resultTokens > 0) tokensOf.add([app], call.resultTokens);
      if (call.decision) decided.add([call.decision, call.risk ?? ""]);
    }),
    kit.on("reload", (result) => reloads.inc({ result: result.result })),
    kit.on("envelope", (envelope) => envelopes.inc({ app: envelope.header.source.app })),
    kit.on("approval", (row) => approvals.inc({ state: row.state })),
  ];

  const up = gauge("aurora_app_up", "1 for an app that is ready.", ["app", "state"]);
  const restarts = gauge("aurora_app_restarts", "Restarts of an app since the host started.", ["app"]);
  const inFlight = gauge("aurora_app_calls_in_flight", "Calls that an app works on.", ["app"]);
  const tools = gauge("aurora_tools", "Tools by state.", ["state"]);
  const tokens = gauge("aurora_app_tool_tokens", "Estimated tokens of an app's exposed tool schemas.", ["app"]);
  const inbox = gauge("aurora_inbox_events", "Events of the inbox by fate; pending and queued are current numbers.", ["fate"]);
  const degraded = gauge("aurora_inbox_degraded", "1 while the inbox cannot write.");
  const revision = gauge("aurora_config_revision", "Revision of the running configuration.");
  const rejected = gauge("aurora_config_rejected", "1 while the files hold a configuration that was rejected.");
  const pending = gauge("aurora_approvals_pending", "Approvals that wait for a person.");

  const refresh = (): void => {
    const status = kit.status();
    for (const g of [up, restarts, inFlight, tools, tokens]) g.reset();
    for (const app of status.apps) {
      up.set({ app: app.package, state: app.state }, app.state === "ready" ? 1 : 0);
      restarts.set({ app: app.package }, app.restarts);
      inFlight.set({ app: app.package }, app.calls);
    }
    const { exposed, quarantined, denied, unavailable } = status.tools;
    for (const [state, count] of Object.entries({ exposed, quarantined, denied, unavailable })) tools.set({ state }, count);
    for (const row of kit.toolRows()) if (row.state === "exposed") tokens.inc({ app: row.app }, row.tokens);
    const { written, dropped, duplicates, queued } = status.inbox;
    for (const [fate, count] of Object.entries({ written, dropped, duplicates, queued, pending: status.inbox.pending })) inbox.set({ fate }, count);
    degraded.set(status.inbox.degraded === null ? 0 : 1);
    revision.set(status.revision);
    rejected.set(status.config.state === "rejected" ? 1 : 0);
    pending.set(status.approvals.pending);
  };

  return {
    contentType: registers[0]!.contentType,
    text() {
      refresh();
      for (const one of tallies) one.settle();
      return registers[0]!.metrics();
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}

/** What was counted since the last scrape, for counting here costs a fraction of what a counter of the library does. */
interface Tally {
  /** Counts for the values of the counter's labels, in the order of their names. */
  add(values: readonly string[], by?: number): void;
  /** Tells the counter. */
  settle(): void;
}

function tally(counter: Counter): Tally {
  const counts = new Map<string, { readonly values: readonly string[]; by: number }>();
  return {
    add(values, by = 1) {
      const key = values.join("\0");
      const known = counts.get(key);
      if (known) known.by += by;
      else counts.set(key, { values, by });
    },
    settle() {
      for (const { values, by } of counts.values()) counter.labels(...values).inc(by);
      counts.clear();
    },
  };
}
