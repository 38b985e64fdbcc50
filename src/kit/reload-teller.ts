import type { Signal } from "../amp/types.ts";
import type { JsonObject } from "../base/json.ts";
import type { ReloadResult } from "../kit-api.ts";
import type { Logger } from "../runtime/ports.ts";
import { hostSignal } from "./runtime-signals.ts";

/** Says in log and events what became of an edit (contracts 8). A fault is told once, however often the files are looked at, and so is its end. */
export interface ReloadTeller {
  /** `host`: name of this host, for events. */
  tell(result: ReloadResult, host: string): void;
  /** The host starts with everything denied, because policies, signals or folders that topology.yaml names have errors. */
  tellDenied(text: string, host: string): void;
}

/** Makes a teller. */
export function createReloadTeller(log: Logger, emit: (signal: Signal) => void): ReloadTeller {
  /** The errors that were told last, as one text; empty when there were none. */
  let told = "";
  /** The settings that were last told to wait for a restart. */
  let waiting: readonly string[] = [];
  const event = (host: string, method: "config.applied" | "config.rejected", summary: string, { result, revision, text, changes }: ReloadResult): void =>
    emit(hostSignal(host, method, { summary, revision, result, text, changes: { ...changes } as unknown as JsonObject }));

  return {
    tell(outcome, host) {
      const { result, revision, changes, errors, text } = outcome;
      const faults = errors.length === 0 ? "" : JSON.stringify(errors);
      const recovered = told !== "" && faults === "";
      if (faults !== "" && faults !== told) {
        const what =
          result === "rejected" ? "configuration rejected; the last good one stays" : "part of the configuration was rejected; its last good version stays";
        log.error({}, `${what}:\n${text}`);
        event(host, "config.rejected", what, outcome);
      }
      told = faults;
      const waitsAnew = result !== "pending" && changes.host.join() !== waiting.join();
      if (result === "pending") log.info({ revision }, "a change of the configuration waits for `aurora-mcp apply`");
      else if (result !== "rejected" && result !== "unchanged" && (waitsAnew || takesEffect(outcome))) {
        const what = `configuration ${recovered ? "valid again and " : ""}${result}`;
        log.info({ revision }, what);
        event(host, "config.applied", `${what} (revision ${revision})`, outcome);
        for (const warning of outcome.warnings) if (warning.code === "rule-gone") log.warn({ revision }, warning.message);
      } else if (recovered) {
        log.info({ revision }, "configuration valid again");
        event(host, "config.applied", "configuration valid again; what runs is what it says", outcome);
      }
      if (!waitsAnew) return;
      waiting = changes.host;
      if (waiting.length > 0) log.warn({ settings: waiting }, "these settings change only when the host is restarted");
      else log.info({}, "no setting waits for a restart of the host any more");
    },
    tellDenied(text, host) {
      const what = "policies, signals or folders that topology.yaml names have errors, so every call is denied until they are mended";
      log.error({}, `${what}:\n${text}`);
      emit(hostSignal(host, "config.rejected", { summary: what, revision: 1, result: "rejected", text }));
      told = "at the start";
    },
  };
}

/** Whether anything but the state of parked apps, and what waits for a restart, became another. */
function takesEffect({ changes, errors }: ReloadResult): boolean {
  return (
    errors.length === 0 ||
    Object.entries(changes).some(
      ([key, change]) => !["parked", "unchanged", "host", "empty"].includes(key) && (change === true || (Array.isArray(change) && change.length > 0)),
    )
  );
}
