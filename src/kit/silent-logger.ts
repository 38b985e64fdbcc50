import type { Logger } from "../runtime/ports.ts";

/** A log that nobody reads, for library users who bring none. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silentLogger };
