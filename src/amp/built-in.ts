import type { SignalsConfig } from "../../generated/signals.d.ts";

/**
 * The built-in mapping: the table of guide 16.1 in the mapping language. `topology/signals/built-in.example.yaml` is the same
 * table for people to read and copy from; a test holds the two equal.
 */
export const BUILT_IN_SIGNALS: SignalsConfig = {
  rules: [
    {
      id: "lifecycle",
      when: { kind: "lifecycle" },
      emit: { type: "lifecycle.{method}", summary: "{app} {method}", data: "{params}" },
      otherwise: true,
      priority: "high",
    },
    {
      id: "lifecycle-replaced",
      when: { kind: "lifecycle", params: { reason: "replaced" } },
      emit: { type: "lifecycle.{method}", summary: "{app} {method} (its old process; a new one takes over)", data: "{params}" },
      priority: "high",
    },
    {
      id: "capability-changed",
      when: { kind: "notification", method: "notifications/*/list_changed" },
      emit: { type: "capability.changed", summary: "{app}: {params.kind} changed", data: "{params}" },
      priority: "high",
    },
    {
      id: "tool-completed",
      when: { kind: "tool_result", params: { outcome: "succeeded" } },
      emit: { type: "tool.completed", summary: "{app}: {params.tool} completed", data: "{params}" },
      priority: "high",
    },
    {
      id: "tool-failed",
      when: { kind: "tool_result", params: { outcome: { one_of: ["failed", "unknown"] } } },
      emit: { type: "tool.failed", summary: "{app}: {params.tool} {params.outcome} {params.error.error_code}", data: "{params}" },
      priority: "high",
    },
    { id: "resource-observed", when: { kind: "resource" }, emit: { type: "resource.observed", summary: "{app}: {params.uri}", data: "{params}" } },
    { id: "protocol-error", when: { kind: "error" }, emit: { type: "mcp.error", summary: "{app}: {params.message}", data: "{params}" } },
    {
      id: "aurora-event",
      when: { kind: "event" },
      emit: {
        type: "{params.type}",
        session_id: "{params.session_id}",
        summary: "{params.summary}",
        data: "{params.data}",
        expire_at: "{params.expire_at}",
        idempotency_key: "{params.idempotency_key}",
      },
    },
    {
      id: "host",
      when: { kind: "host" },
      emit: { type: "{method}", session_id: "{params.session}", summary: "{params.summary}", data: "{params}" },
      priority: "high",
    },
    { id: "progress", when: { kind: "notification", method: "notifications/progress" }, drop: true },
    {
      id: "quiet-log",
      when: { kind: "notification", method: "notifications/message", params: { level: { one_of: ["debug", "info", "notice"] } } },
      drop: true,
    },
    {
      id: "notification",
      when: { kind: "notification" },
      emit: { type: "mcp.notification.{method_name}", summary: "{app}: {method}", data: "{params}" },
      otherwise: true,
      priority: "low",
    },
  ],
};
