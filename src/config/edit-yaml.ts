import { isMap, isScalar, parseDocument, stringify, type Document, type Pair, type Scalar, type YAMLMap } from "yaml";
import type { JsonObject } from "../base/json.ts";
import { errorAt } from "../base/diagnostic-codes.ts";
import type { Checked } from "../base/diagnostics.ts";
import { parseYaml, withoutBom } from "./parse.ts";
import { yamlFlow } from "./yaml-text.ts";
import type { SourceText } from "./types.ts";

/**
 * Adds an entry under `apps` of a topology.yaml. Only new lines come in: comments, order, quoting, blank lines and line endings
 * of the rest stay as they are. Fails when the text is not YAML, or when the package is there already.
 */
export function addApp(source: SourceText, name: string, entry: JsonObject): Checked<string> {
  return editApps(
    source,
    (edit, apps) => {
      if (apps?.has(name)) return "exists";
      return edit.insert(apps, name, entry);
    },
    name,
  );
}

/** Sets (or, with null, takes out) one setting of an app's entry, such as `enabled`; makes the entry when it is missing. */
export function setAppField(source: SourceText, name: string, field: string, value: JsonObject[string] | undefined): Checked<string> {
  return editApps(
    source,
    (edit, apps) => {
      const entry = apps?.get(name, true);
      if (isMap(entry)) return edit.set(entry, field, value);
      if (value === undefined) return edit.text;
      if (apps?.has(name)) return edit.replaceEmpty(apps, name, { [field]: value });
      return edit.insert(apps, name, { [field]: value });
    },
    name,
  );
}

function editApps(source: SourceText, change: (edit: TextEdit, apps: YAMLMap | null) => string, name: string): Checked<string> {
  const checked = parseYaml(source);
  const empty = !checked.ok && checked.diagnostics.every((d) => d.code === "file-empty");
  if (!checked.ok && !empty) return { ok: false, diagnostics: checked.diagnostics };
  const bom = source.text.length - withoutBom(source.text).length;
  const text = withoutBom(source.text);
  const document = parseDocument(text, { keepSourceTokens: true });
  const apps = isMap(document.contents) ? document.contents.get("apps", true) : null;
  const out = change(new TextEdit(text, document), isMap(apps) ? apps : null);
  if (out === "exists")
    return {
      ok: false,
      diagnostics: [errorAt("duplicate-key", null, `${source.display} already has an entry for ${name}`, { help: ["edit that entry, or take it out first"] })],
    };
  return { ok: true, value: source.text.slice(0, bom) + out, diagnostics: [] };
}

/** Edits by splicing the text at places that the document tree gives, so that nothing else can change. */
class TextEdit {
  readonly text: string;
  readonly #document: Document;
  readonly #newline: string;

  constructor(text: string, document: Document) {
    this.text = text;
    this.#document = document;
    this.#newline = text.includes("\r\n") ? "\r\n" : "\n";
  }

  /** A new key behind the last one of `apps`; makes `apps` when it is missing or empty. */
  insert(apps: YAMLMap | null, name: string, entry: JsonObject): string {
    const root = this.#document.contents;
    const pair = isMap(root) ? (root.items as Pair[]).find((item) => isScalar(item.key) && item.key.value === "apps") : undefined;
    if (!pair) {
      const at = this.#endOfContent();
      const lead = this.text.slice(0, at) === "" || this.text.slice(0, at).endsWith("\n") ? "" : this.#newline;
      return this.#splice(at, at, `${lead}${this.#block({ apps: { [name]: entry } }, 0)}`);
    }
    if (!apps || apps.items.length === 0) return this.#fillEmpty(pair, this.#block({ [name]: entry }, this.#indentOf(pair) + 2));
    if (apps.flow) return this.#insertFlow(apps, name, entry);
    const first = apps.items[0] as Pair;
    return this.#afterLine(apps, this.#block({ [name]: entry }, this.#indentOf(first)));
  }

  set(entry: YAMLMap, field: string, value: JsonObject[string] | undefined): string {
    const pair = (entry.items as Pair[]).find((item) => isScalar(item.key) && item.key.value === field);
    if (!pair) {
      if (value === undefined) return this.text;
      if (entry.flow) return this.#insertFlow(entry, field, value);
      return this.#afterLine(entry, this.#block({ [field]: value }, this.#indentOf(entry.items[0] as Pair)));
    }
    if (value === undefined) return this.#remove(entry, pair);
    return this.#splice(this.#valueStart(pair), this.#valueEnd(pair), ` ${yamlFlow(value)}`);
  }

  /** Gives an empty entry (`name:`) its first setting. */
  replaceEmpty(apps: YAMLMap, name: string, entry: JsonObject): string {
    const pair = (apps.items as Pair[]).find((item) => isScalar(item.key) && item.key.value === name);
    if (!pair) return this.text;
    return this.#splice(this.#valueStart(pair), this.#valueEnd(pair), ` ${yamlFlow(entry)}`);
  }

  /** Takes out an empty value (nothing, `{}` or `null`) and puts lines below its key. A comment behind it stays. */
  #fillEmpty(pair: Pair, lines: string): string {
    const start = this.#valueStart(pair);
    const text = this.#splice(start, this.#valueEnd(pair), "");
    const lineEnd = text.indexOf("\n", start);
    return lineEnd === -1 ? `${text.trimEnd()}${this.#newline}${lines.trimEnd()}` : text.slice(0, lineEnd + 1) + lines + text.slice(lineEnd + 1);
  }

  #insertFlow(map: YAMLMap, key: string, value: JsonObject[string]): string {
    const end = (map.range?.[1] ?? this.text.length) - 1;
    const last = map.items.at(-1) as Pair | undefined;
    const at = last ? this.#valueEnd(last) : (map.range?.[0] ?? 0) + 1;
    // A trailing comma stays where it is and serves the new key.
    const comma = last && !/,/.test(this.text.slice(at, end)) ? "," : "";
    const behind = last && comma === "" ? at + this.text.slice(at, end).indexOf(",") + 1 : at;
    return this.#splice(behind, behind, `${comma}${last ? " " : ""}${yamlFlow(key)}: ${yamlFlow(value)}`);
  }

  /** Puts lines behind the last line of a block map, in front of blank lines and comments that belong to what follows. */
  #afterLine(map: YAMLMap, lines: string): string {
    const last = map.items.at(-1) as Pair;
    const end = this.#valueEnd(last);
    // A block text ends behind its line break already.
    const lineEnd = this.text[end - 1] === "\n" ? end : this.text.indexOf("\n", end);
    if (lineEnd === -1) return `${this.text}${this.#newline}${lines.trimEnd()}`;
    const at = this.text[end - 1] === "\n" ? end : lineEnd + 1;
    return this.#splice(at, at, lines);
  }

  #remove(map: YAMLMap, pair: Pair): string {
    const start = (pair.key as Scalar).range?.[0] ?? 0;
    const end = this.#valueEnd(pair);
    if (!map.flow) {
      const lineStart = this.text.lastIndexOf("\n", start - 1) + 1;
      const lineEnd = this.text.indexOf("\n", end);
      // The only key of a block map: an empty map must stay in its place.
      if (map.items.length === 1) return this.#splice(start, end, "{}");
      return this.#splice(lineStart, lineEnd === -1 ? this.text.length : lineEnd + 1, "");
    }
    const before = /,?\s*$/.exec(this.text.slice(map.range?.[0] ?? 0, start))?.[0] ?? "";
    const behind = /^\s*,?\s*/.exec(this.text.slice(end))?.[0] ?? "";
    return before.includes(",") ? this.#splice(start - before.length, end, "") : this.#splice(start, end + behind.length, "");
  }

  #block(value: JsonObject, indent: number): string {
    const text = stringify(value, { lineWidth: 0, blockQuote: false, defaultStringType: "PLAIN", defaultKeyType: "PLAIN" });
    const pad = " ".repeat(indent);
    return text
      .split("\n")
      .map((line) => (line === "" ? line : `${pad}${line}`))
      .join(this.#newline);
  }

  /** Behind the colon. */
  #valueStart(pair: Pair): number {
    const key = pair.key as Scalar;
    return this.text.indexOf(":", key.range?.[1] ?? 0) + 1;
  }

  #valueEnd(pair: Pair): number {
    const range = (pair.value as Scalar | YAMLMap | null)?.range;
    // An empty value has its range where the parser stopped looking for it, behind a comment perhaps.
    return range && range[1] > range[0] ? range[1] : this.#valueStart(pair);
  }

  #indentOf(pair: Pair): number {
    const start = (pair.key as Scalar).range?.[0] ?? 0;
    return start - (this.text.lastIndexOf("\n", start - 1) + 1);
  }

  #endOfContent(): number {
    const end = /(?:\r?\n)\.\.\.\s*$/.exec(this.text);
    return end ? end.index + end[0].indexOf("\n") + 1 : this.text.length;
  }

  #splice(from: number, to: number, put: string): string {
    return this.text.slice(0, from) + put + this.text.slice(to);
  }
}
