const SHAPE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** Latest time that the four-digit form can say, in milliseconds; a day is left for the offset. */
const MAX_MS = Date.UTC(9999, 11, 30);

/** Whether a value is an ISO 8601 time with an offset that names a real moment. */
export function isTimestamp(value: unknown): value is string {
  return typeof value === "string" && SHAPE.test(value) && !Number.isNaN(Date.parse(value));
}

/** ISO 8601 with offset and six decimals of a moment in microseconds since 1970; `offsetMinutes` is east of UTC. Clamped to the years 1970–9999. */
export function formatTimestamp(micros: number, offsetMinutes: number): string {
  const bounded = Math.min(Math.max(0, Math.floor(micros)), MAX_MS * 1000);
  const offset = Math.round(offsetMinutes);
  const local = new Date(Math.floor(bounded / 1000) + offset * 60_000).toISOString();
  const fraction = String(bounded % 1_000_000).padStart(6, "0");
  const absolute = Math.abs(offset);
  const zone = `${offset < 0 ? "-" : "+"}${String(Math.floor(absolute / 60)).padStart(2, "0")}:${String(absolute % 60).padStart(2, "0")}`;
  return `${local.slice(0, 19)}.${fraction}${zone}`;
}

/** Microseconds since 1970 of a timestamp, or undefined when it is none. Digits after the sixth are cut. */
export function parseTimestamp(text: unknown): number | undefined {
  if (!isTimestamp(text)) return undefined;
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? "";
  const whole = Date.parse(text.replace(/\.\d+/, ""));
  return whole * 1000 + Number(fraction.slice(0, 6).padEnd(6, "0"));
}
