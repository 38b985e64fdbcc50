import type { Json } from "../base/json.ts";

/** The revisions that this client speaks, newest first. */
export const PROTOCOL_VERSIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

const VERSION = /\b\d{4}-\d{2}-\d{2}\b/g;
const INVALID_PARAMS = -32602;
const UNSUPPORTED_VERSION = -32022;
const MAX_TEXT = 10_000;

/** What to do after a server refused `initialize`. */
export type VersionAdvice =
  | { readonly kind: "retry"; readonly version: string }
  /** The server named versions, and none is known here. */
  | { readonly kind: "none"; readonly listed: readonly string[] }
  /** The refusal was about something else. */
  | { readonly kind: "other" };

/**
 * Reads a refusal of `initialize` (JSON-RPC error, or the body of an HTTP 400): the newest known revision that it names, else the next older known one
 * when the error looks like one about the version.
 */
export function adviseVersion(
  asked: string,
  error: { readonly code: number | undefined; readonly message: string; readonly data: Json | undefined },
): VersionAdvice {
  const text = `${error.message} ${error.data === undefined ? "" : JSON.stringify(error.data)}`.slice(0, MAX_TEXT);
  const listed = [...new Set(text.match(VERSION) ?? [])].filter((version) => version !== asked);
  const about = error.code === UNSUPPORTED_VERSION || error.code === INVALID_PARAMS || /version/i.test(error.message);
  if (!about) return { kind: "other" };
  const known = PROTOCOL_VERSIONS.find((version) => listed.includes(version));
  if (known !== undefined) return { kind: "retry", version: known };
  if (listed.length > 0) return { kind: "none", listed };
  const older = PROTOCOL_VERSIONS[PROTOCOL_VERSIONS.indexOf(asked) + 1];
  return older === undefined ? { kind: "other" } : { kind: "retry", version: older };
}
