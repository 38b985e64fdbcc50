import type { Diagnostic } from "../base/diagnostics.ts";
import type { Logger } from "../runtime/ports.ts";

/** Makes a function that logs the files which no pattern finds, each once as long as it lies there. It is to be told the findings of each reading. */
export function createUnusedLog(log: Logger): (reading: { readonly diagnostics: readonly Diagnostic[] }) => void {
  let told = new Set<string>();
  return ({ diagnostics }) => {
    const now = diagnostics.filter(({ code }) => code === "unused-file");
    for (const { message, help, place } of now) if (!told.has(message)) log.warn({ file: place?.file, line: place?.line, help }, message);
    told = new Set(now.map(({ message }) => message));
  };
}
