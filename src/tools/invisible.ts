import { isInvisible } from "../base/text.ts";

/** Kinds of characters that cannot be seen. */
export type InvisibleKind = "invisible-unicode" | "bidi-control" | "ansi-escape" | "control-character";

/** A hidden character in a text: what kind it is, and the character. */
export interface HiddenCharacter {
  readonly kind: InvisibleKind;
  readonly char: string;
}

const BIDI = /^[\u202a-\u202e\u2066-\u2069]$/;
const DIRECTION_MARK = /^[\u200e\u200f\u061c]$/;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
/** Scripts whose spelling needs joiners between letters. */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Mongolian}]/u;
const PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{1f1e6}-\u{1f1ff}\ufe0f\u{1f3f4}]/u;

/**
 * The hidden characters of a text that have no honest use where they stand. Joiners inside emoji and in scripts that need them,
 * variation selectors behind a visible character, direction marks in right-to-left text, flags spelt with tags, tabs and newlines pass.
 */
export function hiddenCharacters(text: string): HiddenCharacter[] {
  if (/^[\x20-\x7e\t\r\n]*$/.test(text)) return [];
  const chars = [...text];
  const rightToLeft = RIGHT_TO_LEFT.test(text);
  const found: HiddenCharacter[] = [];
  let inFlag = false;
  for (const [i, char] of chars.entries()) {
    if (char === "\u{1f3f4}") inFlag = true;
    else if (inFlag && /^[\u{e0030}-\u{e007a}]$/u.test(char)) continue;
    else if (inFlag && char === "\u{e007f}") {
      inFlag = false;
      continue;
    } else inFlag = false;
    if (!isInvisible(char) || char === "\n" || char === "\t" || char === "\r") continue;
    const before = chars[i - 1] ?? "";
    const after = chars[i + 1] ?? "";
    if (char === "\u200d" && PICTURE.test(before) && PICTURE.test(after)) continue;
    if ((char === "\u200c" || char === "\u200d") && JOINING.test(before) && (JOINING.test(after) || !isInvisible(after))) continue;
    if (/^[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]$/u.test(char) && before !== "" && !isInvisible(before) && !/^[\sA-Za-z]$/.test(before)) continue;
    if (DIRECTION_MARK.test(char) && rightToLeft) continue;
    found.push({ kind: kindOf(char), char });
  }
  return found;
}

function kindOf(char: string): InvisibleKind {
  if (BIDI.test(char)) return "bidi-control";
  if (char === "\u001b" || char === "\u009b") return "ansi-escape";
  return /^\p{Cc}$/u.test(char) ? "control-character" : "invisible-unicode";
}
