/**
 * A compiled name pattern: anchored, `*` is any run of characters, `?` is one, all else is itself.
 * Matching takes time linear in pattern and text for each star (two pointers, no regular expression).
 */
export interface Glob {
  readonly source: string;
  /** The fixed text in front of the first wildcard; equal to the source when there is none. */
  readonly prefix: string;
  readonly literal: boolean;
  matches(text: string): boolean;
}

/** Compiles a pattern. Never throws: every text is a legal pattern. */
export function compileGlob(source: string): Glob {
  const pattern = [...source];
  const first = pattern.findIndex((c) => c === "*" || c === "?");
  const literal = first === -1;
  const prefix = literal ? source : pattern.slice(0, first).join("");
  return {
    source,
    prefix,
    literal,
    matches: literal
      ? (text) => text === source
      : (oneStar(source) ?? ((text) => text.startsWith(prefix) && match(pattern, ASCII.test(text) ? text : [...text]))),
  };
}

/** A quick match for the patterns that people write most: one star and no other wildcard; undefined for others. */
function oneStar(source: string): ((text: string) => boolean) | undefined {
  const [start, end, ...more] = source.split("*");
  // Beyond ASCII, the end of a text could begin within a character.
  if (start === undefined || end === undefined || more.length > 0 || source.includes("?") || !ASCII.test(source)) return undefined;
  if (source === "*") return () => true;
  return (text) => text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end);
}

/** Texts whose characters are their code units, so that they need not be taken apart first. */
const ASCII = /^[\0-\x7f]*$/;

function match(pattern: readonly string[], text: ArrayLike<string>): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    const c = pattern[p];
    if (c === "*") {
      star = p;
      mark = t;
      p += 1;
    } else if (c !== undefined && (c === "?" || c === text[t])) {
      p += 1;
      t += 1;
    } else if (star !== -1) {
      p = star + 1;
      mark += 1;
      t = mark;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
}
