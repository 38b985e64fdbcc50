import type { JsonObject } from "../base/json.ts";

/** A tool with what the policy says of it without knowing its arguments. */
export interface PermissionRow {
  readonly app: string;
  readonly tool: string;
  readonly short: string;
  readonly decision: "allow" | "ask" | "deny";
}

export const PERMISSION_FORMATS = ["claude-code-permissions", "vscode", "openai-require-approval"] as const;
export type PermissionFormat = (typeof PERMISSION_FORMATS)[number];

/**
 * The policy in the words of another host that reaches the tools through the gateway as server `server`. It makes that host
 * ask or refuse earlier; the kit decides again on every call whatever the host does.
 */
export function exportPermissions(rows: readonly PermissionRow[], format: PermissionFormat, server: string): JsonObject {
  const names = (decision: PermissionRow["decision"]): string[] =>
    rows
      .filter((row) => row.decision === decision)
      .map((row) => row.short)
      .sort();
  switch (format) {
    case "claude-code-permissions": {
      const rules = (decision: PermissionRow["decision"]): string[] => names(decision).map((name) => `mcp__${server}__${name}`);
      return { permissions: { allow: rules("allow"), ask: rules("ask"), deny: rules("deny") } };
    }
    case "vscode":
      return {
        "chat.tools.eligibleForAutoApproval": Object.fromEntries(
          rows.map((row): [string, boolean] => [`mcp_${server}_${row.short}`, row.decision === "allow"]).sort(([a], [b]) => (a < b ? -1 : 1)),
        ),
      };
    case "openai-require-approval":
      return {
        type: "mcp",
        server_label: server,
        allowed_tools: [...names("allow"), ...names("ask")].sort(),
        require_approval: { always: { tool_names: names("ask") }, never: { tool_names: names("allow") } },
      };
  }
}
