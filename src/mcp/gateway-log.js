import { own } from "../base/json.ts";
/** Severities of log messages (RFC 5424), from least to most. */
export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/**
 * Whether a log message of a server may go to a client that asked for `level` and above. Events of apps that travel as log
 * messages never do: they are other people's words, meant for the brain's inbox, and would reach a model unmarked.
 */
export function wantsLog(params, level) {
    if (own(params, "logger") === "aurora/event")
        return false;
    const given = own(params, "level");
    const severity = typeof given === "string" ? LOG_LEVELS.indexOf(given) : -1;
    return severity >= LOG_LEVELS.indexOf(level);
}
