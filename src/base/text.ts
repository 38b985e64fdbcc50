/** Makes control characters, bidi marks, zero-width and other invisible characters visible as `\u{…}`, so that a text cannot spoof a terminal or a log. Newlines too, unless `multiline`. */
export function escapeInvisible(text: string, multiline = false): string {
  let out = "";
  for (const c of text) {
    if (multiline && (c === "\n" || c === "\t")) out += c;
    else if (c === "\n") out += "\\n";
    else if (c === "\r") out += "\\r";
    else if (c === "\t") out += "\\t";
    else out += isInvisible(c) ? `\\u{${c.codePointAt(0)!.toString(16)}}` : c;
  }
  return out;
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\u{115f}\u{1160}\u{3164}\u{ffa0}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]/u;

/** Whether one character cannot be seen: control, format, bidi, zero-width, tag, variation selector, private use, lone surrogate. */
export function isInvisible(char: string): boolean {
  return INVISIBLE.test(char);
}

/** Cuts a text to at most `max` characters (never inside a surrogate pair), with `…` at the end when cut. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = Math.max(0, max - 1);
  const code = text.charCodeAt(end - 1);
  if (code >= 0xd800 && code <= 0xdbff) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** Damerau-Levenshtein distance (adjacent swaps count one), given up as `limit + 1` once it is over the limit. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let best = i;
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) value = Math.min(value, before[j - 2]! + 1);
      row.push(value);
      best = Math.min(best, value);
    }
    if (best > limit) return limit + 1;
    before = last;
    last = row;
  }
  return last[b.length]!;
}

/** The candidates nearest to a misspelt word, best first, at most `count`. Case and `-`/`_` count as near. */
export function nearest(word: string, candidates: Iterable<string>, count = 3): string[] {
  const plain = (s: string): string => s.toLowerCase().replaceAll("-", "_");
  const limit = Math.max(1, Math.min(3, Math.floor(word.length / 3)));
  const scored: { candidate: string; score: number }[] = [];
  for (const candidate of candidates) {
    const score = plain(candidate) === plain(word) ? 0.5 : editDistance(plain(word), plain(candidate), limit);
    if (score <= limit) scored.push({ candidate, score });
  }
  scored.sort((a, b) => a.score - b.score || (a.candidate < b.candidate ? -1 : 1));
  return scored.slice(0, count).map((s) => s.candidate);
}

/** `1 app`, `2 apps`; a word with another plural brings it along: `1 entry`, `2 entries`. */
export function count(number: number, word: string, plural = `${word}s`): string {
  return `${number} ${number === 1 ? word : plural}`;
}

/** `a and b`, `a, b and c`. */
export function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)!}`;
}
