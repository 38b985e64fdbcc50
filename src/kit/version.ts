import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The kit's own version, from its package.json. */
export function version(): string {
  return (require("../../package.json") as { version: string }).version;
}
