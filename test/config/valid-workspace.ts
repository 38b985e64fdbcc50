import type { Workspace } from "./workspace.ts";

/** A workspace that uses most of the configuration and has no findings at all. */
export const VALID: Workspace = {
  trusted: true,
  env: { ONEBOT_URL: "http://127.0.0.1:3000", SEARCH_TOKEN: "s3arch-t0ken", PORT: "7801" },
  secretFiles: { "/ws/apps/qq/token.txt": "qq-s3cret\n" },
  files: {
    "topology/topology.yaml": `# yaml-language-server: $schema=../schemas/topology.schema.json
topology: 1
name: aurora
data_dir: ../data
discover:
  - { glob: ../apps/*/manifest.yaml, trusted: true }
apps:
  im.polaris.qq:
    env: { ONEBOT_URL: "\${ONEBOT_URL:-http://127.0.0.1:3000}" }
    call_timeout: 10s
    instance: qq-server-01
  org.example.search:
    mcp: { transport: http, url: "https://mcp.example.org/mcp", headers: { Authorization: "Bearer \${SEARCH_TOKEN}" } }
    tools: { include: ["find_*"], exclude: ["find_private"], rename: { find_all: search_all } }
    isolation: session
    grants:
      roots: ["../files"]
      sampling: { forward: true, rate: 5/min }
    subscribe: ["repo://main"]
defaults: { start_timeout: 60s, call_timeout: 30 }
policies: [policies/*.yaml]
signals: [signals/*.yaml]
inbox: { sink: file, receipts: inbox, fsync: true, max_pending: 50000 }
exports:
  - { format: openai, file: ../generated/tools/openai.json, budget_tokens: 20000 }
gateway:
  listen: "127.0.0.1:\${PORT}"
  clients: [{ name: bot, token_file: ../data/run/bot.token, tools: { exclude: ["im.polaris.qq/*"] } }]
limits: { result_bytes: 32MiB, tools_per_app: 10000 }
reload: auto
log: { level: info }
`,
    "topology/policies/main.yaml": `rules:
  - id: friends-group
    apps: [im.polaris.qq]
    tools: ["send_*"]
    args: { target: { equals: "group:123456" }, text: { max_length: 500 } }
    action: allow
    limits: { rate: 10/min, concurrent: 2, timeout: 20s }
  - { id: no-shell, tools: ["exec", "shell*"], risk: critical }
data_flow: { action: ask, expires: 24h }
`,
    "topology/signals/main.yaml": `rules:
  - id: repo-changed
    when: { method: "notifications/resources/updated", params: { uri: { glob: "repo://*" } } }
    emit: { type: repo.changed, summary: "{params.uri} changed", expires_in: 5m }
  - { id: no-progress, when: { method: notifications/progress }, drop: true }
`,
    "apps/qq/manifest.yaml": `package: im.polaris.qq
name: QQ 应用
version: 0.2.0
type: mcp-server
mcp:
  transport: stdio
  entry: mcp_server.py
  command: ["uv", "run", "python"]
  env: { QQ_TOKEN: "\${file:token.txt}", LIMIT: 10 }
  restart: { enabled: true, max_attempts: 3, backoff_seconds: 2 }
commands:
  - name: send_message
    description: 发送消息
    risk: high
trust: high
`,
  },
};

/** The workspace with another text for one of its files. */
export function withFile(name: string, text: string): Workspace {
  return { ...VALID, files: { ...VALID.files, [name]: text } };
}
