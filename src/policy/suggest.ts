import type { Risk, Trust } from "../tools/types.ts";

/** A tool to draft rules for. `readOnly` and `destructive` are the server's own hints; `readOnly` is null where it says nothing. */
export interface SuggestInput {
  readonly app: string;
  readonly tool: string;
  readonly trust: Trust;
  readonly description: string | null;
  readonly readOnly: boolean | null;
  readonly destructive: boolean;
}

/** What words in a tool name say of its risk; the first line that fits counts. */
const WORDS: readonly { readonly risk: Risk; readonly why: string; readonly words: readonly string[] }[] = [
  {
    risk: "critical",
    why: "runs programs, or touches keys and rights",
    words: [
      "exec",
      "execute",
      "shell",
      "bash",
      "command",
      "eval",
      "sudo",
      "script",
      "spawn",
      "chmod",
      "chown",
      "grant",
      "revoke",
      "permission",
      "permissions",
      "secret",
      "secrets",
      "credential",
      "credentials",
      "password",
    ],
  },
  {
    risk: "high",
    why: "acts outside, deletes, or pays",
    words: [
      "send",
      "delete",
      "remove",
      "drop",
      "purge",
      "destroy",
      "pay",
      "payment",
      "transfer",
      "buy",
      "order",
      "post",
      "publish",
      "tweet",
      "email",
      "mail",
      "invite",
      "kick",
      "ban",
      "merge",
      "push",
      "deploy",
      "overwrite",
      "move",
      "kill",
      "reset",
    ],
  },
  {
    risk: "medium",
    why: "changes something",
    words: [
      "write",
      "create",
      "add",
      "update",
      "set",
      "edit",
      "append",
      "insert",
      "save",
      "upload",
      "rename",
      "schedule",
      "remind",
      "reminder",
      "copy",
      "put",
      "patch",
    ],
  },
  {
    risk: "low",
    why: "only reads",
    words: [
      "get",
      "list",
      "read",
      "search",
      "find",
      "query",
      "fetch",
      "show",
      "describe",
      "status",
      "count",
      "lookup",
      "view",
      "check",
      "ping",
      "echo",
      "info",
      "help",
    ],
  },
];

/** The words of a tool name: `sendMessage`, `send_message` and `send-message` all give send, message. */
function words(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}

/** The risk that a name and hints suggest, with the reason; null when neither says anything. A hint that a tool writes wins over a name that says it reads. */
export function suggestRisk(input: SuggestInput): { readonly risk: Risk; readonly why: string } | null {
  const parts = words(input.tool);
  for (const row of WORDS) {
    const word = parts.find((p) => row.words.includes(p));
    if (word === undefined) continue;
    if (input.destructive && (row.risk === "low" || row.risk === "medium")) break;
    if (input.readOnly === false && row.risk === "low") return { risk: "medium", why: `the name says "${word}", but the server says that it writes` };
    return { risk: row.risk, why: `the name says "${word}": ${row.why}` };
  }
  if (input.destructive) return { risk: "high", why: "the server itself calls it destructive" };
  if (input.readOnly === false && input.trust !== "low") return { risk: "medium", why: "the server says that it writes" };
  if (input.readOnly === true && input.trust !== "low") return { risk: "low", why: "the server calls it read-only" };
  return null;
}

/**
 * A draft policy file for a person to review: one classifying rule per app and risk, and the tools that could not be classified in
 * a comment. It never drafts an `allow`. Equal input gives equal text.
 */
export function suggestPolicy(tools: readonly SuggestInput[]): string {
  const groups = new Map<string, { app: string; risk: Risk; tools: { name: string; why: string }[] }>();
  const unknown: string[] = [];
  for (const tool of [...tools].sort((a, b) => (`${a.app}/${a.tool}` < `${b.app}/${b.tool}` ? -1 : 1))) {
    const found = suggestRisk(tool);
    if (!found) {
      unknown.push(`${tool.app}/${tool.tool}`);
      continue;
    }
    const key = `${tool.app} ${found.risk}`;
    const group = groups.get(key) ?? { app: tool.app, risk: found.risk, tools: [] };
    group.tools.push({ name: tool.tool, why: found.why });
    groups.set(key, group);
  }
  const lines = [
    "# yaml-language-server: $schema=../../schemas/policy.schema.json",
    "# A draft made from tool names and server hints. Names prove nothing: read each tool before you keep its line.",
    groups.size === 0 ? "rules: []" : "rules:",
  ];
  const ids = new Set<string>();
  for (const group of groups.values()) {
    lines.push(`  - id: ${ruleId(group.app, group.risk, ids)}`, `    apps: [${JSON.stringify(group.app)}]`, "    tools:");
    for (const tool of group.tools) lines.push(`      - ${JSON.stringify(tool.name)} # ${tool.why}`);
    lines.push(`    risk: ${group.risk}`);
  }
  if (unknown.length > 0) lines.push("# Not classified, so they keep the default risk of their app's trust:", ...unknown.map((u) => `#   ${u}`));
  return `${lines.join("\n")}\n`;
}

function ruleId(app: string, risk: Risk, used: Set<string>): string {
  const base = `${risk}-${app.replaceAll(/[^A-Za-z0-9.-]/g, "-")}`.slice(0, 60);
  let id = base;
  for (let n = 2; used.has(id); n += 1) id = `${base}-${n}`;
  used.add(id);
  return id;
}
