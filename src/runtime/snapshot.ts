import type { AppPlan, Plan } from "../plan/types.ts";
import type { AppListing, Catalog } from "../tools/types.ts";
import type { SessionView } from "./session-connections.ts";

/** Where an app stands (contracts 3); `reason` beside it says why. */
export type AppState = "starting" | "ready" | "backoff" | "parked" | "failed" | "stopping" | "stopped" | "disabled" | "skipped";

const IN_WORDS: Readonly<Record<AppState, string>> = {
  starting: "is still starting",
  ready: "is ready",
  backoff: "is down and will be started again",
  parked: "does not come up and is parked",
  failed: "could not be started",
  stopping: "is being stopped",
  stopped: "is stopped",
  disabled: "is disabled",
  skipped: "is skipped",
};

/** Why a call of an app cannot be had now, for whoever called. */
export function whyDown(app: string, state: AppState, reason: string | null): string {
  return `app ${app} ${IN_WORDS[state]}${reason === null ? "" : `: ${reason}`}`;
}

/** The connections of calling sessions to an isolated app: those that are up, and how many ended without this side wanting it, the last for `reason`. */
export interface SessionsView {
  readonly open: readonly SessionView[];
  readonly lost: number;
  readonly reason: string | null;
}

/** One app as it stands at this moment; a print-out of its runner. */
export interface AppView {
  readonly package: string;
  readonly plan: AppPlan | null;
  readonly state: AppState;
  readonly reason: string | null;
  readonly pid: number | null;
  readonly protocol: string | null;
  readonly version: string | null;
  readonly restarts: number;
  readonly nextAttempt: number | null;
  readonly calls: number;
  readonly sessions: SessionsView | null;
  /** What it shows now; null when its tools are not to be listed. */
  readonly listing: AppListing | null;
  /** What it showed last, whatever became of it; null before it was ever up. */
  readonly lastListing: AppListing | null;
  readonly source: string;
}

/**
 * Plan, catalogue and apps at one moment. Swapped whole by one assignment; a call takes one snapshot and uses it to the end.
 */
export interface Snapshot {
  readonly revision: number;
  readonly plan: Plan;
  readonly catalog: Catalog;
  readonly apps: ReadonlyMap<string, AppView>;
}
