/** What stands in the place of a secret. */
export const MASK = "***";

/** Tokens that are secrets wherever they stand. Every repeat is bounded or runs over a class that its neighbour cannot share, so all are linear. */
const TOKENS: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\bxapp-\d-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bya29\.[A-Za-z0-9_-]{20,}/g,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/g,
  /\bwhsec_[A-Za-z0-9+/=]{20,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bpypi-[A-Za-z0-9_-]{30,}/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
  /\bdop_v1_[a-f0-9]{40,}/g,
  // Addresses to post to without any other proof.
  /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9/_-]{20,}/g,
  /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{10,25}\/[A-Za-z0-9_-]{20,}/g,
  /\bbot\d{6,12}:[A-Za-z0-9_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{0,}/g,
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:(?!-----)[\s\S]){0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?/g,
];

/** A quick look at whether any token could be there at all: most lines have none of these. */
const TOKEN_HINT =
  /sk-|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|AKIA|ASIA|AIza|ya29\.|[rs]k_(?:live|test)_|whsec_|npm_|pypi-|hf_|SG\.|dop_v1_|hooks\.slack|\/webhooks\/|bot\d|eyJ|-----BEGIN/;

const AUTHORIZATION =
  /((?:proxy-)?authorization(?:\\?["'])?\s{0,5}[:=]\s{0,5}(?:\\?["'])?(?:[a-z][a-z0-9-]{1,20}(?:\s{1,5}|%20|\+))?)(\*{3}(?![^\s"'\\,;&])|[^\s"'\\,;&]{4,8000})/gi;
const SCHEME = /\b(bearer|basic|digest|token|apikey)((?:\s|%20){1,5}|\+)([A-Za-z0-9._~+/=%-]{8,})/gi;
const URL_USER = /(:(?:\/\/|%2f%2f|\\\/\\\/))([^\s/@?#"'<>]{1,400})@/gi;
const QUERY =
  /([?&;](?:[a-z0-9_.-]{0,40})(?:key|token|secret|password|passwd|pwd|credentials?|auth|authorization|sig|signature|session_?id|sessionid|code)=)([^&#\s"'<>;]{1,4000})/gi;
const COOKIE = /\b((?:set-)?cookie(?:\\?["'])?\s{0,5}[:=]\s{0,5}(?:\\?["'])?)(\*{3}(?![^\r\n"'\\])|[^\r\n"'\\]{4,8000})/gi;
/** `password=…`, and `"password": "…"` in JSON text, however often it was quoted. */
const ASSIGNED =
  /((?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)(?:\\{0,7}["']\s{0,5}:\s{0,5}\\{0,7}["']|\s{0,2}=\s{0,2}\\{0,7}["']?))([^\s"'\\&,;<>#*]{4,4000})/gi;

/** `password: …` in plain text; only what has a digit in it, for prose writes `password: required`. */
const LABELLED = /((?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key)\s{0,2}:\s{1,3})([^\s"',;*]{6,400})/gi;
/** The whole of a digest header: its parts are quoted, so the general rule would stop too early. */
const DIGEST = /\b(digest\s{1,5})(username=[^\r\n]{1,4000})/gi;

/** What only names a secret: `${NAME}`, and `${USER}:${PASSWORD}`. A default in it may be a secret. */
const PLACEHOLDER = /^\$\{(?:env:)?[A-Za-z_]\w{0,200}\}(?::\$\{(?:env:)?[A-Za-z_]\w{0,200}\})?$|^\$\{file:[\w./-]{1,400}\}$/;
/** Line ends and tabs as JSON text writes them, where a value ends. Further inside they may be part of a secret. */
const ESCAPED_END = /(?:\\{1,7}[nrt]){1,4}$/;

/** A quick look at whether any of the patterns above could fit: each needs one of these. */
const SHAPE_HINT = /[:=@]|bearer|basic|digest|token|apikey/i;

/** Words without which a pattern has nothing to find; looking for them first is many times quicker than the pattern. */
const SCHEME_WORDS = ["bearer", "basic", "digest", "token", "apikey"];
const SECRET_WORDS = ["passw", "passphrase", "secret", "token", "key", "credential", "pwd", "auth", "sig", "session", "code"];

/** The text with every token, header, URL or assignment of a known secret shape replaced by `***`. */
export function maskShapes(text: string): string {
  if (text.length < 6) return text;
  let out = text;
  if (TOKEN_HINT.test(out)) for (const token of TOKENS) out = out.replace(token, MASK);
  if (!SHAPE_HINT.test(text)) return out;
  const lower = text.toLowerCase();
  const has = (word: string): boolean => lower.includes(word);
  if (has("digest")) out = out.replace(DIGEST, `$1${MASK}`);
  if (has("authorization")) out = out.replace(AUTHORIZATION, hideValue);
  if (SCHEME_WORDS.some(has))
    out = out.replace(SCHEME, (all, scheme: string, gap: string, value: string) => (isTokenLike(scheme, value) ? scheme + gap + MASK : all));
  if (has("@")) out = out.replace(URL_USER, (all, before: string, user: string) => `${hideValue(all, before, user)}@`);
  if (has("cookie")) out = out.replace(COOKIE, hideValue);
  if (SECRET_WORDS.some(has)) {
    if (has("=")) out = out.replace(QUERY, hideValue);
    out = out.replace(ASSIGNED, hideValue).replace(LABELLED, (all, name: string, value: string) => (/\d/.test(value) ? hideValue(all, name, value) : all));
  }
  return out;
}

/** The name that stands before a value, and `***` for the value; a placeholder and an escaped line end at its end are kept. */
function hideValue(_all: string, name: string, value: string): string {
  const end = ESCAPED_END.exec(value)?.[0] ?? "";
  const hidden = value.slice(0, value.length - end.length);
  return name + (PLACEHOLDER.test(hidden) ? hidden : MASK) + end;
}

/** Whether a text holds a token of a known secret shape (not a mere header or assignment). */
export function hasSecretToken(text: string): boolean {
  return TOKEN_HINT.test(text) && TOKENS.some((token) => text.search(token) !== -1);
}

/** After `Bearer` anything is a token; after words that prose uses too (`basic knowledge`), only what no word looks like. */
function isTokenLike(scheme: string, value: string): boolean {
  return scheme.toLowerCase() === "bearer" ? value !== "authentication" && value !== "authorization" : /[0-9+/=]|[a-z][A-Z]/.test(value);
}
