import { messageOf } from "../base/errors.ts";
import { own } from "../base/json.ts";
import type { AppPlan } from "../plan/types.ts";
import type { Connection, Logger } from "../runtime/ports.ts";
import type { ResourceWatch } from "./resource-watch.ts";

/** Settings of an app that its server has to be told: resource subscriptions and the least level of its log messages. */
export interface ServerSettings {
  /** After every start. */
  started(app: AppPlan, connection: Connection | null): void;
  /** A reload changed the app without touching its connection. */
  changed(before: AppPlan, after: AppPlan, connection: Connection | null): Promise<void>;
}

/** Makes the settings' messenger. */
export function createServerSettings(resources: ResourceWatch, log: Logger): ServerSettings {
  const setLevel = async (app: AppPlan, connection: Connection | null): Promise<void> => {
    if (app.logLevel === null || connection === null) return;
    if (own(connection.capabilities, "logging") === undefined)
      return log.warn({ app: app.package }, "the app's `log_level` has no effect: its server offers no logging");
    try {
      await connection.request("logging/setLevel", { level: app.logLevel }, { timeoutMs: app.callTimeoutMs });
    } catch (error) {
      log.warn({ app: app.package, error: messageOf(error) }, "setting the server's log level failed");
    }
  };
  return {
    started(app, connection) {
      resources.appStarted(app, connection);
      void setLevel(app, connection);
    },
    async changed(before, after, connection) {
      await resources.appChanged(before, after, connection);
      if (before.logLevel !== after.logLevel) await setLevel(after, connection);
    },
  };
}
