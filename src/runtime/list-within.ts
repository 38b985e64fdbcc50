import type { AppListing } from "../tools/types.ts";
import { LinkError, type Connection } from "./ports.ts";

/** All that a server shows, read within so many milliseconds in all, however many pages it has. Rejects with a LinkError. */
export async function listWithin(connection: Connection, limitMs: number, signal: AbortSignal): Promise<AppListing> {
  const left = Math.max(1, Math.round(limitMs));
  const time = AbortSignal.timeout(left);
  try {
    return await connection.list({ timeoutMs: left, maxTotalMs: left, signal: AbortSignal.any([signal, time]) });
  } catch (error) {
    if (!time.aborted || signal.aborted) throw error;
    throw new LinkError("timeout", "its lists were not read in time", { sent: true, cause: error });
  }
}
