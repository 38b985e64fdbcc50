/**
 * What a condition says of a value. `unclear`: the value is not of a kind that the condition can judge, or may be read in two ways.
 * A rule that refuses or asks takes `unclear` as a match, a rule that allows does not.
 */
export type Verdict = "yes" | "no" | "unclear";

/** How many rounds of percent-decoding are followed; a text that still changes after that cannot be judged. */
const MAX_DECODE_ROUNDS = 5;

/**
 * The ways in which a server may read one text: as written, without the space around it, with its percent-escapes decoded, as a path
 * with `.`, `..`, `//` and backslashes resolved, and as a URL in its plain form; each also in Unicode NFKC.
 */
export interface Spellings {
  /** The first is the text as written. */
  readonly texts: readonly string[];
  /** The spellings as normalised paths. */
  readonly paths: readonly string[];
  /** The same in NFKC and small letters, for disks that take letters of either case for one. */
  readonly foldedPaths: readonly string[];
  /** The text is escaped more often than anyone writes by accident. */
  readonly unclear: boolean;
}

/** Spellings of the texts seen last: one call is judged by many rules, and asking for the same text again is the rule. */
const memo = new Map<string, Spellings>();
let memoChars = 0;
const MEMO_ENTRIES = 64;
const MEMO_CHARS = 1_000_000;

/** Gives the {@link Spellings} of a text. A rule that refuses looks at each, a rule that allows must hold for all. */
export function spellingsOf(text: string): Spellings {
  const known = memo.get(text);
  if (known) return known;
  const found = spell(text);
  memoChars += text.length;
  if (memo.size >= MEMO_ENTRIES || memoChars > MEMO_CHARS) {
    memo.clear();
    memoChars = text.length;
  }
  memo.set(text, found);
  return found;
}

function spell(text: string): Spellings {
  if (PLAIN.test(text)) return withPaths([text], false);
  const decoded = decodeFully(text);
  const texts = new Set([text]);
  for (const form of [text, decoded.text]) {
    // Many servers strip what stands around a text before they use it.
    for (const bare of [form, form.trim()]) {
      for (const unicode of [bare, bare.normalize("NFKC")]) {
        texts.add(unicode);
        if (/[/\\]/.test(unicode)) texts.add(normalizePath(unicode));
        const url = plainUrl(unicode);
        if (url !== null) texts.add(url);
      }
    }
  }
  return withPaths([...texts], decoded.unclear);
}

function withPaths(texts: readonly string[], unclear: boolean): Spellings {
  const paths = [...new Set(texts.map((t) => normalizePath(t)))];
  return { texts, paths, foldedPaths: [...new Set(paths.map((p) => p.normalize("NFKC").toLowerCase()))], unclear };
}

/** Texts that have one spelling only: no slash, backslash, percent sign, space around it, nor anything outside ASCII. The common case, so it is quick. */
const PLAIN = /^(?! )[\x20-\x24\x26-\x2e\x30-\x5b\x5d-\x7e]*$(?<! )/;

/** A URL as every parser ends up with it (WHATWG URL): scheme and host in small letters, no default port, dots resolved. Null for other texts. */
function plainUrl(given: string): string | null {
  // As the standard has it: such characters are taken out wherever they stand.
  const text = given.replace(/[\t\n\r]/g, "");
  if (!URL_START.test(text)) return null;
  try {
    const { protocol, href } = new URL(text);
    return protocol === "file:" ? `file://${normalizePath(href)}` : decodeFully(href).text;
  } catch {
    return null;
  }
}

/** A scheme of one letter is a disk. */
const URL_START = /^\s*(?:file:|[a-z][a-z0-9+.-]+:[/\\]{2}|(?:https?|wss?|ftp):)/i;

function decodeFully(text: string): { text: string; unclear: boolean } {
  let current = text;
  for (let round = 0; round < MAX_DECODE_ROUNDS; round += 1) {
    const next = decodeOnce(current);
    if (next === current) return { text: current, unclear: false };
    current = next;
  }
  return { text: current, unclear: decodeOnce(current) !== current };
}

/** Decodes each run of `%XX` that is valid UTF-8 and leaves the others as they stand. */
function decodeOnce(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run;
    }
  });
}

/**
 * A path with backslashes turned into slashes, and `.`, `..` and empty segments resolved; `file://` is taken off and the scheme and host of
 * another URL are kept. An absolute path never climbs above its root; a relative one keeps the `..` that climb out of it.
 * Links on the disk are not looked at.
 */
export function normalizePath(path: string): string {
  const slashed = path.replaceAll("\\", "/").replace(/^file:(?:\/\/(?:localhost)?(?=\/|$)|(?=\/))/i, "");
  const root = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*|[a-z]:(?=\/|$))?\/?/i.exec(slashed)![0];
  const absolute = root !== "";
  const out: string[] = [];
  for (const segment of slashed.slice(root.length).split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") out.push(segment);
    else if (out.length > 0 && out.at(-1) !== "..") out.pop();
    else if (!absolute) out.push("..");
  }
  const rest = out.join("/");
  if (!absolute) return rest === "" ? "." : rest;
  return root.endsWith("/") || rest === "" ? root + rest : `${root}/${rest}`;
}

/**
 * Whether one normalised path is the folder or lies in it. `unclear` when that depends on a place that is not known here: a home,
 * a variable, or the working directory that the path climbs out of.
 */
export function liesUnder(path: string, folder: string): Verdict {
  if (path.includes("\0")) return "unclear";
  if (path === folder) return "yes";
  const elsewhere = /^(?:~|\$|%|\.\.(?:\/|$))/.test(path);
  if (folder === ".") return elsewhere ? "unclear" : /^(?:\/|[a-z][a-z0-9+.-]*:)/i.test(path) ? "no" : "yes";
  if (path.startsWith(folder.endsWith("/") ? folder : `${folder}/`)) return "yes";
  return elsewhere ? "unclear" : "no";
}
