import { readFile } from "node:fs/promises";
import { messageOf } from "../base/errors.ts";
import type { DocumentStore } from "../runtime/ports.ts";
import { isCode, writeFileAtomic } from "./atomic-write.ts";

/** A JSON file that is replaced as a whole (mode 0600 unless said otherwise). `read` gives null when there is none and throws, naming the file, when it is no JSON. Writes keep their order. */
export function openDocument<T>(file: string, options: { readonly mode?: number } = {}): DocumentStore<T> {
  let last: Promise<void> = Promise.resolve();
  return {
    async read() {
      let text: string;
      try {
        text = await readFile(file, "utf8");
      } catch (error) {
        if (isCode(error, "ENOENT")) return null;
        throw error;
      }
      try {
        return JSON.parse(text) as T;
      } catch (error) {
        throw new Error(`${file} is not JSON: ${messageOf(error)}`, { cause: error });
      }
    },
    write(value) {
      const text = `${JSON.stringify(value, null, 2)}\n`;
      const done = last.then(() => writeFileAtomic(file, text, options));
      last = done.catch(() => {});
      return done;
    },
  };
}
