import { BusinessError } from "../common/business-error.ts";
import { addDays, instantOf, isRealWallTime, wallTime, type WallTime } from "../common/time-zone.ts";

/** The written forms of an alarm's time: `HH:MM`, a date and time, or a date and time with `Z` or an offset. */
export const TIME_PATTERN =
  "^([0-9]{2}:[0-9]{2}(:[0-9]{2})?|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)$";

/**
 * The instant an alarm's time means. `HH:MM` is the next time the zone's clocks show it, today or tomorrow; a date and time
 * without offset is wall time in the zone. Throws BusinessError INVALID_TIME or TIME_IN_PAST.
 */
export function alarmInstant(written: string, zone: string, now: number): number {
  const [date, time] = written.includes("T") ? written.split("T", 2) : [undefined, written];
  const at = date === undefined ? nextTimeOfDay(time ?? "", zone, now) : dateTime(date, time ?? "", zone);
  if (at === undefined)
    throw new BusinessError("INVALID_TIME", `"${written}" is not a time that exists; write HH:MM or 2026-06-17T14:30:00+08:00`, { retryable: false });
  if (at <= now) throw new BusinessError("TIME_IN_PAST", `${written} (${zone}) has passed already`, { retryable: false });
  return at;
}

function nextTimeOfDay(time: string, zone: string, now: number): number | undefined {
  const today = wallTime(now, zone);
  const [hour, minute, second = 0] = time.split(":").map(Number);
  const wall: WallTime = { ...today, hour: hour ?? NaN, minute: minute ?? NaN, second };
  if (!isRealWallTime(wall)) return undefined;
  const first = instantOf(wall, zone);
  return first > now ? first : instantOf(addDays(wall, 1), zone);
}

function dateTime(date: string, time: string, zone: string): number | undefined {
  const [year, month, day] = date.split("-").map(Number);
  const clock = /^([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2})?$/.exec(time);
  if (!clock) return undefined;
  const [, hour, minute, second, offset] = clock;
  const wall: WallTime = { year: year ?? NaN, month: month ?? NaN, day: day ?? NaN, hour: Number(hour), minute: Number(minute), second: Number(second ?? 0) };
  if (!isRealWallTime(wall)) return undefined;
  if (offset === undefined) return instantOf(wall, zone);
  const at = Date.parse(`${date}T${hour}:${minute}:${second ?? "00"}${offset}`);
  return Number.isNaN(at) ? undefined : at;
}
