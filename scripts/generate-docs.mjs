// Makes docs/settings.md and docs/errors.md from the schemas and the error table; with --check it only compares and fails on drift.
// Needs a build: the tables come from the very code that uses them.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { ERROR_CODES } from "../dist/base/errors.js";
import { schemaProperties } from "../dist/plan/schema-classes.js";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes("--check");

const cell = (text) => String(text).replaceAll("|", "\\|").replaceAll("\n", " ");
const table = (head, rows) =>
  [`| ${head.join(" | ")} |`, `| ${head.map(() => "---").join(" | ")} |`, ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`)].join("\n");

const FILES = [
  ["topology.schema.json", "", "topology/topology.yaml", (row) => !row.path.startsWith("apps.*")],
  ["app.schema.json", "", "apps/<name>/manifest.yaml, and entries under `apps` in topology.yaml", () => true],
  ["policy.schema.json", "", "topology/policies/*.yaml", () => true],
  ["signals.schema.json", "", "topology/signals/*.yaml", () => true],
];

const settings = `# Settings

Made from \`schemas/\` by \`npm run generate\`. Do not edit.

Every key, what it means, and what a change of it does to a running host:

${table(
  ["class", "what a change does"],
  [
    ["live", "takes effect at the next call, event or export; no connection is touched"],
    ["relist", "the server's catalogue is read again"],
    ["reconnect", "a new connection is made beside the old one; running calls finish on the old one"],
    ["restart", "a new process is started beside the old one (or after it: `handover: stop_first`); running calls finish on the old one"],
    ["host", "only a restart of the host changes it; `plan`, the reload's result and `status` name it until then"],
  ],
)}

${FILES.map(
  ([file, pointer, title, keep]) => `## ${title}

${table(
  ["key", "change", "meaning"],
  schemaProperties(file, pointer)
    .filter(keep)
    .map((row) => [`\`${row.path}\``, row.class, row.description]),
)}
`,
).join("\n")}`;

const UNKNOWN_ONCE_SENT = ["TIMEOUT", "CANCELLED", "APP_REMOVED"];
const errors = `# Error codes of calls

Made from \`src/base/errors.ts\` by \`npm run generate\`. Do not edit.

A call that does not succeed carries one error of this shape, at every door:

\`\`\`json
{ "ok": false, "error_code": "RATE_LIMITED", "message": "…", "retryable": true, "source": "kit", "details": {} }
\`\`\`

\`source\` is \`app\` when the tool itself said so: then \`error_code\`, \`message\` and \`retryable\` are the tool's own, or \`TOOL_FAILED\` where it gave none.
\`retryable\` says whether the same call may work later. A call whose outcome is \`unknown\` was sent and its fate is not known: the kit never sends it again by itself, and \`retryable\` is false whatever the code, for the thing may have been done.
Every call, refused or not, ends with one receipt: \`tool.completed\`, or \`tool.failed\` with the code and, for an unknown outcome, \`data.outcome: unknown\`.

${table(
  ["code", "meaning", "retryable", "reached the app", "outcome"],
  Object.entries(ERROR_CODES).map(([code, row]) => [
    `\`${code}\``,
    row.meaning,
    row.retryable ? (UNKNOWN_ONCE_SENT.includes(code) ? "until it is sent" : "yes") : "no",
    row.sent ? "perhaps" : "no",
    UNKNOWN_ONCE_SENT.includes(code) ? "unknown once sent" : "failed",
  ]),
)}

\`APP_UNAVAILABLE\` has the outcome \`unknown\` when the app died while the call ran. At the gateway, \`TOOL_NOT_FOUND\` and \`INVALID_ARGUMENTS\` are JSON-RPC errors (−32602), and so is \`ELICITATION_REQUIRED\` (−32042) for a client that declared \`elicitation.url\`; all others are results with \`isError\`. What a server gave as \`data\` of its own MCP error stands in \`details.data\`.
`;

let drift = 0;
for (const [file, text] of [
  ["docs/settings.md", settings],
  ["docs/errors.md", errors],
]) {
  const target = path.join(root, file);
  const old = await readFile(target, "utf8").catch(() => "");
  if (old === text) continue;
  if (check) {
    drift += 1;
    process.stderr.write(`${file} differs from the code: run \`npm run generate\`\n`);
  } else {
    await writeFile(target, text);
  }
}
process.exit(drift > 0 ? 1 : 0);
