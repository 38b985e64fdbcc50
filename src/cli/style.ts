import { styleText } from "node:util";

type Look = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Dresses a text for a terminal, or leaves it plain. */
export type Style = (look: Look, text: string) => string;

/** Colour only on a terminal and never under NO_COLOR (no-color.org: set and not empty) or TERM=dumb. */
export function styleFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style {
  const plain = stream.isTTY !== true || (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  // The stream was looked at above; styleText must not look at another one.
  return plain ? (_look, text) => text : (look, text) => styleText(look, text, { validateStream: false });
}
