import type { DiagnosticCode, DiagnosticParts } from "../base/diagnostic-codes.ts";
import type { Span } from "./nodes.ts";

/** A YAML fault in plain words. */
export interface YamlFault {
  readonly code: DiagnosticCode;
  readonly span: Span;
  readonly message: string;
  readonly parts: DiagnosticParts;
}

/** Lines whose leading white space holds a tab: the span of the first tab of each. Blank lines do not count. */
export function tabLines(text: string): Span[] {
  const out: Span[] = [];
  if (!text.includes("\t")) return out;
  for (const match of text.matchAll(/^( *)(\t+)[ \t]*(?=[^\s])/gm)) {
    const start = match.index + match[1]!.length;
    out.push({ start, end: start + match[2]!.length });
  }
  return out;
}

/** Rewrites an error of the YAML library: its code and words are for those who write parsers. `at` is an offset in the text. */
export function yamlErrorWords(text: string, code: string, at: number, message: string): YamlFault {
  const tab = nearTab(text, at);
  if (tab)
    return { code: "yaml-tab", span: tab, message: "this line is indented with a tab; YAML wants spaces", parts: { help: ["replace the tab by spaces"] } };
  if (code === "MULTIPLE_DOCS") return secondDocument(text, at);
  if (code === "RESOURCE_EXHAUSTION") return { code: "too-deep", span: { start: at, end: at + 1 }, message: "values are nested too deeply", parts: {} };
  const words = syntaxWords(text, code, at, message);
  return { code: "yaml-syntax", span: words.span ?? tokenAt(text, at), message: words.message, parts: words.help ? { help: [words.help] } : {} };
}

/** A tab-indented line next to the error: the true cause of most of what parsers then say. */
function nearTab(text: string, at: number): Span | undefined {
  const line = lineOf(text, at);
  return tabLines(text).find((tab) => Math.abs(lineOf(text, tab.start) - line) <= 1);
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i !== -1 && i < at; i = text.indexOf("\n", i + 1)) line += 1;
  return line;
}

function secondDocument(text: string, at: number): YamlFault {
  // The library points behind the `---` of the second document; after `...` there may be none.
  const markers = [...text.matchAll(/^---(?=\s|$)/gm)].filter((m) => text.slice(0, m.index).trim() !== "" && m.index <= at + 3);
  const start = markers.at(-1)?.index ?? at;
  return {
    code: "multiple-documents",
    span: { start, end: start + 3 },
    message: "a second YAML document starts here; a file holds one",
    parts: { help: ["take the --- out, or move what follows into a file of its own"] },
  };
}

interface Words {
  readonly message: string;
  readonly help?: string;
  readonly span?: Span;
}

function syntaxWords(text: string, code: string, at: number, message: string): Words {
  const char = text[at] ?? "";
  const line = lineText(text, at);
  switch (code) {
    case "BAD_INDENT":
      if (message.startsWith("Flow")) return unclosed(text, at, message);
      if (message.startsWith("Block scalar")) return { message: "the lines of a | or > text must be indented more than its key" };
      return indentedDifferently(text, at, "keys of one map start in the same column");
    case "BLOCK_AS_IMPLICIT_KEY":
      return /:\s*\S.*:\s/.test(`${line} `)
        ? { message: "a value holds a colon followed by a space, which starts another key", help: "put the value in quotes" }
        : { message: "this line has a value and more indented keys below it", help: "give the key either a value or keys below it" };
    case "MULTILINE_IMPLICIT_KEY":
      return { message: "a key must be followed by a colon on its own line", help: "write key: value" };
    case "MISSING_CHAR":
      if (message.includes("quote")) return unclosedQuote(text, at, message);
      if (message.includes("must end with")) return unclosed(text, at, message);
      if (message.startsWith("Sequence item without - indicator"))
        return indentedDifferently(text, at, "keys of one list item start in the same column, behind its -; a new item starts with a -");
      return { message: `"${tokenText(text, at)}" is neither a key nor a value`, help: "write key: value, with a space behind the colon" };
    case "BAD_SCALAR_START":
      return { message: `a value cannot start with ${char === "`" ? "a backtick" : `"${char}"`}`, help: "put the value in quotes" };
    case "BAD_DQ_ESCAPE":
      return {
        message: `${tokenText(text, at).slice(0, 2)} is no escape of double quotes`,
        help: "use single quotes for text with backslashes, or write \\\\",
        span: { start: at, end: at + 2 },
      };
    case "BAD_ALIAS":
      return { message: "* and & need a name behind them", help: "put a text that starts with * or & in quotes" };
    case "COMMENT_SPACE":
      return { message: "a comment needs a space in front of its #" };
    case "UNEXPECTED_TOKEN":
      if (/[[{,:]\s*[^"'\s]*\$\{/.test(line) && line.includes("{"))
        return { message: "inside { } and [ ], a text with ${…} needs quotes", help: 'write "${NAME}"' };
      return { message: `"${tokenText(text, at)}" does not fit here`, help: "look at the indentation, at quotes and at brackets in front of it" };
    default:
      return { message: `this is not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}` };
  }
}

/** Points at the bracket that was opened last and not closed, for that is what must be mended. */
function unclosed(text: string, at: number, message: string): Words {
  const open = message.startsWith("Flow map") ? "{" : "[";
  const close = open === "{" ? "}" : "]";
  const start = text.lastIndexOf(open, Math.max(0, at - 1));
  const words = { message: `the ${open} is not closed by a ${close}`, help: `add a ${close}, and indent what stands inside more than the key` };
  return start === -1 ? words : { ...words, span: { start, end: start + 1 } };
}

/** Points at the first word of the line, which may stand behind blank lines and comments. */
function indentedDifferently(text: string, at: number, help: string): Words {
  const start = at + /^(?:\s|#.*)*/.exec(text.slice(at))![0].length;
  return { message: "this line is indented differently from its neighbours", help, span: tokenAt(text, start) };
}

function unclosedQuote(text: string, at: number, message: string): Words {
  const quote = message.includes("'") ? "'" : '"';
  const start = text.slice(0, at).search(new RegExp(`(?<=(?:^|[\\s\\[{,:-]))${quote}(?=[^${quote}]*$)`, "m"));
  const words = { message: `the text that starts with ${quote} is not closed`, help: `add a ${quote} at its end` };
  return start === -1 ? words : { ...words, span: { start, end: start + 1 } };
}

function tokenAt(text: string, at: number): Span {
  const token = /^[^\s,[\]{}]+/.exec(text.slice(at, at + 60));
  return { start: at, end: at + Math.max(1, token?.[0].length ?? 1) };
}

function tokenText(text: string, at: number): string {
  const span = tokenAt(text, at);
  return text.slice(span.start, span.end).trim() || "the end of the file";
}

function lineText(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  return text.slice(start, end === -1 ? undefined : end);
}
