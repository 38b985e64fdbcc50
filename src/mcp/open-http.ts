import { readFileSync } from "node:fs";
import type { OAuthSettings } from "../../generated/app.d.ts";
import { messageOf } from "../base/errors.ts";
import type { HttpSpec } from "../plan/types.ts";
import { LinkError, StartError } from "../runtime/ports.ts";
import type { ConnectionHooks } from "../runtime/ports.ts";
import type { HostEnv } from "./child-environment.ts";
import type { OpenedWire } from "./wire.ts";
import { HttpClient, type HttpRequest } from "./http-client.ts";
import { checkedHeaders } from "./http-headers.ts";
import { HttpTransport } from "./http-transport.ts";
import type { HttpTransportOptions } from "./http-transport.ts";
import { OAuthAuthority } from "./oauth-authority.ts";
import { OAuthStore } from "./oauth-store.ts";
import { OldSseTransport } from "./old-sse-transport.ts";
import { ConcealedWire, SentSecrets } from "./sent-secrets.ts";

/** What {@link openHttp} needs of the host. */
export interface HttpHost {
  readonly dataDir: string;
  readonly clientName: string;
  readonly hostEnv: HostEnv;
  readonly mask: (text: string) => string;
}

/** Prepares Streamable HTTP for an app. Nothing is sent yet. Throws a StartError for what the configuration has wrong. */
export function openHttp(app: string, spec: HttpSpec, hooks: ConnectionHooks, host: HttpHost): OpenedWire {
  const secrets = new SentSecrets();
  const http = new HttpTransport(transportOptions(app, spec, hooks, host, secrets));
  const sessions = { forget: () => http.forgetSession(), onLost: (handler: () => void) => (http.onsessionlost = handler) };
  return { ...commonParts(spec, host), wire: new ConcealedWire(http, secrets), sessions };
}

/** Prepares the old HTTP+SSE transport for an app. `reached` tells afterwards whether the server spoke it. */
export function openOldSse(app: string, spec: HttpSpec, hooks: ConnectionHooks, host: HttpHost): OpenedWire & { readonly reached: () => boolean } {
  const secrets = new SentSecrets();
  const sse = new OldSseTransport(transportOptions(app, spec, hooks, host, secrets));
  return { ...commonParts(spec, host), wire: new ConcealedWire(sse, secrets), sessions: null, reached: () => sse.reached };
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

function transportOptions(app: string, spec: HttpSpec, hooks: ConnectionHooks, host: HttpHost, secrets: SentSecrets): HttpTransportOptions {
  const headers = checkedHeaders(spec.headers, spec.bearer !== null ? "bearer" : spec.oauth !== null ? "oauth" : null);
  if (spec.bearer !== null) Object.assign(headers, checkedHeaders({ authorization: `Bearer ${spec.bearer}` }, null));
  if (spec.insecure) hooks.onLog?.("mcp.tls.insecure is set: any certificate is accepted", "kit");
  const url = new URL(spec.url);
  const client = httpClient(spec, host.hostEnv, (request) => secrets.remember(request));
  return {
    url,
    client,
    headers,
    authority:
      spec.oauth === null
        ? null
        : new OAuthAuthority({
            app,
            serverUrl: url,
            settings: spec.oauth as OAuthSettings,
            store: new OAuthStore(host.dataDir, spec.url),
            client,
            clientName: host.clientName,
          }),
    bodyBytes: spec.bodyBytes,
    onNote: (note) => hooks.onLog?.(secrets.text(note), "kit"),
  };
}

/** A client with the TLS settings of an app. Throws a StartError when its certificate file cannot be read. */
export function httpClient(spec: HttpSpec, hostEnv: HostEnv, onSend?: (request: HttpRequest) => void): HttpClient {
  return new HttpClient({ ca: readCa(spec.ca), insecure: spec.insecure, hostEnv, ...(onSend === undefined ? {} : { onSend }) });
}

function readCa(path: string | null): string | null {
  if (path === null) return null;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StartError(`mcp.tls.ca cannot be read: ${messageOf(error)}`, { retry: false, cause: error });
  }
}
