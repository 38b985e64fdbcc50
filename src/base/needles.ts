/** Finds a set of fixed texts in a text, in time linear in the text whatever their number. */
export interface Needles {
  add(needle: string): void;
  /** The text with every occurrence replaced; of needles that begin at one place the longest wins. `cut`: the first part of one that the text was cut off in, too. */
  replace(text: string, replacement: string, cut?: boolean): string;
}

/** Every needle begins with this many characters that select it; shorter ones are refused. */
const KEY = 4;

/** An empty set. Needles under four characters throw a RangeError. */
export function createNeedles(): Needles {
  /** First four characters to the needles that begin with them, longest first. */
  const byKey = new Map<string, string[]>();
  /** Which pairs of first characters occur at all: rules out nearly every place of a text at the cost of one look. */
  const pairs = new Uint8Array(65_536);

  return {
    add(needle) {
      if (needle.length < KEY) throw new RangeError(`a needle has at least ${KEY} characters`);
      const key = needle.slice(0, KEY);
      const list = byKey.get(key);
      if (!list) byKey.set(key, [needle]);
      else if (!list.includes(needle)) list.push(needle);
      byKey.get(key)!.sort((a, b) => b.length - a.length);
      pairs[pairIndex(needle.charCodeAt(0), needle.charCodeAt(1))] = 1;
    },
    replace(text, replacement, cut = false) {
      if (byKey.size === 0) return text;
      let out = "";
      let kept = 0;
      const end = text.length - KEY;
      let next = text.charCodeAt(0);
      for (let i = 0; i <= end; i += 1) {
        const code = next;
        next = text.charCodeAt(i + 1);
        if (pairs[pairIndex(code, next)] === 0) continue;
        const list = byKey.get(text.slice(i, i + KEY));
        if (list === undefined) continue;
        const found = list.find((needle) => text.startsWith(needle, i))?.length ?? (cut ? cutLength(text, i, list) : 0);
        if (found === 0) continue;
        out += text.slice(kept, i) + replacement;
        kept = i + found;
        i = kept - 1;
        next = text.charCodeAt(kept);
      }
      return kept === 0 ? text : out + text.slice(kept);
    },
  };
}

function pairIndex(first: number, second: number): number {
  return (first * 251 + second) & 0xffff;
}

/** A shorter part may be there by chance. */
const SHORTEST_CUT = 8;
const CUT_SHARE = 1 / 3;

/** How much of a needle stands at `from`, where the text was cut off in the midst of it: at its end, before `…`, or before the next part of a message. 0 for none. */
function cutLength(text: string, from: number, needles: readonly string[]): number {
  for (const needle of needles) {
    let length = KEY;
    while (from + length < text.length && text[from + length] === needle[length]) length += 1;
    const next = text[from + length];
    if (length >= SHORTEST_CUT && length >= needle.length * CUT_SHARE && (next === undefined || next === "…" || next === ";")) return length;
  }
  return 0;
}
