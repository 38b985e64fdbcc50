import { escapeInvisible, truncate } from "../base/text.ts";

// eslint-disable-next-line no-control-regex -- these are the terminal's escape sequences: CSI, OSC and the two-character ones.
const ESCAPES =
  /\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)?|\u001b[ -/]{0,4}[0-~]|\u009b[0-?]{0,64}[ -/]{0,8}[@-~]/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const PRINTABLE = /^[\u0020-\u007e]*$/;
const MAX_CHARS = 4000;

/** One line of a peer's text made safe for logs and terminals: escape sequences and control characters out, other invisible characters shown, cut at 4,000 characters. */
export function plainLine(text: string): string {
  const cut = truncate(text.length > MAX_CHARS * 4 ? text.slice(0, MAX_CHARS * 4) : text, MAX_CHARS * 2);
  if (PRINTABLE.test(cut)) return truncate(cut, MAX_CHARS);
  const plain = cut
    .replace(ESCAPES, "")
    .replaceAll("\t", " ")
    .replaceAll(/[\r\n]+/g, " ")
    .replace(CONTROLS, "");
  return truncate(escapeInvisible(plain), MAX_CHARS).trimEnd();
}

/** A time for people: `0.2s`, `12s`. */
export function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : `${Math.round(ms / 1000)}s`;
}
