import { capabilityChange, capabilitySignal, type CapabilityKind } from "../amp/capability.ts";
import { HOST_APP } from "../amp/envelope.ts";
import { signalOfNotification, type SignalSource } from "../amp/signal.ts";
import type { Signal } from "../amp/types.ts";
import type { JsonObject } from "../base/json.ts";
import type { AppPlan } from "../plan/types.ts";
import type { Life } from "../runtime/generation.ts";
import type { CloseReason } from "../runtime/ports.ts";
import type { AppListing } from "../tools/types.ts";

/** Where the signals of an app come from. */
export function sourceOf(app: AppPlan): SignalSource {
  return { app: app.package, instance: app.instance };
}

/** initialize went well (guide 16.1). */
export function startedSignal(app: AppPlan, life: Life, listing: AppListing): Signal {
  const params: JsonObject = {
    ...lifeParams(life),
    protocol_version: listing.protocolVersion,
    server: { name: listing.serverInfo.name, version: listing.serverInfo.version },
    tools: listing.tools.length,
    resources: listing.resources.length,
    prompts: listing.prompts.length,
    ...(listing.dropped.length === 0 ? {} : { dropped: listing.dropped.map((d) => ({ kind: d.kind, name: d.name, reason: d.reason })) }),
  };
  return { kind: "lifecycle", ...sourceOf(app), method: "started", params };
}

/**
 * A planned stop of one life of an app (guide 16.1). `replaced`: only to make room for a successor; where that runs already, the end of
 * the old process is no `stopped` of the app but has a method of its own.
 */
export function stopSignal(app: AppPlan, method: "stopping" | "stopped" | "replaced", life: Life, replaced: boolean): Signal {
  return { kind: "lifecycle", ...sourceOf(app), method, params: { ...lifeParams(life), ...(replaced ? { reason: "replaced" } : {}) } };
}

/** The server died (guide 16.1). */
export function crashSignal(app: AppPlan, life: Life, reason: CloseReason): Signal {
  const params: JsonObject = {
    ...lifeParams(life),
    reason: reason.message,
    exit_code: reason.exitCode,
    signal: reason.signal,
    stderr: reason.stderrTail.slice(-10),
  };
  return { kind: "lifecycle", ...sourceOf(app), method: "crashed", params };
}

function lifeParams({ restarts, pid }: Life): JsonObject {
  return { restarts, ...(pid === null ? {} : { pid }) };
}

/** One signal for each list that shows something else now. */
export function changeSignals(app: AppPlan, before: AppListing, after: AppListing): Signal[] {
  const kinds: CapabilityKind[] = ["tools", "prompts", "resources"];
  return kinds.flatMap((kind) => {
    const change = capabilityChange(kind, before, after);
    return change.added.length + change.removed.length + change.changed.length === 0 ? [] : [capabilitySignal(sourceOf(app), kind, change)];
  });
}

/** What a server's notification becomes: list changes and updates of resources have signals of their own, and the state of a task is for its call. */
export function notificationSignal(app: AppPlan, method: string, params: JsonObject): Signal | { readonly refused: string } | null {
  if (
    /^notifications\/(tools|resources|prompts)\/list_changed$/.test(method) ||
    method === "notifications/resources/updated" ||
    method === "notifications/tasks/status" ||
    method === "notifications/cancelled"
  )
    return null;
  const reading = signalOfNotification(sourceOf(app), method, params);
  return "refused" in reading ? reading : reading.signal;
}

/** A breach of the protocol (guide 16.3, mcp.error). */
export function errorSignal(app: AppPlan, message: string): Signal {
  return { kind: "error", ...sourceOf(app), method: "protocol", params: { message } };
}

/** Something that the host itself has to tell; `source.app` is the kit (contracts 7). */
export function hostSignal(instance: string, method: string, params: JsonObject): Signal {
  return { kind: "host", app: HOST_APP, instance, method, params };
}

/** A resource as it was read or updated (guide 16.1, resource.observed). */
export function resourceSignal(app: AppPlan, method: "resources/read" | "notifications/resources/updated", uri: string, content: JsonObject | null): Signal {
  return { kind: "resource", ...sourceOf(app), method, params: { uri, ...(content === null ? {} : { contents: content["contents"] ?? [] }) } };
}
