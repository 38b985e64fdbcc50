import { ExactNumber } from "../base/exact-json.ts";
import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";
import { jsonLine, shapeOf } from "../base/log-safe.ts";
import type { Masker } from "../base/masking.ts";
import { remember } from "../base/remember.ts";
import { truncate } from "../base/text.ts";
import { CHAIN_KEYS } from "./audit-record.ts";

/** Members that records of like calls share. Who records keeps one object for them, so that its text is made once. */
export type AuditSubject = Readonly<Record<string, unknown>>;

/** Longest text kept of one value. */
const MAX_VALUE_CHARS = 4000;
/** The log writes these itself. */
const RESERVED_KEYS: ReadonlySet<string> = new Set(["at", ...CHAIN_KEYS]);

/** JSON text of what may stand in the log of an object's members, each after a comma: masked and bounded, `arguments` as the mode says. */
export type MembersText = (members: AuditSubject, mode: "masked" | "shapes") => string;

/** Makes the writer of members. */
export function membersText(masker: Masker): MembersText {
  const textOf = maskedTexts(masker);
  const valueOf = (value: unknown): string => {
    if (typeof value === "string") return textOf(value);
    return typeof value === "number" ? String(jsonNumber(value)) : jsonLine(bounded(masker.value(value)));
  };
  return (members, mode) => {
    let out = "";
    for (const key of Object.keys(members)) {
      const value = members[key];
      if (value === undefined) continue;
      const start = startOf(key);
      if (start === "") continue;
      // The id of a call is the host's own, and new each time: there is nothing in it to mask, and nothing to remember.
      if (key === "call_id") out += `${start}${JSON.stringify(value)}`;
      else out += start + valueOf(key === "arguments" && mode === "shapes" ? shapeOf(value) : value);
    }
    return out;
  };
}

/** How a member begins; nothing for a name that the log writes itself. */
const startOf = remember((key) => (RESERVED_KEYS.has(key) ? "" : `,${jsonLine(key)}:`));

function jsonNumber(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** JSON texts of texts, masked and bounded; those of short ones are made once, and again when the masker has learned another secret. */
function maskedTexts(masker: Masker): (text: string) => string {
  const made = remember((text) => jsonLine(boundedText(masker.text(text))));
  let { version } = masker;
  return (text) => {
    if (version !== masker.version) {
      version = masker.version;
      made.forget();
    }
    return made(text);
  };
}

/** Texts of subjects, each made once, and again when the masker has learned another secret. */
export function subjectTexts(masker: Masker, membersOf: MembersText): (subject: AuditSubject) => string {
  const made = new WeakMap<AuditSubject, { readonly text: string; readonly version: number }>();
  return (subject) => {
    let known = made.get(subject);
    if (known?.version !== masker.version) made.set(subject, (known = { text: membersOf(subject, "masked"), version: masker.version }));
    return known.text;
  };
}

function bounded(value: unknown): Json {
  if (typeof value === "string") return boundedText(value);
  if (Array.isArray(value)) return value.map((item) => bounded(item));
  if (value instanceof ExactNumber) return value.digits;
  if (!isObject(value)) return (value ?? null) as Json;
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) if (item !== undefined) setOwn(out, key, bounded(item));
  return out;
}

function boundedText(text: string): string {
  return text.length > MAX_VALUE_CHARS ? `${truncate(text, MAX_VALUE_CHARS)} (${text.length} characters)` : text;
}
