import { own } from "../base/json.ts";

const HINTS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "set mcp.tls.ca to the file of its certificate authority",
  SELF_SIGNED_CERT_IN_CHAIN: "set mcp.tls.ca to the file of its certificate authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "set mcp.tls.ca to the file of its certificate authority",
  UNABLE_TO_GET_ISSUER_CERT: "set mcp.tls.ca to the file of its certificate authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "set mcp.tls.ca to the file of its certificate authority",
  CERT_HAS_EXPIRED: "its certificate must be renewed",
  CERT_NOT_YET_VALID: "check the clocks",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name; check mcp.url",
};

/** How to mend a certificate that was not accepted, or undefined when the error is about something else. */
export function certificateFault(error: unknown): string | undefined {
  const code = own(error, "code");
  return typeof code === "string" && Object.hasOwn(HINTS, code) ? HINTS[code] : undefined;
}
