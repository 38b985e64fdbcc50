import { lookup as dnsLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { BlockList, isIP } from "node:net";

/** Where clouds keep their metadata services, and link-local networks: no MCP server lives there. */
const REFUSED = new BlockList();
REFUSED.addSubnet("169.254.0.0", 16, "ipv4");
REFUSED.addAddress("100.100.100.200", "ipv4");
REFUSED.addSubnet("fe80::", 10, "ipv6");
REFUSED.addAddress("fd00:ec2::254", "ipv6");

/** An address that is never connected to. */
export class RefusedAddress extends Error {
  readonly code = "address-refused";
  constructor(host: string, address: string) {
    super(`${host === address ? address : `${host} means ${address}, which`} is a link-local or cloud metadata address; it is never connected to`);
    this.name = "RefusedAddress";
  }
}

/** Throws {@link RefusedAddress} when a host is written as such an address. */
export function checkHost(hostname: string): void {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isRefused(host)) throw new RefusedAddress(host, host);
}

/** Name look-up that refuses such addresses, so that a name cannot be pointed at one later. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, options, (error, address, family) => {
    const addresses = typeof address === "string" ? [address] : (address ?? []).map((entry) => entry.address);
    const refused = addresses.find(isRefused);
    if (error === null && refused !== undefined) return callback(new RefusedAddress(hostname, refused), "", 0);
    callback(error, address as string, family);
  });
};

function isRefused(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  // An IPv4 address in IPv6 clothes (::ffff:a9fe:a9fe) is matched by BlockList as IPv4.
  return REFUSED.check(address, family === 4 ? "ipv4" : "ipv6");
}
