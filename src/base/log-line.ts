import { isObject, own } from "./json.ts";
import { escapeInvisible } from "./text.ts";

/**
 * One JSON log line as a line for people: `12:30:05 INFO  im.polaris.clock: ready  pid=4711`. Further lines of a message follow,
 * indented, so that none of them can pass for a log line of its own. A line that is no JSON object is kept.
 */
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
  const [first = "", ...more] = String(msg ?? "")
    .trimEnd()
    .split("\n");
  const head = `${clock} ${String(level).toUpperCase().padEnd(5)} ${typeof app === "string" ? `${app}: ` : ""}${first}`;
  const lines = [[head, ...rest].join("  "), ...more.map((text) => (text === "" ? "" : `  ${text}`))];
  return lines.map((text) => `${escapeInvisible(text)}\n`).join("");
}

function fieldText(value: unknown): string {
  if (typeof value === "string") return /^[^\s="]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? "";
}
