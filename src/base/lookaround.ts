/** A pattern with lookaround said as plain patterns: a text fits when it fits all of `must` and none of `mustNot`. */
export interface PlainPatterns {
  readonly must: readonly string[];
  readonly mustNot: readonly string[];
}

interface Part {
  readonly text: string;
  /** The opening of a lookaround group, or undefined for anything else. */
  readonly look?: "(?=" | "(?!" | "(?<=" | "(?<!";
  readonly inner?: string;
}

/**
 * Says a pattern without lookaround, where the place that a lookaround looks from is fixed: lookaheads behind a leading `^`
 * (`^(?!null$).+$`, `^(?=.*\d)…`), lookbehinds before a final `$`, one lookbehind in front and one positive lookahead at
 * the end. Undefined for a pattern without lookaround and for every other use of it.
 */
export function withoutLookaround(pattern: string): PlainPatterns | undefined {
  if (!pattern.includes("(?")) return undefined;
  const parts = topLevel(pattern);
  if (!parts || !parts.some((part) => part.look)) return undefined;
  const must: string[] = [];
  const mustNot: string[] = [];
  const anchored = parts[0]?.text === "^";
  const body = anchored ? parts.slice(1) : [...parts];
  while (anchored && (body[0]?.look === "(?=" || body[0]?.look === "(?!")) {
    const part = body.shift()!;
    (part.look === "(?=" ? must : mustNot).push(`^(?:${part.inner!})`);
  }
  let ending = "";
  if (body.at(-1)?.text === "$") {
    body.pop();
    ending = "$";
    while (body.at(-1)?.look === "(?<=" || body.at(-1)?.look === "(?<!") {
      const part = body.pop()!;
      (part.look === "(?<=" ? must : mustNot).push(`(?:${part.inner!})$`);
    }
  } else if (body.at(-1)?.look === "(?=") {
    ending = `(?:${body.pop()!.inner!})`;
  }
  let beginning = anchored ? "^" : "";
  if (!anchored && body[0]?.look === "(?<=") beginning = `(?:${body.shift()!.inner!})`;
  if (body.some((part) => part.look)) return undefined;
  must.push(`${beginning}${body.map((part) => part.text).join("")}${ending}`);
  return { must, mustNot };
}

/** The pattern cut into its top-level parts; undefined when it has a choice at the top or is not well formed. */
function topLevel(pattern: string): Part[] | undefined {
  const parts: Part[] = [];
  for (let i = 0; i < pattern.length;) {
    const char = pattern.charAt(i);
    if (char === "|" || char === ")") return undefined;
    const end = char === "(" ? groupEnd(pattern, i) : char === "[" ? classEnd(pattern, i) : char === "\\" ? i + 2 : i + 1;
    if (end === undefined || end > pattern.length) return undefined;
    const text = pattern.slice(i, end);
    const look = /^\(\?(?:<?[=!])/.exec(text)?.[0] as Part["look"];
    // A counted lookaround is legal and useless; it is left to the caller to refuse.
    if (look && /^[*+?{]/.test(pattern.slice(end, end + 1))) return undefined;
    parts.push(look ? { text, look, inner: text.slice(look.length, -1) } : { text });
    i = end;
  }
  return parts;
}

function groupEnd(pattern: string, start: number): number | undefined {
  let depth = 0;
  for (let i = start; i < pattern.length; i += 1) {
    const char = pattern.charAt(i);
    if (char === "\\") i += 1;
    else if (char === "[") i = (classEnd(pattern, i) ?? pattern.length) - 1;
    else if (char === "(") depth += 1;
    else if (char === ")") {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return undefined;
}

function classEnd(pattern: string, start: number): number | undefined {
  for (let i = start + 1; i < pattern.length; i += 1) {
    if (pattern.charAt(i) === "\\") i += 1;
    else if (pattern.charAt(i) === "]") return i + 1;
  }
  return undefined;
}
