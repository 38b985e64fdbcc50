import { request as httpRequest } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import { isIP } from "node:net";
import { connect as tlsConnect } from "node:tls";
import type { ConnectionOptions } from "node:tls";
import type { HostEnv } from "./child-environment.ts";

/** Finds the proxy for a URL by the usual variables (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`, lower case first). Loopback is never proxied. */
export function proxyFor(url: URL, env: HostEnv): URL | null {
  const read = (name: string): string => env[name.toLowerCase()] ?? env[name] ?? "";
  const text = read(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY") || read("ALL_PROXY");
  if (text === "" || isLoopback(url.hostname) || isExempt(url, read("NO_PROXY"))) return null;
  try {
    const proxy = new URL(text.includes("://") ? text : `http://${text}`);
    return proxy.protocol === "http:" || proxy.protocol === "https:" ? proxy : null;
  } catch {
    return null;
  }
}

/** Whether a host name can only mean this machine. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** The value of Proxy-Authorization for the user info in a proxy's URL, or undefined. */
export function proxyAuthorization(proxy: URL): string | undefined {
  if (proxy.username === "" && proxy.password === "") return undefined;
  return `Basic ${Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`).toString("base64")}`;
}

/** What Node's agents call for a new socket; the types leave it out. */
interface SocketMaker {
  createConnection(options: { readonly host: string; readonly port: number }, callback: (error: Error | null, socket?: Socket) => void): undefined;
}

/** A keep-alive agent whose TLS connections run in tunnels through a proxy. The certificate is the server's, checked for the server's name. */
export function tunnelAgent(proxy: URL, tls: ConnectionOptions, options: { readonly idleMs: number; readonly connectMs: number }): HttpsAgent {
  const agent = new HttpsAgent({ keepAlive: true, timeout: options.idleMs });
  const maker: SocketMaker = {
    createConnection({ host, port }, callback) {
      openTunnel(proxy, host, port, options.connectMs).then((tunnel) => {
        const socket = tlsConnect({ ...tls, socket: tunnel, ...(isIP(host) === 0 ? { servername: host } : { host }) });
        socket.once("error", callback);
        socket.once("secureConnect", () => {
          socket.off("error", callback);
          callback(null, socket);
        });
      }, callback);
      return undefined;
    },
  };
  return Object.assign(agent, maker);
}

/** Opens a tunnel through a proxy with CONNECT. Rejects with the proxy's status when it refuses. */
function openTunnel(proxy: URL, host: string, port: number, timeoutMs: number): Promise<Socket> {
  const authorization = proxyAuthorization(proxy);
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port === "" ? (proxy.protocol === "https:" ? 443 : 80) : Number(proxy.port),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...(authorization === undefined ? {} : { "proxy-authorization": authorization }) },
      timeout: timeoutMs,
      ...(proxy.protocol === "https:"
        ? { createConnection: () => tlsConnect({ host: proxy.hostname, port: Number(proxy.port || 443), servername: proxy.hostname }) }
        : {}),
    });
    request.once("connect", (response, socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new Error(`the proxy ${proxy.host} refused the connection to ${target}: HTTP ${response.statusCode}`));
    });
    request.once("timeout", () => request.destroy(new Error(`the proxy ${proxy.host} did not answer in time`)));
    request.once("error", reject);
    request.end();
  });
}

function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, name = "", wantedPort] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    const bare = name.replace(/^\*?\./, "");
    if (bare === "" || (wantedPort !== undefined && wantedPort !== port)) return false;
    return host === bare || (isIP(host) === 0 && host.endsWith(`.${bare}`));
  });
}
