import http from "node:http";
import net from "node:net";
import { messageOf } from "../base/errors.ts";
import type { GatewayPlan } from "../kit-api.ts";
import { urlHost } from "./host-guard.ts";
import { portOwner } from "./port-owner.ts";

/** The realm that the door names when it asks for a token. Hosts know each other by it. */
export const REALM = "aurora-mcp";

const PROBE_MS = 1000;
/** A token that is none is refused also where none is needed. */
const NO_TOKEN = { Authorization: "Bearer none" };

type Address = Pick<GatewayPlan, "host" | "port">;

/** Rejects with an Error that names the setting when the door could not be opened at this address now. Leaves nothing open. */
export async function probePort(address: Address): Promise<void> {
  if (address.port === 0) return;
  const server = net.createServer();
  await listenAt(server, address);
  await new Promise((resolve) => server.close(resolve));
}

/** Lets a server listen. Rejects with an Error that names the setting, and says who has the address where that can be known. */
export async function listenAt(server: net.Server, address: Address): Promise<void> {
  const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once("error", resolve);
    server.listen({ host: bare(address.host), port: address.port }, () => {
      server.removeListener("error", resolve);
      resolve(null);
    });
  });
  if (error === null) return;
  const where = `${urlHost(address.host)}:${address.port}`;
  throw new Error(`gateway.listen: ${await whyNot(error, where, address)}; choose another port (0 is any free one)`, { cause: error });
}

async function whyNot(error: NodeJS.ErrnoException, where: string, address: Address): Promise<string> {
  if (error.code === "EACCES") return `no right to listen on ${where}`;
  if (error.code !== "EADDRINUSE") return messageOf(error);
  if (!(await isHost(address))) return `${where} is in use by another program`;
  const owner = await portOwner(address.port);
  return `${where} is in use by another Aurora host, that of another workspace${owner === null ? "" : ` (${owner})`}`;
}

/** Whether a host of this kind answers there. Nothing secret is sent; a host behind TLS is not known. */
function isHost({ host, port }: Address): Promise<boolean> {
  const where = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : bare(host);
  return new Promise((resolve) => {
    const req = http.get({ host: where, port, path: "/api/whoami", headers: NO_TOKEN, agent: false, signal: AbortSignal.timeout(PROBE_MS) }, (res) => {
      res.resume();
      resolve(res.headers["www-authenticate"]?.includes(`realm="${REALM}"`) === true);
    });
    req.on("error", () => resolve(false));
  });
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}
