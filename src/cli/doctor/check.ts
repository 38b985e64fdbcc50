import type { Workspace } from "../../workspace.ts";

/** One thing that `doctor` looked at. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "problem";
  /** What was found, with the user's own names. */
  readonly message: string;
  /** How to mend it. */
  readonly help?: string;
}

/** What the checks look at. */
export interface Patient {
  readonly workspace: Workspace | null;
  readonly env: NodeJS.ProcessEnv;
  /** URL of the host that runs here, or null. */
  readonly runningUrl: string | null;
}
