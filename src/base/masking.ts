import { isObject, setOwn } from "./json.ts";

/** What stands in the place of a secret. */
export const MASK = "***";

/** Takes secrets out of everything that is printed, logged, stored or sent. */
export interface Masker {
  /** Remembers an exact secret value; values under 4 characters are ignored, for they would mask ordinary words. */
  add(secret: string): void;
  /** The text with every known secret (raw, URL, JSON, base64 and hex form) and every secret-shaped token replaced by `***`. */
  text(input: string): string;
  /** A deep copy of a JSON value with all its strings masked, and whole strings under secret-sounding names. Never changes its input. */
  value(input: unknown): unknown;
}

/** Name parts whose values are secrets wherever they stand (contracts 1). */
const SECRET_NAME = /(^|[^a-z])(api_?key|key|token|secret|passw(?:or)?d|passphrase|credential|credentials|cookie|authorization|auth_?token|private_?key|access_?key)s?($|[^a-z])/;

/** Whether values under this name are secrets: it has a word such as key, token, secret, password, cookie or authorization. */
export function isSecretName(name: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  return SECRET_NAME.test(words) || /(apikey|accesstoken|authtoken|clientsecret|privatekey)/.test(words.replaceAll(/[^a-z]/g, ""));
}

/** Known shapes of secrets. Every pattern is linear: no nested or overlapping repeats. */
const SHAPES: readonly RegExp[] = [
  /\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
];
const BEARER = /\b(Bearer|Basic|Token)(\s+|%20)([A-Za-z0-9._~+/=-]{8,})/gi;
const URL_USER = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)([^\s/@:]{1,200}):([^\s/@]{1,200})@/gi;
const URL_QUERY = /([?&;](?:[a-z0-9_.-]{0,40}(?:key|token|secret|password|passwd|credential|authorization|sig|signature))=)([^&#\s"'<>;]{1,4000})/gi;
const COOKIE = /\b((?:set-)?cookie\s*[:=]\s*)([^\r\n"']{4,4000})/gi;

/** Makes a masker; secrets may be added at any time. */
export function createMasker(secrets: Iterable<string> = []): Masker {
  const known = new Set<string>();
  let needles: string[] = [];
  const masker: Masker = {
    add(secret) {
      if (secret.length < 4 || known.has(secret)) return;
      known.add(secret);
      needles = [...new Set([...needles, ...forms(secret)])].sort((a, b) => b.length - a.length);
    },
    text(input) {
      let out = input;
      for (const needle of needles) if (out.includes(needle)) out = out.split(needle).join(MASK);
      return maskShapes(out);
    },
    value: (input) => maskValue(input, masker, 0),
  };
  for (const secret of secrets) masker.add(secret);
  return masker;
}

/** The forms in which a secret turns up: raw, URL-encoded, JSON-escaped, hex, and base64 at each of three offsets. */
function forms(secret: string): string[] {
  const out = new Set<string>([secret, secret.trim(), JSON.stringify(secret).slice(1, -1)]);
  try {
    out.add(encodeURIComponent(secret));
    out.add(encodeURI(secret));
    out.add(encodeURIComponent(secret).replaceAll("%20", "+"));
  } catch {
    // A lone surrogate has no URL form.
  }
  const bytes = Buffer.from(secret, "utf8");
  const hex = bytes.toString("hex");
  out.add(hex);
  out.add(hex.toUpperCase());
  for (const pad of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(pad), bytes]).toString("base64").replace(/=+$/, "");
    // The first characters mix with what stands before, the last with what follows: keep the ones that are the secret's alone.
    const core = shifted.slice(pad === 0 ? 0 : pad + 1, (bytes.length + pad) % 3 === 0 ? undefined : -1);
    if (core.length >= 6) {
      out.add(core);
      out.add(core.replaceAll("+", "-").replaceAll("/", "_"));
    }
  }
  return [...out].filter((f) => f.length >= 4);
}

function maskShapes(input: string): string {
  let out = input;
  if (out.length < 8) return out;
  for (const shape of SHAPES) out = out.replace(shape, MASK);
  return out
    .replace(BEARER, (_all, word: string, gap: string) => `${word}${gap}${MASK}`)
    .replace(URL_USER, (_all, scheme: string) => `${scheme}${MASK}@`)
    .replace(URL_QUERY, (_all, name: string) => `${name}${MASK}`)
    .replace(COOKIE, (_all, name: string) => `${name}${MASK}`);
}

function maskValue(input: unknown, masker: Masker, depth: number): unknown {
  if (typeof input === "string") return masker.text(input);
  if (depth > 100) return MASK;
  if (Array.isArray(input)) return input.map((item) => maskValue(item, masker, depth + 1));
  if (!isObject(input)) return input;
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) {
    const secret = isSecretName(key) && (typeof value === "string" || typeof value === "number") && value !== "";
    setOwn(out, masker.text(key), secret ? MASK : maskValue(value, masker, depth + 1));
  }
  return out;
}
