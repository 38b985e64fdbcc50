import { isObject, own } from "./json.ts";
import { escapeInvisible } from "./text.ts";

/** One JSON log line as a line for people: `12:30:05 INFO  im.polaris.clock: ready  pid=4711`. A line that is no JSON object is kept. */
export function formatLogLine(line: string): string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return line;
  }
  if (!isObject(value)) return line;
  const { time, level, app, msg, ...fields } = value;
  const clock = typeof time === "string" ? time.slice(11, 19) : "";
  const rest = Object.keys(fields).map((key) => `${key}=${fieldText(own(fields, key))}`);
  const head = `${clock} ${String(level).toUpperCase().padEnd(5)} ${typeof app === "string" ? `${app}: ` : ""}${String(msg ?? "")}`;
  return `${escapeInvisible([head, ...rest].join("  "))}\n`;
}

function fieldText(value: unknown): string {
  if (typeof value === "string") return /^[^\s="]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? "";
}
