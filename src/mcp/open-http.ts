import { readFileSync } from "node:fs";
import { messageOf } from "../base/errors.ts";
import type { HttpSpec } from "../plan/types.ts";
import { LinkError, StartError } from "../runtime/ports.ts";
import type { ConnectionHooks } from "../runtime/ports.ts";
import type { HostEnv } from "./child-environment.ts";
import type { OpenedWire } from "./establish.ts";
import { HttpClient } from "./http-client.ts";
import { checkedHeaders } from "./http-headers.ts";
import { HttpTransport } from "./http-transport.ts";
import type { HttpAuthority, HttpTransportOptions } from "./http-transport.ts";
import { OldSseTransport } from "./old-sse-transport.ts";

/** What {@link openHttp} needs of the host. */
export interface HttpHost {
  readonly dataDir: string;
  readonly hostEnv: HostEnv;
  readonly mask: (text: string) => string;
}

/** Prepares Streamable HTTP for an app. Nothing is sent yet. Throws a StartError for what the configuration has wrong. */
export function openHttp(spec: HttpSpec, hooks: ConnectionHooks, host: HttpHost, authority: HttpAuthority | null): OpenedWire {
  const wire = new HttpTransport(transportOptions(spec, hooks, host, authority));
  return { ...commonParts(spec, host), wire, sessions: { forget: () => wire.forgetSession(), onLost: (handler) => (wire.onsessionlost = handler) } };
}

/** Prepares the old HTTP+SSE transport for an app. `reached` tells afterwards whether the server spoke it. */
export function openOldSse(spec: HttpSpec, hooks: ConnectionHooks, host: HttpHost, authority: HttpAuthority | null): OpenedWire & { readonly reached: () => boolean } {
  const wire = new OldSseTransport(transportOptions(spec, hooks, host, authority));
  return { ...commonParts(spec, host), wire, sessions: null, reached: () => wire.reached };
}

/** Whether a failed start over Streamable HTTP is how an old HTTP+SSE server answers. */
export function mayBeOldSse(error: unknown): boolean {
  if (!(error instanceof StartError)) return false;
  const { cause } = error;
  return cause instanceof LinkError && cause.kind === "http" && (cause.code === 400 || cause.code === 404 || cause.code === 405);
}

function commonParts(spec: HttpSpec, host: HttpHost): Pick<OpenedWire, "transport" | "pid" | "stderrTail" | "explain"> {
  return { transport: "http", pid: () => null, stderrTail: () => [], explain: () => host.mask(`url: ${spec.url}`) };
}

function transportOptions(spec: HttpSpec, hooks: ConnectionHooks, host: HttpHost, authority: HttpAuthority | null): HttpTransportOptions {
  const headers = checkedHeaders(spec.headers, spec.bearer !== null ? "bearer" : spec.oauth !== null ? "oauth" : null);
  if (spec.bearer !== null) Object.assign(headers, checkedHeaders({ authorization: `Bearer ${spec.bearer}` }, null));
  if (spec.insecure) hooks.onLog?.("mcp.tls.insecure is set: any certificate is accepted", "kit");
  return {
    url: new URL(spec.url),
    client: new HttpClient({ ca: readCa(spec.ca), insecure: spec.insecure, hostEnv: host.hostEnv }),
    headers,
    authority,
    bodyBytes: spec.bodyBytes,
    onNote: (note) => hooks.onLog?.(note, "kit"),
  };
}

function readCa(path: string | null): string | null {
  if (path === null) return null;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StartError(`mcp.tls.ca cannot be read: ${messageOf(error)}`, { retry: false, cause: error });
  }
}
