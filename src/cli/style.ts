import { styleText } from "node:util";

type Look = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Dresses a text for a terminal, or leaves it plain. */
export type Style = (look: Look, text: string) => string;

/** Colour only on a terminal and never under NO_COLOR (no-color.org: set and not empty) or TERM=dumb. */
export function wantsColor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

/** The style for texts on a stream. */
export function styleFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style {
  // The stream was looked at here; styleText must not look at another one.
  return wantsColor(stream, env) ? (look, text) => styleText(look, text, { validateStream: false }) : (_look, text) => text;
}
