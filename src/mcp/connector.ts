import { systemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import type { AppPlan } from "../plan/types.ts";
import { StartError } from "../runtime/ports.ts";
import type { Connection, Connector, Logger } from "../runtime/ports.ts";
import type { HostEnv } from "./child-environment.ts";
import { Children } from "./children.ts";
import { establish } from "./establish.ts";
import type { OpenedWire } from "./wire.ts";
import { guardHooks } from "./guarded-hooks.ts";
import { mayBeOldSse, openHttp, openOldSse } from "./open-http.ts";
import { openStdio } from "./open-stdio.ts";
import { PROTOCOL_VERSIONS } from "./protocol-versions.ts";

/** What a connector needs of its host. */
export interface ConnectorOptions {
  /** Absolute; `run/children/` under it remembers processes, `run/oauth/` tokens. */
  readonly dataDir: string;
  readonly clientName: string;
  readonly clientVersion: string;
  /** Live limits (topology `limits`). */
  readonly listLimits: () => { readonly toolsPerApp: number; readonly listPages: number };
  /** The host's environment, as `process.env`. */
  readonly hostEnv: HostEnv;
  readonly log: Logger;
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string;
  readonly clock?: Clock;
}

/** Makes the connector that starts stdio servers and reaches http ones. */
export function createConnector(options: ConnectorOptions): Connector {
  const children = new Children(options.dataDir, (message) => options.log.warn({}, message));
  const clock = options.clock ?? systemClock;
  /** The revision that each server was found to speak, so that a refusal is paid for once. */
  const versions = new Map<string, string>();

  return {
    async connect(plan, scope, rawHooks, signal) {
      if (plan.protocol === "modern")
        throw new StartError("mcp.protocol: modern (revision 2026-07-28) is not supported yet; use auto or legacy", { retry: false });
      if (signal.aborted) throw new StartError("the start was cancelled", { retry: true });
      const deadline = clock.monotonic() + plan.startTimeoutMs;
      const hooks = guardHooks(rawHooks, options.mask, clock);
      const server = serverKey(plan);
      const start = (opened: OpenedWire): Promise<Connection> =>
        establish({
          plan,
          scope,
          hooks,
          signal,
          opened,
          clock,
          clientInfo: { name: options.clientName, version: options.clientVersion },
          timeLeft: () => Math.max(1, deadline - clock.monotonic()),
          limits: () => ({ items: options.listLimits().toolsPerApp, pages: options.listLimits().listPages }),
          version: versions.get(server) ?? PROTOCOL_VERSIONS[0]!,
          onVersion: (version) => versions.set(server, version),
        });
      const spec = plan.connect;
      if (spec.transport === "stdio") return await start(openStdio(plan, spec, hooks, options, children));
      try {
        return await start(openHttp(plan.package, spec, hooks, options));
      } catch (error) {
        if (!mayBeOldSse(error) || signal.aborted) throw error;
        const old = openOldSse(plan.package, spec, hooks, options);
        try {
          const connection = await start(old);
          hooks.onLog?.(
            "the server speaks the old HTTP+SSE transport (deprecated since 2025-03-26); it works, but calls lost with its stream cannot be resumed",
            "kit",
          );
          return connection;
        } catch (second) {
          throw old.reached() ? second : error;
        }
      }
    },
    reapOrphans: () => children.reapOrphans(),
    killAll: () => children.killAll(),
  };
}

/** What tells one server from another for the memory of its revision. */
function serverKey(plan: AppPlan): string {
  const spec = plan.connect;
  return JSON.stringify(spec.transport === "stdio" ? [plan.package, spec.command, ...spec.args] : [plan.package, spec.url]);
}
