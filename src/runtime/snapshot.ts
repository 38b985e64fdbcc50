import type { AppPlan, Plan } from "../plan/types.ts";
import type { AppListing, Catalog } from "../tools/types.ts";

/** Where an app stands (contracts 3); `reason` beside it says why. */
export type AppState = "starting" | "ready" | "backoff" | "parked" | "failed" | "stopping" | "stopped" | "disabled" | "skipped";

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
  readonly listing: AppListing | null;
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
