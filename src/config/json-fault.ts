/** Where a text stops being JSON, and what should stand there. Nothing of the text is repeated, for it may hold secrets. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly wanted: string;
}

const TOKEN =
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b/y;

type Expected = "value" | "first value" | "key" | "first key" | "colon" | "next" | "end";

/** The first fault of a text that `JSON.parse` refuses; the engine's own message has no place for many of them, and quotes the text. */
export function jsonFault(text: string): JsonFault {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  let at = 0;
  for (;;) {
    while (/[ \t\r\n]/.test(text.charAt(at))) at += 1;
    TOKEN.lastIndex = at;
    const token: string | undefined = TOKEN.exec(text)?.[0];
    const next: Expected | null = token === undefined ? null : step(token, expected, open);
    if (next === null) return { ...placeOf(text, at), wanted: wordsFor(expected, open) };
    expected = next;
    at = TOKEN.lastIndex;
  }
}

/** What is expected after a token; null when it does not fit. */
function step(token: string, expected: Expected, open: ("{" | "[")[]): Expected | null {
  const afterValue = (): Expected => (open.length === 0 ? "end" : "next");
  const close = token === "}" ? "{" : token === "]" ? "[" : null;
  if (close !== null) {
    if (open.at(-1) !== close || !(expected === "next" || expected === (close === "{" ? "first key" : "first value"))) return null;
    open.pop();
    return afterValue();
  }
  if (expected === "next") return token !== "," ? null : open.at(-1) === "{" ? "key" : "value";
  if (expected === "colon") return token === ":" ? "value" : null;
  if (expected === "key" || expected === "first key") return token.startsWith('"') ? "colon" : null;
  if (expected === "end" || token === "," || token === ":") return null;
  if (token !== "{" && token !== "[") return afterValue();
  open.push(token);
  return token === "{" ? "first key" : "first value";
}

function wordsFor(expected: Expected, open: readonly ("{" | "[")[]): string {
  const close = open.at(-1) === "{" ? "}" : "]";
  if (expected === "next") return `a comma or ${close}`;
  if (expected === "first key") return "a key in double quotes or }";
  if (expected === "first value") return "a value or ]";
  if (expected === "key") return "a key in double quotes";
  return expected === "end" ? "nothing more" : `a ${expected}`;
}

function placeOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: before.at(-1)!.length + 1 };
}
