import type { Clock } from "../base/clock.ts";
import { formatDuration } from "../base/durations.ts";
import { messageOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { truncate } from "../base/text.ts";
import { isForwarded } from "../plan/grants.ts";
import type { AppPlan } from "../plan/types.ts";
import type { AppListing } from "../tools/types.ts";
import { Generation, type Life } from "./generation.ts";
import { listWithin } from "./list-within.ts";
import { canRetry, LinkError, StartError } from "./ports.ts";
import type { CloseReason, Connection, ConnectionHooks, Connector, Logger, ServerRequest } from "./ports.ts";
import type { StartGate } from "./start-gate.ts";

/** What an app runner tells the rest of the kit. */
export interface AppRunnerEvents {
  /** State, listing, plan or connection changed: look at the runner again. */
  onChange(): void;
  onStarted(life: Life): void;
  /** `replaced`: only to make room for a successor, as a change or a person's restart wants it. */
  onStopping(life: Life, replaced: boolean): void;
  onStopped(life: Life, replaced: boolean): void;
  /** The process that a running successor replaced has ended: the app itself did not stop. */
  onReplaced(life: Life): void;
  onCrashed(life: Life, reason: CloseReason): void;
  /** The server was listed again and shows something else. */
  onListed(before: AppListing, after: AppListing): void;
  /** `scope` is set for a connection that serves one calling session alone. */
  onNotification(method: string, params: JsonObject, scope?: string): void;
  onProtocolError(message: string): void;
  onLog(line: string, source: "stderr" | "kit"): void;
  /** Answers a server-to-client request that no running call answers; throws to refuse. */
  onServerRequest(request: ServerRequest): Promise<JsonObject>;
}

/** What an app runner works with. */
export interface AppRunnerDeps {
  readonly connector: Connector;
  readonly gate: StartGate;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Takes the host's own secrets out of what a server shows, before anybody sees it. */
  readonly cleanListing: (listing: AppListing) => AppListing;
  /** Takes secrets out of a reason, for a server may repeat what it was sent. */
  readonly mask: (text: string) => string;
  readonly events: AppRunnerEvents;
}

/** Starts a server, lists it, and gives the new generation; rejects with a StartError. Leaves no process behind when it fails. */
export async function bringUp(plan: AppPlan, deps: AppRunnerDeps, signal: AbortSignal): Promise<Generation> {
  const leave = await deps.gate.enter(signal);
  try {
    const box: { generation: Generation | null } = { generation: null };
    const startedAt = deps.clock.monotonic();
    const connection = await openConnection(plan, "shared", deps, () => box.generation, signal, undefined);
    let last: readonly string[] = [];
    connection.onClosed(({ stderrTail }) => (last = stderrTail));
    try {
      const listing = deps.cleanListing(await listWithin(connection, plan.startTimeoutMs - (deps.clock.monotonic() - startedAt), signal));
      box.generation = new Generation(plan, connection, listing, deps.clock.monotonic());
      return box.generation;
    } catch (error) {
      await connection.close({ force: true });
      throw signal.aborted ? error : unlisted(plan, error, last);
    }
  } finally {
    leave();
  }
}

/** Why a server that came up is not used. */
function unlisted(plan: AppPlan, error: unknown, stderrTail: readonly string[]): StartError {
  const time =
    error instanceof LinkError && error.kind === "timeout" ? ` (start_timeout: ${formatDuration(plan.startTimeoutMs)} from the start to the lists)` : "";
  const said = stderrTail.at(-1);
  const message = `the server came up, but what it shows could not be read: ${messageOf(error)}${time}${said === undefined ? "" : `; stderr ends with: ${truncate(said, 300)}`}`;
  return new StartError(message, { retry: canRetry(error), stderrTail, cause: error });
}

/** Opens one connection of an app. A server's request goes to the one call that runs in that scope where the grants forward it to that client, else to the kit. */
export function openConnection(
  plan: AppPlan,
  scope: string,
  deps: AppRunnerDeps,
  generation: () => Generation | null,
  signal: AbortSignal,
  capabilities: JsonObject | undefined,
): Promise<Connection> {
  const hooks: ConnectionHooks = {
    ...(capabilities === undefined ? {} : { clientCapabilities: capabilities }),
    onLog: (line, source) => deps.events.onLog(line, source),
    onProtocolError: (message) => deps.events.onProtocolError(message),
    onServerRequest: (request) => {
      const forwarded = scope !== "shared" && isForwarded(plan.grants, request.method, capabilities);
      const handler = forwarded ? generation()?.handlerFor(scope) : undefined;
      return handler ? handler(request) : deps.events.onServerRequest(request);
    },
  };
  return deps.connector.connect(plan, scope, hooks, signal);
}

/** Whether two plans of an app can use the same connection. */
export function sameConnection(a: AppPlan, b: AppPlan): boolean {
  return connectionKey(a) === connectionKey(b);
}

/** Names the fields of a plan that a connection depends on. */
export function connectionKey(plan: AppPlan): string {
  return `${plan.digests.restart} ${plan.digests.reconnect}`;
}
