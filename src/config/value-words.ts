import type { DiagnosticParts } from "../base/diagnostic-codes.ts";
import { escapeInvisible, truncate } from "../base/text.ts";
import { formatPath, type ScalarNode, type TextNode } from "./nodes.ts";
import { PLAIN_NUMBER, wantsNumber } from "./numbers.ts";
import type { Shape, ShapeType, Unit } from "./shape.ts";
import type { KeyPath } from "./types.ts";

/** A text of the file as a message shows it: one line, visible, not too long. */
export function shorten(text: string): string {
  return truncate(escapeInvisible(text), 80);
}

/** What a message calls the value at a key path: its key with the one above it. */
export function nameOf(path: KeyPath): string {
  return path.length === 0 ? "the file" : formatPath(path.length > 2 ? path.slice(lastNamed(path)) : path);
}

function lastNamed(path: KeyPath): number {
  // Keep a list index with the key it belongs to: `exports[1].format` is told apart, `format` alone is not.
  for (let i = path.length - 1; i > 0; i -= 1) if (typeof path[i] === "number") return Math.max(0, i - 1);
  return path.length - 2;
}

const TYPE_WORDS: Readonly<Record<ShapeType, string>> = {
  object: "a map of keys",
  array: "a list",
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
};

/** What kind of value a shape wants, in plain words. */
export function typeWords(shape: Shape): string {
  if (shape.unit === "duration") return "a duration (a number of seconds, or a text such as 10s)";
  if (shape.unit === "size") return "a size (a number of bytes, or a text such as 4MiB)";
  if (shape.unit === "rate") return "a rate such as 10/min";
  if (shape.choices) return shape.choices.length === 1 ? String(shape.choices[0]) : `one of ${shape.choices.join(", ")}`;
  return [...new Set(shape.types)].map((type) => TYPE_WORDS[type]).join(" or ");
}

/** What a value is, in plain words. */
export function kindWords(node: TextNode): string {
  if (node.kind === "map") return "a map of keys";
  if (node.kind === "list") return "a list";
  if (node.value === null) return "nothing";
  if (typeof node.value === "string") return `the text "${shorten(node.value)}"`;
  return typeof node.value === "number" ? `the number ${node.text}` : node.text;
}

/** How values of a unit are written. */
export function unitWords(unit: Unit): string {
  if (unit === "duration") return "write a number of seconds, or a text such as 250ms, 10s, 5m, 1h";
  if (unit === "size") return "write a number of bytes, or a text such as 64KiB, 4MiB, 1GB";
  return "write a count and a time, such as 10/min, 5/s, 100/h";
}

/** The patterns of the schemas in words; people do not read regular expressions in an error. */
const FORMATS: Readonly<Record<string, string>> = {
  "^https?://": "a URL that starts with http:// or https://",
  "^https://": "a URL that starts with https://",
  "^(?!(?:[Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[Nn][Oo][Nn][Ee])$)":
    "inbox, off, or a folder (one that is called yes or none is written ./yes)",
  "^[A-Za-z_][A-Za-z0-9_]*$": "the name of an environment variable (letters, digits and _, no digit in front)",
  "^[A-Za-z0-9][A-Za-z0-9_-]*(\\.[A-Za-z0-9][A-Za-z0-9_-]*)*$": "a dotted name such as im.polaris.weather (letters, digits, - and _ between dots)",
  "^[A-Za-z0-9_.-]{1,128}$": "a tool name (letters, digits, _, . and -, at most 128)",
  "^[A-Za-z0-9_.-]{1,64}$": "a name of letters, digits, _, . and -, at most 64",
  "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$": "a name of letters, digits, _, . and -, at most 64, with a letter or digit in front",
  "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$": "words with dots between, such as repo.changed (letters, digits, _ and -)",
  "^(\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9.-]+):[0-9]{1,5}$": "an address and a port, such as 127.0.0.1:7800",
};

/** What a pattern asks for, in plain words. */
export function formatWords(pattern: string): string {
  return Object.hasOwn(FORMATS, pattern) ? FORMATS[pattern]! : `a text of the form ${pattern}`;
}

/** How to mend the commonest mix-ups of kinds, for the caret line or a help line. */
export function repairWords(node: TextNode, shape: Shape): DiagnosticParts {
  if (node.kind === "scalar" && shape.pattern?.test(node.text) === false && node.value !== null && typeof node.value !== "string")
    return { help: [`write ${formatWords(shape.pattern.source)}`] };
  if (node.kind === "scalar" && typeof node.value !== "string" && shape.types.includes("string"))
    return { label: `write it in quotes: "${shorten(node.text)}"` };
  if (node.kind === "scalar" && typeof node.value === "string") {
    if (shape.types.includes("boolean") && /^(yes|no|on|off|y|n|true|false)$/i.test(node.value))
      return { label: `write ${/^(yes|on|y|true)$/i.test(node.value) ? "true" : "false"}, without quotes` };
    if (wantsNumber(shape) && PLAIN_NUMBER.test(node.value)) return { label: "write it without quotes" };
    if (shape.types.includes("array") && !shape.types.includes("string")) return { label: `write a list: ["${shorten(node.value)}"]` };
  }
  if (node.kind === "list" && shape.types.includes("object")) return { help: ["write key: value lines without a dash in front"] };
  if (node.kind === "map" && shape.types.includes("array")) return { help: ["put a dash in front of each entry"] };
  return {};
}

/** Why a number is none that every reader takes for the same. */
export function ambiguityWords(node: ScalarNode): string {
  if (PLAIN_NUMBER.test(node.text)) return "has more digits than a number keeps";
  return `is not a plain decimal number: another reader might take it for something else${Number.isFinite(node.value) ? ` than ${String(node.value)}` : ""}`;
}

/** What follows a key that takes one value only. */
export function onlyValue(shape: Shape | undefined): string {
  return shape?.choices?.length === 1 ? `: ${String(shape.choices[0])}` : "";
}
