/**
 * A row of a table. `floor` and `ours` are numbers in `unit`; `floor` may be missing, then the target is for `ours` itself.
 * `target` is `{ max }` or `{ min }` of the ratio (ours ÷ floor), or of `ours`; without one the row is for information.
 */
export function row({ what, unit = "", floor = null, ours, target = null }) {
  const ratio = floor === null ? null : ours / floor;
  const judged = ratio ?? ours;
  const met = target === null ? null : target.max === undefined ? judged >= target.min : judged <= target.max;
  return { what, unit, floor, ours, ratio, target, met };
}

/** A row of something that holds or does not. */
export function fact(what, holds) {
  return { what, unit: "", floor: null, ours: holds ? "yes" : "no", ratio: null, target: "yes", met: holds };
}

/** Prints rows as a Markdown table. */
export function printTable(rows) {
  const head = ["", "floor", "ours", "ratio", "target", "met"];
  const lines = rows.map((r) => [
    r.what,
    amount(r.floor, r.unit),
    amount(r.ours, r.unit),
    r.ratio === null ? "" : `${figure(r.ratio)}×`,
    targetText(r),
    r.met === null ? "" : r.met ? "yes" : "NO",
  ]);
  const widths = head.map((cell, i) => Math.max(cell.length, ...lines.map((line) => line[i].length)));
  const print = (cells) => console.log(`| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(" | ")} |`);
  print(head);
  console.log(`| ${widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`);
  lines.forEach(print);
}

function targetText({ target, ratio, unit }) {
  if (target === null || typeof target === "string") return target ?? "";
  const bound = target.max === undefined ? `≥ ${target.min}` : `≤ ${target.max}`;
  return ratio === null ? `${bound} ${unit}`.trimEnd() : `${bound}×`;
}

function amount(value, unit) {
  if (value === null) return "";
  return typeof value === "number" ? `${figure(value)} ${unit}`.trimEnd() : value;
}

/** Three figures are all that a busy machine gives. */
function figure(value) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
