const DURATION_UNITS = { ms: 1, s: 1000, m: 60000, h: 3600000, d: 86400000 };
const SIZE_UNITS = { B: 1, KB: 1000, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
/** The longest time a timer can hold; Node turns a longer one into 1 ms. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
/** Milliseconds of a duration (a number of seconds, or `250ms`, `10s`, `5m`, `1h`, `1d`), or undefined when it is not one. */
export function parseDuration(value) {
    if (typeof value === "number")
        return Number.isFinite(value) && value >= 0 ? value * 1000 : undefined;
    if (typeof value !== "string")
        return undefined;
    const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(value.trim());
    if (!match)
        return undefined;
    const ms = Number(match[1]) * DURATION_UNITS[match[2] ?? "s"];
    return Number.isFinite(ms) ? ms : undefined;
}
/** Bytes of a size (a number, or `64KiB`, `4MiB`, `1MB`), or undefined when it is not one. */
export function parseSize(value) {
    if (typeof value === "number")
        return Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined;
    if (typeof value !== "string")
        return undefined;
    const match = /^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB|KiB|MiB|GiB)?$/.exec(value.trim());
    if (!match)
        return undefined;
    const bytes = Math.floor(Number(match[1]) * SIZE_UNITS[match[2] ?? "B"]);
    return Number.isFinite(bytes) ? bytes : undefined;
}
/** Reads `10/min`, `5/s`, `100/h`, `3/10s`; undefined when it is not a rate. */
export function parseRate(value) {
    if (typeof value !== "string")
        return undefined;
    const match = /^(\d+)\s*\/\s*(\d*)\s*(ms|s|sec|second|m|min|minute|h|hour|d|day)$/.exec(value.trim());
    if (!match)
        return undefined;
    const unit = match[3] === "ms" ? "ms" : match[3].charAt(0);
    const count = Number(match[1]);
    const perMs = Number(match[2] === "" ? 1 : match[2]) * DURATION_UNITS[unit];
    return count > 0 && perMs > 0 ? { count, perMs } : undefined;
}
/** A short form for people: `250ms`, `10s`, `5m`, `1h 20m`. */
export function formatDuration(ms) {
    if (ms < 1000)
        return `${Math.round(ms)}ms`;
    const seconds = Math.round(ms / 1000);
    if (seconds < 60)
        return `${seconds}s`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60)
        return seconds % 60 ? `${minutes}m ${seconds % 60}s` : `${minutes}m`;
    const hours = Math.floor(minutes / 60);
    return minutes % 60 ? `${hours}h ${minutes % 60}m` : `${hours}h`;
}
