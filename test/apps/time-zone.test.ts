import { describe, expect, test } from "vitest";
import { addDays, instantOf, isoInZone, isRealWallTime, isTimeZone, offsetMinutes, wallTime } from "../../apps/common/time-zone.ts";

const wall = (year: number, month: number, day: number, hour = 0, minute = 0) => ({ year, month, day, hour, minute, second: 0 });

describe("time zones", () => {
  test.each(["Asia/Shanghai", "UTC", "America/Argentina/Buenos_Aires", "Asia/Kolkata"])("knows %s", (zone) => {
    expect(isTimeZone(zone)).toBe(true);
  });

  test.each(["Asia/Beijing", "", "+08:00", "Mars/Olympus", "__proto__"])("does not know %j", (zone) => {
    expect(isTimeZone(zone)).toBe(false);
  });

  test("writes an instant with the zone's offset, before 1970 and across midnight too", () => {
    expect(isoInZone(Date.UTC(2026, 5, 17, 6, 30), "Asia/Shanghai")).toBe("2026-06-17T14:30:00+08:00");
    expect(isoInZone(Date.UTC(2026, 5, 17, 20, 0), "Asia/Shanghai")).toBe("2026-06-18T04:00:00+08:00");
    expect(isoInZone(Date.UTC(1969, 11, 31, 23, 0), "America/New_York")).toBe("1969-12-31T18:00:00-05:00");
    expect(isoInZone(Date.UTC(2026, 0, 1), "Asia/Kathmandu")).toBe("2026-01-01T05:45:00+05:45");
  });

  test("the instant of a wall time shows that wall time", () => {
    for (const zone of ["Asia/Shanghai", "Europe/Berlin", "America/St_Johns", "Pacific/Auckland"]) {
      for (const month of [1, 4, 7, 10]) expect(wallTime(instantOf(wall(2026, month, 15, 9, 5), zone), zone)).toEqual(wall(2026, month, 15, 9, 5));
    }
  });

  test("a time the clocks skip moves on by the gap, one they show twice is the first", () => {
    expect(isoInZone(instantOf(wall(2026, 3, 29, 2, 30), "Europe/Berlin"), "Europe/Berlin")).toBe("2026-03-29T03:30:00+02:00");
    expect(isoInZone(instantOf(wall(2026, 10, 25, 2, 30), "Europe/Berlin"), "Europe/Berlin")).toBe("2026-10-25T02:30:00+02:00");
    expect(isoInZone(instantOf(wall(2026, 3, 8, 2, 30), "America/New_York"), "America/New_York")).toBe("2026-03-08T03:30:00-04:00");
  });

  test("offsets follow summer time", () => {
    expect(offsetMinutes(Date.UTC(2026, 0, 1), "Europe/Berlin")).toBe(60);
    expect(offsetMinutes(Date.UTC(2026, 6, 1), "Europe/Berlin")).toBe(120);
  });

  test("knows which days a calendar has", () => {
    expect(isRealWallTime(wall(2028, 2, 29))).toBe(true);
    expect(isRealWallTime(wall(2026, 2, 29))).toBe(false);
    expect(isRealWallTime(wall(2026, 13, 1))).toBe(false);
    expect(isRealWallTime(wall(2026, 1, 1, 24))).toBe(false);
    expect(addDays(wall(2026, 12, 31), 1)).toEqual(wall(2027, 1, 1));
  });
});
