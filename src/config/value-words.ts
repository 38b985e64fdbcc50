import { escapeInvisible, truncate } from "../base/text.ts";
import type { TextNode } from "./nodes.ts";
import type { Shape, ShapeType, Unit } from "./shape.ts";

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
  if (typeof node.value === "string") return `the text "${truncate(escapeInvisible(node.value), 60)}"`;
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
  "^[A-Za-z_][A-Za-z0-9_]*$": "the name of an environment variable (letters, digits and _, no digit in front)",
  "^[A-Za-z0-9][A-Za-z0-9_-]*(\\.[A-Za-z0-9][A-Za-z0-9_-]*)*$": "a dotted name such as im.polaris.weather (letters, digits, - and _ between dots)",
  "^[A-Za-z0-9_.-]{1,128}$": "a tool name (letters, digits, _, . and -, at most 128)",
  "^[A-Za-z0-9_.-]{1,64}$": "a name of letters, digits, _, . and -, at most 64",
  "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$": "a name of letters, digits, _, . and -, at most 64, with a letter or digit in front",
  "^(\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9.-]+):[0-9]{1,5}$": "an address and a port, such as 127.0.0.1:7800",
};

/** What a pattern asks for, in plain words. */
export function formatWords(pattern: string): string {
  return Object.hasOwn(FORMATS, pattern) ? FORMATS[pattern]! : `a text of the form ${pattern}`;
}
