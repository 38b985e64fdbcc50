import type { ChangeSet } from "../../src/plan/types.ts";

/** The change set between two equal plans. */
export const NO_CHANGES: ChangeSet = {
  start: [],
  stop: [],
  restart: [],
  reconnect: [],
  relist: [],
  live: [],
  unchanged: [],
  parked: [],
  policy: false,
  signals: false,
  exports: false,
  settings: false,
  host: [],
  empty: true,
};
