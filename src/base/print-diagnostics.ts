import { diagnosticToJson, sortDiagnostics, type Diagnostic, type Place, type Severity } from "./diagnostics.ts";
import { isCountName, isPlaceName, isSecretName, MASK } from "./masking.ts";
import { count, escapeInvisible, isInvisible } from "./text.ts";

export type DiagnosticFormat = "text" | "compact" | "json";

/** How findings are printed. */
export interface PrintOptions {
  readonly format: DiagnosticFormat;
  /** The text of a file by the name that places carry; undefined when it is not at hand. */
  readonly texts: (file: string) => string | undefined;
  readonly color: boolean;
  /** How many files were looked at, for the last line. */
  readonly files: number;
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string;
}

/** Most findings that the text form prints; behind that a reader is helped more by mending the first ones. */
const MOST_PRINTED = 200;
const LONGEST_LINE = 140;

/** Prints findings, sorted: with excerpts and carets for people, one a line for tools, or as JSON (contracts 9). Ends with a newline. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], options: PrintOptions): string {
  const sorted = sortDiagnostics(diagnostics);
  if (options.format === "json")
    return `${JSON.stringify(
      sorted.map((d) => diagnosticToJson(d, options.mask)),
      null,
      2,
    )}\n`;
  if (options.format === "compact") return sorted.map((d) => `${compactLine(d, options.mask)}\n`).join("");
  const paint = painter(options.color);
  const blocks = sorted.slice(0, MOST_PRINTED).map((d) => block(d, options, paint));
  if (sorted.length > MOST_PRINTED) blocks.push(`… and ${sorted.length - MOST_PRINTED} more\n`);
  return `${blocks.map((text) => `${text}\n`).join("")}${summaryLine(sorted, options.files)}\n`;
}

/** The last line: `2 errors, 1 warning in 1 of 4 files`. */
export function summaryLine(diagnostics: readonly Diagnostic[], files: number): string {
  const total = count(files, "file");
  if (diagnostics.length === 0) return `no problems in ${total}`;
  const words = (["error", "warning", "info"] as const).flatMap((severity) => {
    const found = diagnostics.filter((d) => d.severity === severity).length;
    return found === 0 ? [] : [severity === "info" ? count(found, "note") : count(found, severity)];
  });
  const touched = new Set(diagnostics.flatMap((d) => (d.place ? [d.place.file] : []))).size;
  return `${words.join(", ")} in ${touched} of ${total}`;
}

type Paint = (text: string, style: Severity | "bold" | "dim") => string;

function painter(color: boolean): Paint {
  const codes = { error: "1;31", warning: "1;33", info: "1;36", bold: "1", dim: "34" } as const;
  return color ? (text, style) => `\u001b[${codes[style]}m${text}\u001b[0m` : (text) => text;
}

function block(d: Diagnostic, options: PrintOptions, paint: Paint): string {
  const say = (text: string): string => escapeInvisible(options.mask(text));
  const out = [`${paint(`${d.severity}[${d.code}]`, d.severity)}${paint(`: ${say(d.message)}`, "bold")}`];
  const pad = " ".repeat((d.place ? String(d.place.line).length : 1) + 1);
  const excerpt = d.place && excerptOf(d.place, options);
  if (d.place) out.push(`${pad}${paint("-->", "dim")} ${escapeInvisible(d.place.file)}:${d.place.line}:${d.place.column}${d.path ? `  ${say(d.path)}` : ""}`);
  if (d.place && excerpt) {
    const bar = paint("|", "dim");
    out.push(`${pad} ${bar}`, ` ${paint(String(d.place.line), "dim")} ${bar} ${excerpt.line}`);
    out.push(`${pad} ${bar} ${" ".repeat(excerpt.indent)}${paint(`${"^".repeat(excerpt.width)}${d.label ? ` ${say(d.label)}` : ""}`, d.severity)}`);
  } else if (d.label) out.push(`${pad} ${paint("=", "dim")} ${say(d.label)}`);
  for (const line of d.help ?? []) out.push(`${pad} ${paint("=", "dim")} ${say(line)}`);
  for (const { place, message } of d.related ?? [])
    out.push(`${pad} ${paint("=", "dim")} ${say(message)}: ${escapeInvisible(place.file)}:${place.line}:${place.column}`);
  return `${out.join("\n")}\n`;
}

interface Excerpt {
  readonly line: string;
  /** Cells in front of the carets, and how many carets. */
  readonly indent: number;
  readonly width: number;
}

/** The line of a place as it may be shown: secrets masked, tabs and invisible characters made visible, cut around the place. */
function excerptOf(place: Place, options: PrintOptions): Excerpt | undefined {
  const text = options.texts(place.file);
  const raw = (text?.startsWith("\uFEFF") ? text.slice(1) : text)?.split("\n")[place.line - 1]?.replace(/\r$/, "");
  if (raw === undefined) return undefined;
  const end = place.endLine === place.line ? place.endColumn - 1 : raw.length;
  const masked = maskLine(raw, options.mask);
  let from = Math.min(place.column - 1, raw.length);
  let to = Math.max(Math.min(end, raw.length), from);
  if (masked !== raw) {
    from = columnIn(masked, raw, from, options.mask);
    to = Math.max(from, columnIn(masked, raw, to, options.mask));
  }
  const start = masked.length > LONGEST_LINE && from > LONGEST_LINE / 2 ? from - Math.floor(LONGEST_LINE / 3) : 0;
  const stop = Math.min(masked.length, start + LONGEST_LINE);
  const lead = start > 0 ? "…" : "";
  const shown = visible(masked.slice(start, stop));
  return {
    line: `${lead}${shown}${stop < masked.length ? "…" : ""}`,
    indent: lead.length + cells(visible(masked.slice(start, from))),
    width: Math.max(1, cells(visible(masked.slice(from, Math.min(to, stop))))),
  };
}

/** Where a column of a line stands once the line is masked: a mask has another length than what it hides. */
function columnIn(masked: string, raw: string, at: number, mask: (text: string) => string): number {
  const head = maskLine(raw.slice(0, at), mask);
  if (masked.startsWith(head)) return head.length;
  // The column is inside of a secret: go by what stands on both sides of all that is masked.
  const before = commonPrefix(raw, masked);
  return translate(at, raw.length, masked.length, before, commonSuffix(raw, masked, before));
}

function commonPrefix(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i += 1;
  return i;
}

function commonSuffix(a: string, b: string, before: number): number {
  let i = 0;
  while (i < Math.min(a.length, b.length) - before && a[a.length - 1 - i] === b[b.length - 1 - i]) i += 1;
  return i;
}

function translate(at: number, rawLength: number, maskedLength: number, before: number, behind: number): number {
  if (at <= before) return at;
  if (at >= rawLength - behind) return maskedLength - (rawLength - at);
  return before;
}

/** Masks a line of YAML: known secrets, and what stands behind a name that says secret, which may never have been loaded. */
function maskLine(line: string, mask: (text: string) => string): string {
  const named = line.replaceAll(
    /([A-Za-z_][A-Za-z0-9_-]{0,80})(["']?[ \t]*:[ \t]+)("[^"]*"?|'[^']*'?|(?:\$\{[^}]{0,200}\}|[^,}\s#"'[{|>&*!])(?:\$\{[^}]{0,200}\}|[^,}#])*)/g,
    (all: string, name: string, gap: string, value: string) =>
      holdsSecret(name) && !isHarmless(value) && !isCount(name, value) ? `${name}${gap}${MASK}` : all,
  );
  return mask(named);
}

/** `bearer` is a key of ours that holds a token; elsewhere it is an ordinary word. */
function holdsSecret(name: string): boolean {
  return name === "bearer" || (isSecretName(name) && !isPlaceName(name));
}

/** `budget_tokens: 20k`: an amount, perhaps one that is written wrong. */
function isCount(name: string, value: string): boolean {
  return isCountName(name) && /^["']?\d{1,9}[A-Za-z]?["']?$/.test(value.trim());
}

/** Whether a value holds no secret of its own: short numbers, words, variables. */
function isHarmless(value: string): boolean {
  const own = value
    .replaceAll(/\$\{[A-Za-z_:][^}$]{0,200}\}/g, (expression) => (expression.includes(":-") ? expression : ""))
    .replaceAll(/["']/g, "")
    .trim();
  return /^(?:|true|false|null|\d{1,5}|Bearer|Basic|Token)$/i.test(own);
}

/** A tab is shown as →, other invisible characters by their number. */
function visible(text: string): string {
  let out = "";
  for (const c of text) out += c === "\t" ? "→" : isInvisible(c) ? escapeInvisible(c) : c;
  return out;
}

const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;

/** How many cells of a terminal a text takes: Chinese, Japanese and Korean characters take two. */
function cells(text: string): number {
  let sum = 0;
  for (const c of text) sum += WIDE.test(c) ? 2 : 1;
  return sum;
}

function compactLine(d: Diagnostic, mask: (text: string) => string): string {
  const where = d.place ? `${d.place.file}:${d.place.line}:${d.place.column}: ` : "";
  return escapeInvisible(mask(`${where}${d.severity}[${d.code}]: ${d.message}${d.label ? `; ${d.label}` : ""}`));
}
