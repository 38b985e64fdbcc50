import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
const WILDCARDS = new Set(["0.0.0.0", "::"]);
/** Whether an address or name means this machine only. */
export function isLoopback(host) {
    const name = host.toLowerCase().replace(/^\[|\]$/g, "");
    return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}
/** A host as it stands in a URL: IPv6 addresses in brackets. */
export function urlHost(host) {
    return isIP(host) === 6 ? `[${host}]` : host;
}
/**
 * The authorities under which a server bound to `host:port` may be addressed: the bound address, the three loopback names, for a
 * wildcard the addresses of this machine (an IP literal cannot be rebound), and what the configuration adds.
 */
export function allowedHosts(host, port, extra) {
    const hosts = ["127.0.0.1", "localhost", "::1", ...(WILDCARDS.has(host) ? machineAddresses() : [host])];
    const authorities = new Set(hosts.map((name) => `${urlHost(name)}:${port}`.toLowerCase()));
    const names = new Set();
    for (const entry of extra)
        (/:\d+$/.test(entry) ? authorities : names).add(entry.toLowerCase());
    return { authorities, names };
}
function machineAddresses() {
    return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((address) => address.address));
}
/** Whether a Host header names this server. Compared whole, as written: no prefixes, no suffixes, no other spellings of an address. */
export function hostAllowed(host, allowed) {
    if (host === undefined)
        return false;
    const authority = host.toLowerCase();
    if (allowed.authorities.has(authority))
        return true;
    return allowed.names.size > 0 && allowed.names.has(authority.replace(/:\d{1,5}$/, ""));
}
/** Whether an Origin header is absent (not a browser) or is this server's own page. `null`, lists, user info and paths are not. */
export function originAllowed(origin, allowed) {
    if (origin === undefined)
        return true;
    const match = /^https?:\/\/([^/?#@\s]+)$/i.exec(origin);
    return match !== null && hostAllowed(match[1], allowed);
}
