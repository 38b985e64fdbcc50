import { isScalar, parseDocument, type Document, type Node } from "yaml";
import type { Checked, Diagnostic } from "../base/diagnostics.ts";
import { errorAt, type DiagnosticCode, type DiagnosticParts } from "../base/diagnostic-codes.ts";
import { byteLength } from "../base/json.ts";
import { createLocator, isBroken, type Locator, type MapNode, type Span, type TextNode } from "./nodes.ts";
import { CORE_TAGS, MAX_DEPTH, shortTag, TreeReader } from "./tree-reader.ts";
import { tabLines, yamlErrorWords } from "./yaml-words.ts";
import type { SourceText } from "./types.ts";

/** Largest file that is read, in bytes. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** One file's value with the way back from values to places. */
export interface ParsedText {
  readonly root: MapNode;
  readonly locator: Locator;
  /** Nodes that aliases repeat: what is wrong in one is one mistake. */
  readonly repeated: ReadonlySet<TextNode>;
}

/** What a text gives: a tree when there is a map to read, with the parts marked that are not, and the findings. */
export interface ParsedParts {
  readonly tree: ParsedText | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** The text without a byte order mark; all positions count from here. */
export function withoutBom(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** Reads strict YAML 1.2 (contracts 1), all or nothing; see {@link parseParts}. */
export function parseYaml(source: SourceText): Checked<ParsedText> {
  const { tree, diagnostics } = parseParts(source);
  return tree && diagnostics.length === 0 ? { ok: true, value: tree, diagnostics } : { ok: false, diagnostics };
}

/**
 * Reads strict YAML 1.2 as far as it goes. Whatever the text, it never throws; everything that another reader might take for
 * something else (duplicate keys, tabs, several documents, tags, merge keys …) is an error with its place.
 */
export function parseParts(source: SourceText): ParsedParts {
  const text = withoutBom(source.text);
  const locator = createLocator(source.display, text);
  const fail = (code: DiagnosticCode, span: Span, message: string, parts?: DiagnosticParts): ParsedParts => ({
    tree: undefined,
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
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null && contents.source === ""))
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
  const root = reader.read(contents as Node);
  const tabs = tabLines(text).filter((tab) => !reader.multiline.some((span) => span.start < tab.start && tab.start < span.end));
  const tab = tabs[0];
  if (tab)
    reader.report("yaml-tab", tab, "this line is indented with a tab; YAML wants spaces", {
      help: ["replace the tab by spaces", ...(tabs.length > 1 ? [`the same in ${tabs.length - 1} more lines`] : [])],
    });
  if (root.kind !== "map" && !isBroken(root))
    reader.report("wrong-type", root, `the file must hold a map of keys, found ${root.kind === "list" ? "a list" : "a single value"}`);
  return { tree: root.kind === "map" ? { root, locator, repeated: reader.repeated } : undefined, diagnostics: reader.diagnostics };
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
