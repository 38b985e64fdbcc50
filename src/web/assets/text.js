import { h } from "./dom.js";

/** @typedef {null | boolean | number | string | ExactNumber | Json[] | { [key: string]: Json }} Json */

/** Characters that cannot be seen or that turn the text around; the same set as on the command line. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\u{115f}\u{1160}\u{3164}\u{ffa0}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]/u;
const NAMED = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

/**
 * Cuts a text into runs that are shown as they are, and escapes of what cannot be seen.
 * @param {string} text
 * @param {boolean} [multiline] leaves newlines and tabs as they are
 * @returns {{ text: string, hidden: boolean }[]}
 */
export function visibleRuns(text, multiline = false) {
  /** @type {{ text: string, hidden: boolean }[]} */
  const runs = [];
  for (const char of text) {
    const hidden = INVISIBLE.test(char) && !(multiline && (char === "\n" || char === "\t"));
    const shown = hidden ? (NAMED.get(char) ?? `\\u{${char.codePointAt(0)?.toString(16)}}`) : char;
    const last = runs.at(-1);
    if (last && last.hidden === hidden) last.text += shown;
    else runs.push({ text: shown, hidden });
  }
  return runs;
}

/**
 * A text of a server or a model, safe to look at: nothing in it is invisible, and its direction stays in its own box.
 * @param {string | null | undefined} text
 * @param {boolean} [multiline]
 */
export function safe(text, multiline = false) {
  const runs = visibleRuns(text ?? "", multiline).map((run) =>
    run.hidden ? h("mark", { class: "hidden-char", title: "not visible in the text itself" }, run.text) : run.text,
  );
  return h("bdi", multiline ? { class: "multiline" } : {}, runs);
}

/**
 * The same as plain text, for attributes and SVG.
 * @param {string | null | undefined} text
 */
export function safeText(text) {
  return visibleRuns(text ?? "")
    .map((run) => run.text)
    .join("");
}

/** A number whose digits a double cannot hold; shown as it was written. */
export class ExactNumber {
  /** @param {string} source */
  constructor(source) {
    this.source = source;
  }

  toString() {
    return this.source;
  }
}

const LONG_NUMBER = /\d{16}|\d[eE][+-]?\d/;

/**
 * As JSON.parse, but a number that would be shown differently from how it was written keeps its text.
 * @param {string} text
 */
export function parseJson(text) {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  /** @type {(key: string, value: unknown, context?: { source?: string }) => unknown} */
  const revive = (_key, value, context) =>
    typeof value === "number" && context?.source !== undefined && String(value) !== context.source ? new ExactNumber(context.source) : value;
  return JSON.parse(text, revive);
}

/**
 * A JSON value as an indented block. Strings stay in one line each, so that no value can draw keys of its own.
 * @param {Json} value
 */
export function jsonBlock(value) {
  const out = h("pre", { class: "json", tabindex: 0 });
  writeJson(value, "", out);
  return out;
}

/**
 * @param {Json} value
 * @param {string} indent
 * @param {HTMLElement} out
 */
function writeJson(value, indent, out) {
  if (typeof value === "string") {
    out.append(h("span", { class: "json-string" }, '"', safe(JSON.stringify(value).slice(1, -1)), '"'));
    return;
  }
  if (value === null || typeof value !== "object" || value instanceof ExactNumber) {
    out.append(h("span", { class: "json-plain" }, String(value)));
    return;
  }
  const list = Array.isArray(value);
  const entries = list ? value.map((item) => /** @type {[null, Json]} */ ([null, item])) : Object.entries(value);
  if (entries.length === 0) {
    out.append(list ? "[]" : "{}");
    return;
  }
  const inner = `${indent}  `;
  out.append(list ? "[" : "{");
  for (const [i, [key, item]] of entries.entries()) {
    out.append(`${i === 0 ? "" : ","}\n${inner}`);
    if (key !== null) out.append(h("span", { class: "json-key" }, safe(JSON.stringify(key))), ": ");
    writeJson(item, inner, out);
  }
  out.append(`\n${indent}${list ? "]" : "}"}`);
}

/**
 * How many characters of all strings in a value cannot be seen; newlines and tabs do not count.
 * @param {Json} value
 * @returns {number}
 */
export function countHidden(value) {
  if (typeof value === "string") return [...value].filter((char) => INVISIBLE.test(char) && !NAMED.has(char)).length;
  if (value === null || typeof value !== "object" || value instanceof ExactNumber) return 0;
  if (Array.isArray(value)) return value.reduce((/** @type {number} */ sum, item) => sum + countHidden(item), 0);
  return Object.entries(value).reduce((sum, [key, item]) => sum + countHidden(key) + countHidden(item), 0);
}

/**
 * `12:03:44` in the reader's own time zone.
 * @param {string} iso
 */
export function clockTime(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? safeText(iso) : date.toLocaleTimeString([], { hour12: false });
}

/**
 * `1 tool`, `2 tools`.
 * @param {number} count
 * @param {string} word
 */
export function counted(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/**
 * `file:line:column`, as far as it is known.
 * @param {{ file: string | null, line?: number | null, column?: number | null }} place
 */
export function placeText({ file, line, column }) {
  return [file ?? "", line, column].filter((part) => part !== null && part !== undefined).join(":");
}
