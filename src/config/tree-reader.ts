import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from "yaml";
import type { Diagnostic } from "../base/diagnostics.ts";
import { errorAt, type DiagnosticCode, type DiagnosticParts } from "../base/diagnostic-codes.ts";
import { brokenNode, formatPath, type Locator, type MapEntry, type ScalarNode, type Span, type TextNode } from "./nodes.ts";

/** Deepest nesting of values that is read. */
export const MAX_DEPTH = 100;
/** Most values that aliases may add to a file: far above honest use, far below what fills the memory. */
const MAX_ALIASED_NODES = 20_000;
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
/** The tags of YAML's own kinds of values. */
export const CORE_TAGS: ReadonlySet<string> = new Set(["str", "int", "float", "bool", "null", "map", "seq"].map((name) => `tag:yaml.org,2002:${name}`));

interface Anchored {
  readonly node: TextNode;
  readonly size: number;
}

/** Copies the library's nodes into our own, with every strictness that the library does not have; what cannot be read is reported and marked as broken. */
export class TreeReader {
  readonly diagnostics: Diagnostic[] = [];
  /** Spans of scalars that may hold line breaks: a tab in there is content. */
  readonly multiline: Span[] = [];
  readonly repeated = new Set<TextNode>();
  readonly #text: string;
  readonly #locator: Locator;
  readonly #anchors = new Map<string, Anchored>();
  /** Where the reader is. */
  readonly #path: (string | number)[] = [];
  #nodes = 0;
  #aliased = 0;

  constructor(text: string, locator: Locator) {
    this.#text = text;
    this.#locator = locator;
  }

  report(code: DiagnosticCode, span: Span, message: string, parts: DiagnosticParts = {}): undefined {
    this.diagnostics.push(errorAt(code, this.#locator.place(span), message, parts));
  }

  #broken(code: DiagnosticCode, span: Span, message: string, parts?: DiagnosticParts): TextNode {
    this.report(code, span, message, parts);
    return brokenNode(span);
  }

  /** The copy of a node; a broken one after a report. */
  read(node: Node | null, fallback?: Span): TextNode {
    const range = node?.range;
    const span: Span = range && (range[1] > range[0] || !fallback) ? { start: range[0], end: range[1] } : (fallback ?? { start: 0, end: 0 });
    if (this.#path.length > MAX_DEPTH) return this.#broken("too-deep", span, `values are nested more than ${MAX_DEPTH} deep`);
    if (node === null) return { kind: "scalar", value: null, text: "", ...span };
    if (isAlias(node)) return this.#alias(node.source, span);
    const before = this.#nodes;
    this.#nodes += 1;
    const out = this.#value(node, span);
    const anchor = (node as Scalar).anchor;
    if (anchor) this.#anchors.set(anchor, { node: out, size: this.#nodes - before });
    return out;
  }

  #value(node: Node, span: Span): TextNode {
    const tag = (node as Scalar).tag;
    if (tag !== undefined && !CORE_TAGS.has(tag))
      return this.#broken("unknown-tag", tagSpan(this.#text, span), `the tag ${shortTag(tag)} has no meaning here`, {
        help: ["write the value without a tag"],
      });
    if (isMap(node)) return this.#map(node, span);
    if (isSeq(node)) return this.#list(node.items as Node[], span);
    return isScalar(node) ? this.#scalar(node, span) : brokenNode(span);
  }

  #scalar(node: Scalar, span: Span): ScalarNode {
    const value = node.value;
    const source = node.source ?? "";
    if (node.type !== "PLAIN") this.multiline.push(span);
    if (typeof value === "string" || typeof value === "boolean" || value === null)
      return { kind: "scalar", value, text: typeof value === "string" ? value : source, ...span };
    return { kind: "scalar", value: Number(value), text: source, ...span };
  }

  #list(items: readonly Node[], span: Span): TextNode {
    const out: TextNode[] = [];
    for (let index = 0; index < items.length; index += 1) {
      this.#path.push(index);
      out.push(this.read(items[index]!, span));
      this.#path.pop();
    }
    return { kind: "list", items: out, ...span };
  }

  #map(map: YAMLMap, span: Span): TextNode {
    const entries = new Map<string, MapEntry>();
    let partial = false;
    for (const pair of map.items as Pair<Node | null, Node | null>[]) {
      const key = this.#key(pair.key, span);
      if (!key) {
        partial = true;
        continue;
      }
      const earlier = entries.get(key.name);
      this.#path.push(key.name);
      if (earlier) {
        const first = this.#locator.place(earlier.key);
        const again = this.#locator.place(key.span);
        this.report(
          "duplicate-key",
          key.span,
          `duplicate key ${formatPath(this.#path)} (first at ${first.line}:${first.column}, again at ${again.line}:${again.column})`,
          {
            path: formatPath(this.#path),
            label: "again here",
            related: [{ place: first, message: "first here" }],
            help: ["keep one of the two"],
          },
        );
      }
      const value = this.read(pair.value, key.span);
      this.#path.pop();
      if (!earlier) entries.set(key.name, { key: key.span, value });
    }
    return { kind: "map", entries, ...(partial ? { partial } : {}), ...span };
  }

  #key(key: Node | null, map: Span): { readonly name: string; readonly span: Span } | undefined {
    const span = key?.range ? { start: key.range[0], end: key.range[1] } : map;
    if (!isScalar(key) || (key.value === null && !key.source))
      return this.report("key-not-text", span, "a key must be plain text", {
        path: formatPath(this.#path),
        help: ["a text that starts with { or * needs quotes"],
      });
    const name = typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
    if (key.tag !== undefined && !CORE_TAGS.has(key.tag))
      return this.report("unknown-tag", tagSpan(this.#text, span), `the tag ${shortTag(key.tag)} has no meaning here`);
    if (key.anchor) this.#anchors.set(key.anchor, { node: { kind: "scalar", value: name, text: name, ...span }, size: 1 });
    if (name === "<<")
      return this.report("merge-key", span, "merge keys (<<) are not supported", {
        path: formatPath([...this.#path, name]),
        help: ["write the keys out, or use an alias for the whole value (key: *name)"],
      });
    if (FORBIDDEN_KEYS.has(name))
      return this.report("forbidden-key", span, `the key "${name}" is not allowed`, { path: formatPath([...this.#path, name]), help: ["use another name"] });
    return { name, span };
  }

  #alias(name: string, span: Span): TextNode {
    const anchored = this.#anchors.get(name);
    if (!anchored)
      return this.#broken("unknown-alias", span, `the alias *${name} has no anchor &${name} in front of it`, {
        help: ["a text that starts with * needs quotes"],
      });
    this.#nodes += anchored.size;
    this.#aliased += anchored.size;
    if (this.#aliased <= MAX_ALIASED_NODES) {
      this.repeated.add(anchored.node);
      return anchored.node;
    }
    // One report: the rest of the aliases would say the same.
    if (this.diagnostics.some((d) => d.code === "alias-bomb")) return brokenNode(span);
    return this.#broken("alias-bomb", span, `aliases blow the file up to more than ${MAX_ALIASED_NODES} values`, {
      help: ["write the values out, or use fewer aliases"],
    });
  }
}

/** The tag in front of a value, when it stands on the same line. */
function tagSpan(text: string, span: Span): Span {
  const line = text.lastIndexOf("\n", span.start - 1) + 1;
  const tag = /!\S*(?=\s*(?:&\S+\s*)?$)/.exec(text.slice(line, span.start));
  return tag ? { start: line + tag.index, end: line + tag.index + tag[0].length } : span;
}

/** A tag as people write it: `!!int`. */
export function shortTag(tag: string): string {
  return tag.startsWith("tag:yaml.org,2002:") ? `!!${tag.slice("tag:yaml.org,2002:".length)}` : tag;
}
