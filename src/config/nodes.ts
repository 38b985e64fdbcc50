import type { Place } from "../base/diagnostics.ts";
import type { KeyPath } from "./types.ts";

/** Offsets in the text, BOM not counted; `end` is one past the last character. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A scalar as it was written: `text` is the source of a plain scalar, or the content of a quoted one. */
export interface ScalarNode extends Span {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
  readonly text: string;
  /** Whether what stands here cannot be read, and is told already. */
  readonly broken?: boolean;
}

export interface ListNode extends Span {
  readonly kind: "list";
  readonly items: readonly TextNode[];
}

export interface MapNode extends Span {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, MapEntry>;
  /** Whether it has entries that cannot be read, and are told already. */
  readonly partial?: boolean;
}

export interface MapEntry {
  readonly key: Span;
  readonly value: TextNode;
}

/** A parsed value with its places: what the rest of the room works on instead of the YAML library's own nodes. */
export type TextNode = ScalarNode | ListNode | MapNode;

/** What stands in a tree for a value that cannot be read. */
export function brokenNode(span: Span): ScalarNode {
  return { kind: "scalar", value: null, text: "", broken: true, start: span.start, end: span.end };
}

/** Whether a node stands for a value that cannot be read. */
export function isBroken(node: TextNode): boolean {
  return node.kind === "scalar" && node.broken === true;
}

/** What kind of value a node is, in the words of JSON Schema; null is told by itself. */
export function typeOf(node: TextNode): "object" | "array" | "string" | "number" | "boolean" | "null" {
  if (node.kind !== "scalar") return node.kind === "map" ? "object" : "array";
  return node.value === null ? "null" : (typeof node.value as "string" | "number" | "boolean");
}

/** Turns offsets of one file's text into places. */
export interface Locator {
  /** The place of a span; an end behind the text is cut. */
  place(span: Span): Place;
  /** Where a piece of source text stands inside a span. */
  find(piece: string, within: Span): Span | undefined;
}

/** A locator for a text (without BOM) known to people as `display`. The line index is made on first use. */
export function createLocator(display: string, text: string): Locator {
  let starts: number[] | undefined;
  const position = (offset: number): { line: number; column: number } => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  };
  return {
    place(span) {
      const from = position(Math.min(span.start, text.length));
      const to = position(Math.min(Math.max(span.end, span.start), text.length));
      return { file: display, line: from.line, column: from.column, endLine: to.line, endColumn: to.column };
    },
    find(piece, within) {
      const at = text.slice(within.start, within.end).indexOf(piece);
      return at === -1 ? undefined : { start: within.start + at, end: within.start + at + piece.length };
    },
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The node at a key path, or undefined. */
export function nodeAt(root: TextNode, path: KeyPath): TextNode | undefined {
  let node: TextNode | undefined = root;
  for (const step of path) node = node && childOf(node, step);
  return node;
}

function childOf(node: TextNode, step: string | number): TextNode | undefined {
  if (node.kind === "map") return node.entries.get(String(step))?.value;
  return node.kind === "list" ? node.items[Number(step)] : undefined;
}

/** The span of a path's value, or of its key; of the nearest parent that exists when the path does not. */
export function spanAt(root: TextNode, path: KeyPath, what: "key" | "value" = "value"): Span {
  let node = root;
  let span: Span = what === "key" || path.length > 0 ? firstKey(root) : root;
  for (const [index, step] of path.entries()) {
    const entry = node.kind === "map" ? node.entries.get(String(step)) : undefined;
    const child = childOf(node, step);
    if (!child) return span;
    node = child;
    const last = index === path.length - 1;
    span = entry && (what === "key" || !last) ? entry.key : child;
  }
  return span;
}

/** What to point at when a whole map is meant: its first key, for a map spans many lines. */
export function firstKey(node: TextNode): Span {
  if (node.kind !== "map") return node;
  const first = node.entries.values().next();
  return first.done ? node : first.value.key;
}

/** A key path for people: `apps.im.polaris.qq.mcp.args[0]`. */
export function formatPath(path: KeyPath): string {
  let out = "";
  for (const step of path) out += typeof step === "number" ? `[${step}]` : out === "" ? step : `.${step}`;
  return out;
}

/** The plain value of a node, without schema: numbers as parsed. Safe for any key name. */
export function plainValue(node: TextNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plainValue);
  return Object.fromEntries([...node.entries].map(([key, entry]) => [key, plainValue(entry.value)]));
}
