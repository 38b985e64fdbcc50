import { isObject, type Json } from "../base/json.ts";
import { escapeInvisible, truncate } from "../base/text.ts";
import { confusableWith, mixedScriptWord } from "./confusables.ts";
import { hiddenCharacters } from "./invisible.ts";
import { PHRASES } from "./lint-phrases.ts";
import type { PinItem } from "./types.ts";

/** What a text of a server can be found to have in it. */
export type LintCode =
  | "invisible-unicode"
  | "bidi-control"
  | "ansi-escape"
  | "control-character"
  | "hidden-instruction"
  | "encoded-text"
  | "padding"
  | "long-text"
  | "cross-server-reference"
  | "suspicious-parameter"
  | "confusable-name"
  | "mixed-script"
  | "remote-image";

/** One finding of the lint: a hint to look, never a border (contracts 5). */
export interface LintFinding {
  readonly code: LintCode;
  /** Where in the definition: `inputSchema.properties.word.description`. */
  readonly path: string;
  /** In words, with everything invisible escaped. */
  readonly message: string;
}

/** What the lint knows of the rest of the topology. Its sets must not change once they are in use. */
export interface LintContext {
  readonly app: string;
  /** Tools of this very server, by any of their names. */
  readonly own: ReadonlySet<string>;
  /** Names of other apps' tools (full, short, and own names that are no common words) and packages. */
  readonly others: ReadonlySet<string>;
  /** The server's own tool names of other apps, for look-alikes. */
  readonly otherTools: ReadonlySet<string>;
}

const NO_CONTEXT: LintContext = { app: "", own: new Set(), others: new Set(), otherTools: new Set() };

/** Texts are read up to this length; what is longer is a finding by itself. */
const MAX_TEXT = 16_000;
const MAX_FINDINGS = 50;
const MAX_NODES = 20_000;

/** Lints one pinned item: every text in it, names of parameters and enum members too. Linear; gives at most 50 findings. */
export function lintItem(item: Pick<PinItem, "kind" | "name" | "definition">, context: LintContext = NO_CONTEXT): LintFinding[] {
  const findings: LintFinding[] = [];
  if (item.kind === "tool") {
    const like = confusableWith(item.name, context.otherTools) ?? confusableWith(item.name, context.own);
    if (like !== undefined) findings.push({ code: "confusable-name", path: "name", message: `the name ${item.name} can be mistaken for ${like}` });
  }
  let nodes = 0;
  const walk = (at: string, key: string, node: Json): void => {
    nodes += 1;
    if (nodes > MAX_NODES || findings.length >= MAX_FINDINGS) return;
    if (typeof node === "string") {
      if (!(at === "name" || key === "$schema" || key === "$ref")) {
        // Icons are often pictures in base64, and an SVG picture reads like prose.
        const found = lintText(node, context).filter((f) => !(f.code === "encoded-text" && at.startsWith("icons")));
        findings.push(...found.map((f) => ({ ...f, path: at })));
      }
    } else if (Array.isArray(node)) {
      for (const [i, child] of node.entries()) walk(`${at}[${i}]`, key, child);
    } else if (isObject(node)) {
      for (const [name, child] of Object.entries(node)) {
        const place = at === "" ? name : `${at}.${name}`;
        if (key === "properties") findings.push(...lintParameter(name, context).map((f) => ({ ...f, path: escapeInvisible(place) })));
        walk(escapeInvisible(place), name, child as Json);
      }
    }
  };
  walk(typeof item.definition === "string" ? item.kind : "", "", item.definition);
  return distinct(findings).slice(0, MAX_FINDINGS);
}

/** The findings of an item in words, as pins, `lock` and `status` show them: `hidden-instruction at description: …`. */
export function lintMessages(item: Pick<PinItem, "kind" | "name" | "definition">, context?: LintContext): string[] {
  return lintItem(item, context).map((f) => `${f.code} at ${f.path}: ${f.message}`);
}

/** Lints one text. */
export function lintText(text: string, context: LintContext = NO_CONTEXT): Omit<LintFinding, "path">[] {
  const findings: Omit<LintFinding, "path">[] = [];
  const add = (code: LintCode, message: string): void => {
    findings.push({ code, message });
  };
  if (text.length > MAX_TEXT) add("long-text", `the text has ${text.length} characters; only the first ${MAX_TEXT} were looked at`);
  const part = text.slice(0, MAX_TEXT);

  const hidden = hiddenCharacters(part);
  for (const kind of new Set(hidden.map((h) => h.kind))) {
    const chars = hidden.filter((h) => h.kind === kind);
    const shown = [...new Set(chars.map((h) => escapeInvisible(h.char)))].slice(0, 5).join(" ");
    add(kind, `${chars.length} hidden ${chars.length === 1 ? "character" : "characters"}: ${shown}`);
  }
  const padding = /\s{60,}|(?:\r?\n[ \t]{0,20}){12,}/.exec(part);
  if (padding) add("padding", `${padding[0].length} characters of white space push what follows out of sight`);
  // Hidden characters inside a word would keep a phrase from being seen.
  const readable = hidden.length > 0 ? withoutHidden(part, new Set(hidden.map((h) => h.char))).normalize("NFKC") : part.normalize("NFKC");
  for (const { pattern, what } of PHRASES) {
    const match = pattern.exec(readable);
    if (match && !(match[1] !== undefined && context.own.has(match[1]))) {
      add("hidden-instruction", `${what}: "${escapeInvisible(truncate(match[0], 80))}"`);
      break;
    }
  }
  const encoded = encodedText(part);
  if (encoded !== null) add("encoded-text", `encoded text that reads "${escapeInvisible(truncate(encoded, 80))}"`);
  const mixed = mixedScriptWord(part);
  if (mixed !== null) add("mixed-script", `the word "${mixed}" mixes Latin letters with look-alikes of another script`);
  const reference = foreignName(part, context);
  if (reference !== null) add("cross-server-reference", `it speaks of ${reference}, which belongs to another server`);
  return findings;
}

/** Findings in the text of a tool's answer that matter to whoever renders it: images and links that carry data away, controls. */
export function lintResultText(text: string): Omit<LintFinding, "path">[] {
  const part = text.slice(0, MAX_TEXT * 4);
  const findings: Omit<LintFinding, "path">[] = [];
  const image =
    /!\[[^\]]{0,200}\]\(\s{0,5}<?((?:https?:)?\/\/[^\s)>]{1,500})|<img\b[^>]{0,300}\bsrc\s{0,5}=\s{0,5}["']?((?:https?:)?\/\/[^\s"'>]{1,500})/i.exec(part);
  if (image)
    findings.push({
      code: "remote-image",
      message: `a remote image that would be fetched when shown: ${escapeInvisible(truncate((image[1] ?? image[2])!, 120))}`,
    });
  for (const kind of new Set(hiddenCharacters(part).map((h) => h.kind))) findings.push({ code: kind, message: "hidden characters" });
  return findings;
}

const SECRET_PARAMETER =
  /(?:^|_)(?:dotenv|dot_env|env_file|ssh|ssh_key|id_rsa|private_?key|passwd|password|passphrase|credentials?|secrets?|client_secret|api_?key|access_?token|auth_?token|refresh_?token|session_?token|bearer(?:_token)?|cookies?|system_?prompt|seed_?phrase|mnemonic|(?:full_|entire_|whole_)?(?:conversation|chat|context|message)_(?:history|log|transcript)|full_(?:conversation|chat|context)|previous_messages|all_tool_results)(?:$|_)/;

function lintParameter(name: string, context: LintContext): Omit<LintFinding, "path">[] {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_");
  const findings = lintText(name.replaceAll("_", " "), context);
  if (SECRET_PARAMETER.test(words))
    findings.push({
      code: "suspicious-parameter",
      message: `the parameter "${escapeInvisible(truncate(name, 80))}" asks for a secret or for the conversation`,
    });
  else if (words.length > 64)
    findings.push({ code: "suspicious-parameter", message: `the parameter name has ${words.length} characters, which is more than a name needs` });
  return findings;
}

function withoutHidden(text: string, chars: ReadonlySet<string>): string {
  return [...text].filter((c) => !chars.has(c)).join("");
}

/** Text behind base64, hex, percent or entity codes that reads like prose; null when there is none. */
function encodedText(text: string): string | null {
  for (const match of text.matchAll(/[A-Za-z0-9+/_-]{24,4000}={0,2}/g)) {
    const run = match[0];
    const decoded = prose(/^(?:[0-9a-f]{2}){20,}$/i.test(run) ? Buffer.from(run, "hex") : Buffer.from(run.replaceAll("-", "+").replaceAll("_", "/"), "base64"));
    if (decoded !== null) return decoded;
  }
  const escaped = /(?:%[0-9a-f]{2}){12,2000}|(?:&#x?[0-9a-f]{2,6};){8,1000}|(?:\\u[0-9a-f]{4}){8,1000}|(?:\\x[0-9a-f]{2}){12,1000}/i.exec(text);
  return escaped ? truncate(escaped[0], 60) : null;
}

function prose(bytes: Buffer): string | null {
  const text = bytes.toString("utf8");
  const printable = [...text].filter((c) => /^[\x20-\x7e\n\r\t\p{L}\p{P}]$/u.test(c) && c !== "\ufffd").length;
  const words = text.split(/\s+/).filter((w) => /^[\p{L}\p{P}\p{N}_]{1,40}$/u.test(w));
  return printable >= [...text].length * 0.95 && words.length >= 3 ? text : null;
}

/** A name of another server's tool or package in a text, or a name in the form `server__tool` that is none of this server's own. */
function foreignName(text: string, context: LintContext): string | null {
  for (const match of text.matchAll(/[A-Za-z][A-Za-z0-9_.-]{3,127}/g)) {
    const name = match[0].replace(/[.-]+$/, "");
    if (context.own.has(name)) continue;
    if (context.others.has(name)) return name;
    if (/^[A-Za-z0-9-]{2,}__[A-Za-z0-9_-]{2,}$/.test(name) && !name.endsWith("__")) return name;
  }
  return null;
}

function distinct(findings: readonly LintFinding[]): LintFinding[] {
  return [...new Map(findings.map((f) => [`${f.code} ${f.path} ${f.message}`, f])).values()];
}
