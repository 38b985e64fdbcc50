import { StartError } from "../runtime/ports.ts";

/** Headers that the transport itself sets, or that would change how a message is framed. */
const RESERVED = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "keep-alive",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;

/**
 * The configured headers of an app, names in lower case and each once. Throws a StartError (which never shows a value) for names and values that HTTP does not allow, for two spellings
 * of one name, for headers that belong to the transport, and for `authorization` beside another way to sign in.
 */
export function checkedHeaders(headers: Readonly<Record<string, string>>, signedIn: "bearer" | "oauth" | null): Record<string, string> {
  const out: Record<string, string> = Object.create(null) as Record<string, string>;
  const refuse = (name: string, why: string): never => {
    throw new StartError(`mcp.headers: ${JSON.stringify(name.slice(0, 100))} ${why}`, { retry: false });
  };
  for (const [written, value] of Object.entries(headers)) {
    const name = written.toLowerCase();
    if (!NAME.test(written)) refuse(written, "is not a header name");
    if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
      refuse(written, "has a value with a line break, a control character or a character that HTTP headers cannot carry");
    if (RESERVED.has(name)) refuse(written, "is set by the transport and cannot be configured");
    if (name === "authorization" && signedIn !== null) refuse(written, `stands beside auth.${signedIn}; keep one of them`);
    if (Object.hasOwn(out, name)) refuse(written, "is written twice in different spellings");
    out[name] = value.trim();
  }
  return out;
}
