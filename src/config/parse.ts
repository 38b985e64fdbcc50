import { isAlias, isMap, isScalar, isSeq, parseDocument, type Document, type Node, type Pair, type Scalar, type YAMLMap } from "yaml";
import type { Checked, Diagnostic } from "../base/diagnostics.ts";
import { errorAt, type DiagnosticCode, type DiagnosticParts } from "../base/diagnostic-codes.ts";
import { byteLength } from "../base/json.ts";
import { createLocator, formatPath, type Locator, type MapEntry, type MapNode, type ScalarNode, type Span, type TextNode } from "./nodes.ts";
import { tabLines, yamlErrorWords } from "./yaml-words.ts";
import type { SourceText } from "./types.ts";

/** Largest file that is read, in bytes. */
export const MAX_FILE_BYTES = 1024 * 1024;
const MAX_DEPTH = 100;
/** Most values that aliases may add to a file: far above honest use, far below what fills the memory. */
const MAX_ALIASED_NODES = 20_000;
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const CORE_TAGS: ReadonlySet<string> = new Set(["str", "int", "float", "bool", "null", "map", "seq"].map((name) => `tag:yaml.org,2002:${name}`));

/** One file's value with the way back from values to places. */
export interface ParsedText {
  readonly root: MapNode;
  readonly locator: Locator;
}

/** The text without a byte order mark; all positions count from here. */
export function withoutBom(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/**
 * Reads strict YAML 1.2 (contracts 1). Whatever the text, it never throws; everything that another reader might take for
 * something else (duplicate keys, tabs, several documents, tags, merge keys …) is an error with its place.
 */
export function parseYaml(source: SourceText): Checked<ParsedText> {
  const text = withoutBom(source.text);
  const locator = createLocator(source.display, text);
  const fail = (code: DiagnosticCode, span: Span, message: string, parts?: DiagnosticParts): Checked<ParsedText> => ({
    ok: false,
    diagnostics: [errorAt(code, locator.place(span), message, parts)],
  });

  if (byteLength(text) > MAX_FILE_BYTES)
    return fail("file-too-large", { start: 0, end: 0 }, "the file is larger than 1 MiB", { help: ["split it into several files"] });
  const unfit = unfitText(text);
  if (unfit) return fail(unfit.code, unfit.span, unfit.message, unfit.parts);

  let document: Document.Parsed;
  try {
    document = parseDocument(text, { version: "1.2", schema: "core", uniqueKeys: false, merge: false, logLevel: "error", prettyErrors: false });
  } catch {
    return fail("yaml-syntax", { start: 0, end: 0 }, "the text cannot be read as YAML");
  }
  const first = document.errors[0];
  if (first) {
    const found = yamlErrorWords(text, first.code, first.pos[0], first.message);
    return fail(found.code, found.span, found.message, found.parts);
  }
  if (document.contents === null)
    return fail("file-empty", { start: 0, end: 0 }, text.trim() === "" ? "the file is empty" : "the file holds only comments", {
      help: ["write at least one key"],
    });

  const reader = new TreeReader(text, locator);
  for (const warning of document.warnings) {
    // Unknown tags are found by the reader; what is left is a value that its own tag does not fit, such as !!int "x".
    const tag = /tag:yaml\.org,2002:\w+$/.exec(warning.message)?.[0];
    if (tag && CORE_TAGS.has(tag))
      reader.report("unknown-tag", { start: warning.pos[0], end: warning.pos[1] }, `the value does not fit its tag ${shortTag(tag)}`, {
        help: ["write the value without a tag"],
      });
  }
  const root = reader.read(document.contents as Node);
  const tabs = tabLines(text).filter((tab) => !reader.multiline.some((span) => span.start < tab.start && tab.start < span.end));
  const tab = tabs[0];
  if (tab)
    reader.report("yaml-tab", tab, "this line is indented with a tab; YAML wants spaces", {
      help: ["replace the tab by spaces", ...(tabs.length > 1 ? [`the same in ${tabs.length - 1} more lines`] : [])],
    });
  if (root && root.kind !== "map")
    reader.report("wrong-type", root, `the file must hold a map of keys, found ${root.kind === "list" ? "a list" : "a single value"}`);
  if (reader.diagnostics.length > 0 || root?.kind !== "map") return { ok: false, diagnostics: reader.diagnostics };
  return { ok: true, value: { root, locator }, diagnostics: [] };
}

interface Unfit {
  readonly code: DiagnosticCode;
  readonly span: Span;
  readonly message: string;
  readonly parts?: DiagnosticParts;
}

/** What makes a text unfit before any parsing: encodings, control characters, directives, and depth that would overflow the stack. */
function unfitText(text: string): Unfit | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const odd = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]|^\uFFFD/.exec(text);
  if (odd) {
    const span = { start: odd.index, end: odd.index + 1 };
    const code = odd[0].charCodeAt(0);
    if (code === 0 || code === 0xfffd) return { code: "not-utf8", span, message: "the file is not UTF-8 text", parts: { help: ["save it as UTF-8"] } };
    return {
      code: "control-character",
      span,
      message: `the file holds the control character U+${code.toString(16).toUpperCase().padStart(4, "0")}`,
      parts: { help: ['inside double quotes it can be written as "\\x' + code.toString(16).padStart(2, "0") + '"'] },
    };
  }
  const directive = /^%(?!YAML[ \t]+1\.2\s*$)\S.*$/m.exec(text);
  // Only what stands before the first `---` is a directive.
  if (directive && !/^(?:[^%#\s]|[ \t]+[^#\s])/m.test(text.slice(0, directive.index))) {
    const span = { start: directive.index, end: directive.index + directive[0].length };
    return {
      code: "yaml-directive",
      span,
      message: `the line "${directive[0].trim()}" would change how the file is read`,
      parts: { help: ["take it out: files are read as YAML 1.2"] },
    };
  }
  const deep = deepAt(text);
  return deep === -1 ? undefined : { code: "too-deep", span: { start: deep, end: deep + 1 }, message: `values are nested more than ${MAX_DEPTH} deep` };
}

/** Where brackets or compact lists nest so deeply that a recursive parser would overflow; -1 when nowhere. */
function deepAt(text: string): number {
  const compact = /(?:[-?][ \t]+){101}/.exec(text);
  if (compact) return compact.index;
  let depth = 0;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    if (c === 0x5b || c === 0x7b) depth += 1;
    else if ((c === 0x5d || c === 0x7d) && depth > 0) depth -= 1;
    if (depth > 3 * MAX_DEPTH) return i;
  }
  return -1;
}

interface Anchored {
  readonly node: TextNode;
  readonly size: number;
}

/** Copies the library's nodes into our own, with every strictness that the library does not have. */
class TreeReader {
  readonly diagnostics: Diagnostic[] = [];
  /** Spans of scalars that may hold line breaks: a tab in there is content. */
  readonly multiline: Span[] = [];
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

  /** The copy of a node, or undefined after a report. */
  read(node: Node | null, fallback?: Span): TextNode | undefined {
    const range = node?.range;
    const span: Span = range && (range[1] > range[0] || !fallback) ? { start: range[0], end: range[1] } : (fallback ?? { start: 0, end: 0 });
    if (this.#path.length > MAX_DEPTH) return this.report("too-deep", span, `values are nested more than ${MAX_DEPTH} deep`);
    if (node === null) return { kind: "scalar", value: null, text: "", ...span };
    if (isAlias(node)) return this.#alias(node.source, span);
    const before = this.#nodes;
    this.#nodes += 1;
    const tag = (node as Scalar).tag;
    if (tag !== undefined && !CORE_TAGS.has(tag))
      return this.report("unknown-tag", tagSpan(this.#text, span), `the tag ${shortTag(tag)} has no meaning here`, { help: ["write the value without a tag"] });
    const out = isMap(node)
      ? this.#map(node, span)
      : isSeq(node)
        ? this.#list(node.items as Node[], span)
        : isScalar(node)
          ? this.#scalar(node, span)
          : undefined;
    const anchor = (node as Scalar).anchor;
    if (anchor && out) this.#anchors.set(anchor, { node: out, size: this.#nodes - before });
    return out;
  }

  #scalar(node: Scalar, span: Span): ScalarNode {
    const value = node.value;
    const source = node.source ?? "";
    if (node.type !== "PLAIN") this.multiline.push(span);
    if (typeof value === "string" || typeof value === "boolean" || value === null)
      return { kind: "scalar", value, text: typeof value === "string" ? value : source, ...span };
    return { kind: "scalar", value: Number(value), text: source, ...span };
  }

  #list(items: readonly Node[], span: Span): TextNode | undefined {
    const out: TextNode[] = [];
    for (let index = 0; index < items.length; index += 1) {
      this.#path.push(index);
      const node = this.read(items[index]!, span);
      this.#path.pop();
      if (node) out.push(node);
    }
    return { kind: "list", items: out, ...span };
  }

  #map(map: YAMLMap, span: Span): TextNode {
    const entries = new Map<string, MapEntry>();
    for (const pair of map.items as Pair<Node | null, Node | null>[]) {
      const key = this.#key(pair.key, span);
      if (!key) continue;
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
      if (value && !earlier) entries.set(key.name, { key: key.span, value });
    }
    return { kind: "map", entries, ...span };
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

  #alias(name: string, span: Span): TextNode | undefined {
    const anchored = this.#anchors.get(name);
    if (!anchored)
      return this.report("unknown-alias", span, `the alias *${name} has no anchor &${name} in front of it`, {
        help: ["a text that starts with * needs quotes"],
      });
    this.#nodes += anchored.size;
    this.#aliased += anchored.size;
    if (this.#aliased <= MAX_ALIASED_NODES) return anchored.node;
    // One report: the rest of the aliases would say the same.
    if (this.diagnostics.some((d) => d.code === "alias-bomb")) return undefined;
    return this.report("alias-bomb", span, `aliases blow the file up to more than ${MAX_ALIASED_NODES} values`, {
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

function shortTag(tag: string): string {
  return tag.startsWith("tag:yaml.org,2002:") ? `!!${tag.slice("tag:yaml.org,2002:".length)}` : tag;
}
