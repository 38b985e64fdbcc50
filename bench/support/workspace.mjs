import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { tempFolder } from "./temp.mjs";

const ECHO = fileURLToPath(new URL("./echo-server.mjs", import.meta.url));

/** How the echo server is started. */
export const ECHO_COMMAND = [process.execPath, ECHO];

/** A workspace in a folder of its own; gives the path of its topology.yaml. JSON is YAML. */
export function makeWorkspace(topology, files = {}) {
  const root = tempFolder();
  const write = (name, text) => {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { root, topology: write("topology/topology.yaml", JSON.stringify({ topology: 1, data_dir: "../data", ...topology }, null, 2)) };
}

/** Echo apps `org.example.app0` … for `apps` in a topology. */
export function echoApps(count, settings = {}) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`org.example.app${i}`, { trust: "high", mcp: { command: ECHO_COMMAND }, ...settings }]));
}

/** Names of tools that {@link policyRules} speak of. */
export function toolName(i) {
  return `${["get", "list", "send", "delete", "write"][i % 5]}_thing${i}`;
}

/** A manifest as people write it: comments, a list of tools, some settings. */
export function manifestText(i, tools) {
  return `# yaml-language-server: $schema=../../schemas/app.schema.json
package: org.example.app${i}
name: Example app ${i}
version: 0.2.${i}
type: mcp-server
mcp:
  transport: stdio
  command: ["node", "server.js"]
  args: ["--data", "data/app${i}", "--verbose"]   # read at start
  env:
    APP_CONFIG: apps/app${i}/config.json
    APP_LEVEL: info
  health_timeout: 10
  restart: { enabled: true, max_attempts: 3, backoff_seconds: 2 }
# What the server offers; the truth at run time is tools/list.
commands:
${Array.from({ length: tools }, (_, t) => `  - { name: ${toolName(t)}, description: "Does thing number ${t} for app ${i}", risk: ${t % 2 === 0 ? "low" : "medium"} }\n`).join("")}call_timeout: 20s
trust: medium
`;
}

/** Policy rules of every kind: by app, by name pattern, by argument, by client, with limits. */
export function policyRules(count) {
  return Array.from({ length: count }, (_, i) => {
    const rule = { id: `rule-${i}`, apps: [`org.example.app${i}`], action: ["allow", "ask", "deny"][i % 3], reason: `reason ${i}` };
    switch (i % 5) {
      case 0:
        return { ...rule, tools: ["send_*", "write_*"], args: { target: { equals: "group:123" }, text: { max_length: 500 } } };
      case 1:
        return { ...rule, tools: ["delete_*"], clients: ["bot", "cli"] };
      case 2:
        return { ...rule, apps: [`org.example.app${i % 10}*`], tools: [`*_thing${i % 10}`], limits: { rate: "10/min", timeout: "20s" } };
      case 3:
        return { ...rule, tools: ["*"], args: { path: { under: "/home/me" } } };
      default:
        return { id: rule.id, apps: rule.apps, tools: ["get_*"], risk: "medium" };
    }
  });
}

/** Rules as text of a policy file. */
export function policyText(rules) {
  return `# yaml-language-server: $schema=../../schemas/policy.schema.json\nrules:\n${rules.map((rule) => `  - ${JSON.stringify(rule).replaceAll('":', '": ')}\n`).join("")}`;
}
