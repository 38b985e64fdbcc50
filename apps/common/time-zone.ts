/** Date and time as a clock on the wall of a zone shows them; month and day count from 1. */
export interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** The zone of this machine, for example `Asia/Shanghai`. */
export function systemTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Whether a name is an IANA time zone this machine knows. */
export function isTimeZone(name: string): boolean {
  // Offsets such as +08:00 are not names of the IANA list, though newer engines take them.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatter(name);
    return true;
  } catch {
    return false;
  }
}

/** The wall time of an instant (milliseconds since 1970) in a zone. */
export function wallTime(at: number, zone: string): WallTime {
  const parts = new Map(
    formatter(zone)
      .formatToParts(at)
      .map((part) => [part.type, Number(part.value)]),
  );
  const of = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  return { year: of("year"), month: of("month"), day: of("day"), hour: of("hour"), minute: of("minute"), second: of("second") };
}

/** Minutes (with fractions for old zones) by which a zone is ahead of UTC at an instant. */
export function offsetMinutes(at: number, zone: string): number {
  return (asUtc(wallTime(at, zone)) - Math.floor(at / 1000) * 1000) / 60_000;
}

/**
 * The instant at which a zone's clocks show a wall time. A time that happens twice (clocks set back) is the first one;
 * a time that never happens (clocks set forward) moves on by the length of the gap: 02:30 becomes 03:30.
 */
export function instantOf(wall: WallTime, zone: string): number {
  const guess = asUtc(wall);
  const day = 86_400_000;
  const before = guess - offsetMinutes(guess - day, zone) * 60_000;
  const after = guess - offsetMinutes(guess + day, zone) * 60_000;
  const shown = [before, after].filter((at) => asUtc(wallTime(at, zone)) === guess);
  return shown.length > 0 ? Math.min(...shown) : before;
}

/** The instant as ISO 8601 with the zone's offset: `2026-06-17T14:30:00+08:00`. */
export function isoInZone(at: number, zone: string): string {
  const wall = wallTime(at, zone);
  const offset = Math.round(offsetMinutes(at, zone));
  const sign = offset < 0 ? "-" : "+";
  const size = Math.abs(offset);
  return `${dateOf(wall)}T${two(wall.hour)}:${two(wall.minute)}:${two(wall.second)}${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** The date of a wall time: `2026-06-17`. */
export function dateOf(wall: WallTime): string {
  return `${String(wall.year).padStart(4, "0")}-${two(wall.month)}-${two(wall.day)}`;
}

/** Whether the fields name a day and time that a calendar has (no 30 February, no 25:00). */
export function isRealWallTime(wall: WallTime): boolean {
  const date = new Date(asUtc(wall));
  return date.getUTCMonth() + 1 === wall.month && date.getUTCDate() === wall.day && wall.hour < 24 && wall.minute < 60 && wall.second < 60;
}

/** The date this many days later. */
export function addDays(wall: WallTime, days: number): WallTime {
  const date = new Date(Date.UTC(wall.year, wall.month - 1, wall.day + days));
  return { ...wall, year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function asUtc(wall: WallTime): number {
  return Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Making a formatter costs far more than using one, so they are kept; there are only some hundred zones. */
function formatter(zone: string): Intl.DateTimeFormat {
  let found = formatters.get(zone);
  if (!found) {
    found = new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formatters.set(zone, found);
  }
  return found;
}
