import { ExactNumber } from "./exact-json.ts";
import { isObject, setOwn } from "./json.ts";
import { createNeedles } from "./needles.ts";
import { remember } from "./remember.ts";
import { MASK, maskShapes } from "./secret-shapes.ts";

export { MASK } from "./secret-shapes.ts";

/** Takes secrets out of everything that is printed, logged, stored or sent. */
export interface Masker {
  /** Grows with every secret that is added: texts that were masked before must be masked again then. */
  readonly version: number;
  /** Remembers an exact secret value; values under 4 characters are ignored, for they would mask ordinary words. */
  add(secret: string): void;
  /** The text with every known secret (raw, URL, JSON, base64 and hex form; also the first part of one where the text was cut) and every secret-shaped token replaced by `***`. */
  text(input: string): string;
  /** A deep copy of a JSON value with all its strings and keys masked, and whole values under secret-sounding names. Never changes its input. */
  value(input: unknown): unknown;
  /**
   * A JSON value of a server on its way to a caller: only the secrets that the host itself knows are replaced, for a caller may need
   * whatever else a server says. Those under 8 characters are left, they would turn up in data by chance. Gives the input itself when
   * there is nothing to replace.
   */
  known<T>(input: T): T;
}

/** Shortest secret that is looked for in data. */
const SHORTEST_IN_DATA = 8;

/** Name parts whose values are secrets wherever they stand (contracts 1). */
const SECRET_NAME =
  /(^|[^a-z])(api_?key|key|token|secret|passw(?:or)?d|passphrase|credential|credentials|cookie|authorization|auth_?token|private_?key|access_?key)s?($|[^a-z])/;

/** Whether values under this name are secrets: it has a word such as key, token, secret, password, cookie or authorization. */
export function isSecretName(name: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  return SECRET_NAME.test(words) || /(apikey|accesstoken|authtoken|clientsecret|privatekey)/.test(words.replaceAll(/[^a-z]/g, ""));
}

/** Whether a name says where something is, and so holds no secret itself: `TOKEN_FILE`, `keyPath`, `auth_url`. URLs in it are masked by their shape. */
export function isPlaceName(name: string): boolean {
  return /(^|_)(file|path|dir|directory|folder|url|uri|host|port|endpoint)s?$/.test(
    name
      .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
      .toLowerCase()
      .replaceAll("-", "_"),
  );
}

const holdsSecret = remember((name) => isSecretName(name) && !isPlaceName(name));
/** Whether numbers under this name count tokens and are none: `tokens`, `maxTokens`, `token_count`. */
export function isCountName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
  const others = words.filter((word) => !/^tokens?$/.test(word));
  const counting = others.length < words.length && others.every((word) => COUNTING.test(word) || COUNTED.test(word));
  return counting && (words.includes("tokens") || others.some((word) => COUNTING.test(word)));
}

/** Words that make a number of `token` beside them, and words for what is counted so. */
const COUNTING = /^(max|min|maximum|minimum|total|num|count|counts|limit|budget|used|usage|remaining|average|cost|price|length|size)$/;
const COUNTED = /^(per|input|output|prompt|completion|cached|cache|reasoning|thinking|generated|estimated|minute|second|day|details)$/;

const countsTokens = remember(isCountName);

/** Makes a masker; secrets may be added at any time. */
export function createMasker(secrets: Iterable<string> = []): Masker {
  const known = new Set<string>();
  const needles = createNeedles();
  const inData = createNeedles();
  // The same names, ids and words are masked again and again.
  const text = remember((input) => maskShapes(needles.replace(input, MASK, true)));
  const masker: Masker = {
    get version() {
      return known.size;
    },
    add(secret) {
      if (secret.length < 4 || known.has(secret)) return;
      known.add(secret);
      text.forget();
      for (const form of forms(secret)) {
        needles.add(form);
        if (secret.length >= SHORTEST_IN_DATA && form.length >= SHORTEST_IN_DATA) inData.add(form);
      }
    },
    text,
    value: (input) => maskValue(input, masker, 0),
    known: (input) => replaceStrings(input, (text) => inData.replace(text, MASK), 0) as typeof input,
  };
  for (const secret of secrets) masker.add(secret);
  return masker;
}

/** The forms in which a secret turns up: raw, JSON-escaped (twice), URL-encoded in both cases, hex, and base64 at each of three offsets. */
function forms(secret: string): string[] {
  const trimmed = secret.trim();
  const out = new Set<string>([secret, trimmed, escaped(secret), escaped(escaped(secret))]);
  try {
    for (const url of [encodeURIComponent(trimmed), encodeURI(trimmed), encodeStrictly(trimmed)]) {
      out.add(url);
      out.add(url.replaceAll("%20", "+"));
      out.add(url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
    }
  } catch {
    // A lone surrogate has no URL form.
  }
  // A key of several lines is often printed line by line.
  if (trimmed.includes("\n")) for (const line of trimmed.split(/\r?\n/)) if (line.length >= 12 && !line.startsWith("-----")) out.add(line.trim());
  const bytes = Buffer.from(trimmed, "utf8");
  const hex = bytes.toString("hex");
  out.add(hex);
  out.add(hex.toUpperCase());
  out.add(hex.replace(/../g, "%$&"));
  out.add(hex.toUpperCase().replace(/../g, "%$&"));
  for (const offset of [0, 1, 2]) {
    const core = base64Core(bytes, offset);
    // Shorter ones would turn up by chance.
    if (core.length < 6) continue;
    out.add(core);
    out.add(core.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return [...out].filter((form) => form.length >= 4);
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As some libraries encode: everything but letters, digits and `-._~`. */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The base64 characters that depend on the secret alone, when `offset` bytes (modulo 3) stand before it and unknown ones after. */
function base64Core(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const start = offset === 0 ? 0 : offset + 1;
  const mixedEnd = (bytes.length + offset) % 3 !== 0;
  return text.slice(start, mixedEnd ? -1 : undefined);
}

function maskValue(input: unknown, masker: Masker, depth: number): unknown {
  if (typeof input === "string") return masker.text(input);
  if (depth > 100) return MASK;
  if (Array.isArray(input)) return input.map((item) => maskValue(item, masker, depth + 1));
  if (!isObject(input) || input instanceof ExactNumber) return input;
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) {
    const number = typeof value === "number" || value instanceof ExactNumber;
    const secret = holdsSecret(key) && ((typeof value === "string" && value !== "") || (number && !countsTokens(key)));
    setOwn(out, masker.text(key), secret ? MASK : maskValue(value, masker, depth + 1));
  }
  return out;
}

/** The value with its texts and keys replaced; parts that nothing is replaced in stay the same objects. */
function replaceStrings(input: unknown, replace: (text: string) => string, depth: number): unknown {
  if (typeof input === "string") return replace(input);
  if (depth > 100) return MASK;
  if (Array.isArray(input)) {
    const items = input.map((item) => replaceStrings(item, replace, depth + 1));
    return items.every((item, i) => item === input[i]) ? input : items;
  }
  if (!isObject(input) || input instanceof ExactNumber) return input;
  // Nearly always nothing is replaced, so the copy begins with the first member that is.
  let out: Record<string, unknown> | null = null;
  const keys = Object.keys(input);
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at]!;
    const name = replace(key);
    const item = replaceStrings(input[key], replace, depth + 1);
    if (out === null && (name !== key || item !== input[key])) {
      out = {};
      for (const before of keys.slice(0, at)) setOwn(out, before, input[before]);
    }
    if (out !== null) setOwn(out, name, item);
  }
  return out ?? input;
}
