import { LOCAL_DOOR, startHttpServer } from "./control/http-server.ts";
import { createMetrics } from "./control/metrics.ts";
import { createRoutes } from "./control/routes.ts";
import { loadTokens } from "./control/tokens.ts";
import type { Kit, Logger } from "./kit-api.ts";
import { createGatewayHttp } from "./mcp/gateway-http.ts";
import { namingCollisions } from "./mcp/gateway-names.ts";
import { createGateway } from "./mcp/gateway.ts";
import type { Plan } from "./plan/types.ts";
import { webRoutes } from "./web/web-routes.ts";

export interface DoorOptions {
  readonly kit: Kit;
  readonly plan: Plan;
  readonly log: Logger;
  readonly version: string;
}

/** The HTTP door of a host: web page, control API, metrics, and the aggregate MCP server under `/mcp`. */
export interface Door {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly tlsCert: string | null;
  /** Takes over what a reload may change: named callers and their tokens, and how tools are named and shown. */
  follow(plan: Plan): Promise<void>;
  /** Reads the tokens again, and makes those that are missing. Throws an Error that names the file that cannot be used; the tokens stay then. */
  renewTokens(): Promise<void>;
  /** Tools that `gateway.naming: none` would give the same name, in words; none for the other namings. */
  collisions(): readonly string[];
  /** Ends idle streams at once and gives running requests a few seconds. */
  close(): Promise<void>;
}

/** Opens the door. Throws an Error that names the setting when the address is refused or busy, or a token file cannot be used. */
export async function openDoor({ kit, plan, log, version }: DoorOptions): Promise<Door> {
  // Without `gateway` the door is only for this user's own commands, at any free port.
  const settings = plan.gateway ?? LOCAL_DOOR;
  let current = settings;
  let tokens = await loadTokens(plan.dataDir, settings.clients);
  for (const warning of tokens.warnings) log.warn({}, warning);
  const gateway = createGateway({ kit, settings: () => current, info: { name: plan.name, version }, log });
  const mcp = createGatewayHttp({ gateway });
  const metrics = createMetrics(kit);
  const server = await startHttpServer({
    gateway: settings,
    tokens: () => tokens,
    routes: createRoutes({ kit, mcp, metrics, version, extra: await webRoutes() }),
    log,
  });
  const renewTokens = async (): Promise<void> => {
    tokens = await loadTokens(plan.dataDir, current.clients);
    mcp.follow(tokens.principals);
  };
  return {
    url: server.url,
    tlsCert: settings.tls?.cert ?? null,
    async follow(next) {
      current = next.gateway ?? LOCAL_DOOR;
      await renewTokens();
    },
    renewTokens,
    collisions: () => namingCollisions(kit.catalog(), current.naming),
    async close() {
      // Sessions first: their streams would keep the server open.
      await Promise.all([mcp.close(), server.close()]);
      await gateway.close();
      metrics.close();
    },
  };
}
