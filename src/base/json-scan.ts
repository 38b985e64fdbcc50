/** Deepest nesting that is taken from a server; nothing sensible comes near, and what is much deeper overflows whoever walks it. */
export const MAX_NESTING = 500;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Whether a JSON text is nested deeper than {@link MAX_NESTING}; looks at long texts only, for a deep one is never short. In linear time. */
export function isTooDeep(text: string): boolean {
  return text.length > 2 * MAX_NESTING && walk(text, 0, false) === "too deep";
}

/** Where the JSON object or list that begins at `from` ends; -1 when it does not. Strings are skipped, nothing else is checked. In linear time. */
export function endOfValue(text: string, from: number): number {
  const end = walk(text, from, true);
  return end === "too deep" ? -1 : end;
}

/** Whether a text is JSON objects and lists from end to end, none of them cut off, with white space between. In linear time. */
export function isWhole(text: string): boolean {
  let from = text.search(/[^\s\uFEFF]/);
  while (from !== -1 && from < text.length) {
    if (text[from] !== "{" && text[from] !== "[") return false;
    from = endOfValue(text, from);
    while (from !== -1 && " \t\r\n".includes(text[from] ?? "x")) from += 1;
  }
  return from === text.length && from > 0;
}

function walk(text: string, from: number, one: boolean): number | "too deep" {
  let depth = 0;
  for (let i = from; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(text, i);
      if (i === -1) return -1;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > MAX_NESTING) return "too deep";
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth -= 1;
      if (one && depth <= 0) return i + 1;
    }
  }
  return -1;
}

/** The closing quote of the string that opens at `at`; -1 when there is none. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}
