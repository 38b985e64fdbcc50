import type { JsonObject } from "../base/json.ts";
import { startSpan } from "../base/tracing.ts";
import type { Trust } from "../tools/types.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import type { OperationOptions, Performed } from "./operation.ts";

/** The span of one call, from its acceptance to its answer, waiting for a person included. */
export interface CallSpan {
  /** The caller's options, with the span as the parent of what the app does. */
  readonly options: OperationOptions;
  end(performed: Performed, snapshot: Snapshot): void;
}

/**
 * Begins the span of a call, by the MCP and GenAI conventions of OpenTelemetry. Names and outcomes only: never arguments, results,
 * or the URI of a resource.
 */
export function startCallSpan(options: OperationOptions): CallSpan {
  const span = startSpan("mcp call", "client", options.meta, { "gen_ai.conversation.id": options.session, "aurora.client": options.client });
  const traced = span.meta["traceparent"] !== undefined;
  return {
    options: traced ? { ...options, meta: { ...options.meta, ...span.meta } } : options,
    end(performed, snapshot) {
      if (!traced) return;
      const { target, method, decision, error } = performed;
      const named = target !== null && target.kind !== "resource";
      if (method !== null) span.rename(named ? `${method} ${target.name}` : method);
      span.set({
        "aurora.call_id": performed.callId,
        "aurora.outcome": performed.outcome,
        ...(method === null ? {} : { "mcp.method.name": method }),
        ...(decision === null ? {} : { "aurora.decision": decision.action, "aurora.risk": decision.risk }),
        ...(target === null ? {} : targetAttributes(target, snapshot)),
      });
      span.end(error?.error_code ?? null);
    },
  };
}

function targetAttributes({ kind, name, app, plan }: NonNullable<Performed["target"]>, snapshot: Snapshot): Record<string, string> {
  const protocol = snapshot.apps.get(app)?.protocol ?? null;
  return {
    "aurora.app": app,
    "network.transport": plan.connect.transport === "stdio" ? "pipe" : "tcp",
    ...(protocol === null ? {} : { "mcp.protocol.version": protocol }),
    ...(kind === "tool" ? { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name } : {}),
    ...(kind === "prompt" ? { "gen_ai.prompt.name": name } : {}),
  };
}

/** What a server may see of a caller's `_meta`: `baggage` may carry what is none of a low-trust server's business. */
export function metaFor(trust: Trust, meta: JsonObject): JsonObject {
  if (trust !== "low" || !Object.hasOwn(meta, "baggage")) return meta;
  const { baggage: _withheld, ...rest } = meta;
  return rest;
}
