import { nearest } from "../base/text.ts";
import type { Shape } from "./shape.ts";

/** Words that people bring from other tools, with what they are called here. The first that is allowed at the place is offered. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  environment: ["env"],
  environ: ["env"],
  envs: ["env"],
  env_vars: ["env"],
  inheritenv: ["inherit_env"],
  env_passthrough: ["inherit_env"],
  cmd: ["command"],
  exec: ["command"],
  program: ["command"],
  executable: ["command"],
  arguments: ["args"],
  argv: ["args"],
  params: ["args"],
  timeout: ["call_timeout", "timeout", "health_timeout"],
  timeout_ms: ["call_timeout"],
  timeoutms: ["call_timeout"],
  request_timeout: ["call_timeout"],
  startup_timeout: ["start_timeout"],
  starttimeout: ["start_timeout"],
  idlettl: ["call_timeout"],
  working_dir: ["cwd"],
  workdir: ["cwd"],
  working_directory: ["cwd"],
  dir: ["cwd", "dir", "data_dir"],
  endpoint: ["url"],
  uri: ["url"],
  address: ["url", "listen"],
  server_url: ["url"],
  httpurl: ["url"],
  serverurl: ["url"],
  http_headers: ["headers"],
  header: ["headers"],
  authh: ["auth"],
  token: ["bearer", "token_file"],
  bearer_token: ["bearer"],
  api_key: ["bearer", "api_key"],
  servers: ["apps"],
  mcpservers: ["apps"],
  mcp_servers: ["apps"],
  applications: ["apps"],
  include: ["include", "discover"],
  manifests: ["discover"],
  policy: ["policies"],
  rules: ["policies"],
  mappings: ["signals", "rules"],
  signal: ["signals"],
  alwaysallow: ["tools"],
  autoapprove: ["tools"],
  allowed_tools: ["tools", "include"],
  allow: ["include", "action"],
  deny: ["exclude", "action"],
  effect: ["action"],
  decision: ["action"],
  tool: ["tools"],
  app: ["apps", "app"],
  server: ["apps", "app"],
  resource: ["resources"],
  prompt: ["prompts"],
  client: ["clients"],
  arguments_match: ["args"],
  risk_level: ["risk"],
  severity: ["risk"],
  description: ["reason", "description"],
  name: ["id", "name"],
  regex: ["matches"],
  pattern: ["matches", "glob"],
  in: ["one_of"],
  enum: ["one_of"],
  eq: ["equals"],
  value: ["equals"],
  type: ["transport"],
  protocol_version: ["protocol"],
  port: ["listen"],
  host: ["listen"],
  bind: ["listen"],
  loglevel: ["log_level", "level"],
  restart_policy: ["restart"],
  retries: ["max_attempts"],
  max_retries: ["max_attempts"],
  backoff: ["backoff_seconds"],
  data: ["data_dir"],
  match: ["when"],
  on: ["when"],
  output: ["file", "exports"],
  path: ["file", "glob", "dir"],
};

/** Keys whose counterpart has the opposite sense. */
const OPPOSITES: Readonly<Record<string, string>> = { disabled: "enabled: false", disable: "enabled: false", active: "enabled", inactive: "enabled: false" };

/** What an unknown key was probably meant to be. */
export interface KeySuggestion {
  /** Words for the caret line. */
  readonly label: string;
  /** The key of this map that was meant, or under which the key belongs. */
  readonly key?: string;
}

/** What an unknown key was probably meant to be; undefined when nothing is near. */
export function suggestKey(key: string, shape: Shape, parents: readonly { readonly name: string; readonly shape: Shape }[]): KeySuggestion | undefined {
  const word = key.toLowerCase().replaceAll("-", "_");
  const opposite = Object.hasOwn(OPPOSITES, word) ? OPPOSITES[word]! : undefined;
  if (opposite && shape.properties.has("enabled")) return { label: `did you mean "${opposite}"?` };
  const alias = Object.hasOwn(ALIASES, word) ? ALIASES[word]!.find((name) => shape.properties.has(name)) : undefined;
  if (alias) return { label: `did you mean "${alias}"?`, key: alias };
  const candidates = allowedKeys(shape);
  const exact = nearest(key, candidates, 1)[0];
  if (exact && exact.replaceAll("_", "") === word.replaceAll("_", "")) return { label: `did you mean "${exact}"?`, key: exact };
  for (const [name, child] of shape.properties) if (child.properties.has(word)) return { label: `"${word}" belongs under "${name}"`, key: name };
  const parent = parents.findLast((p) => p.shape.properties.has(word));
  if (parent) return { label: parent.name === "" ? `"${word}" belongs at the top level` : `"${word}" belongs directly under "${parent.name}"` };
  if (exact) return { label: `did you mean "${exact}"?`, key: exact };
  for (const [name, child] of shape.properties) {
    const inner = (Object.hasOwn(ALIASES, word) ? ALIASES[word]! : []).find((n) => child.properties.has(n)) ?? nearest(key, child.properties.keys(), 1)[0];
    if (inner && child.title !== undefined && name === "mcp") return { label: `did you mean "${inner}" under "${name}"?` };
  }
  return undefined;
}

/** The keys that may stand in a map, sorted, without those kept only for old files. */
export function allowedKeys(shape: Shape): string[] {
  return [...shape.properties]
    .filter(([, child]) => !child.legacy)
    .map(([key]) => key)
    .sort();
}

/** A list of words for a help line, cut when it is long. */
export function wordList(words: readonly string[], most = 30): string {
  return words.length <= most ? words.join(", ") : `${words.slice(0, most).join(", ")}, …`;
}

/** The allowed word that a value was probably meant to be. */
export function suggestValue(value: unknown, choices: readonly (string | number | boolean)[]): string | undefined {
  if (value === false && choices.includes("off")) return "off";
  if (value === true && choices.includes("auto")) return "auto";
  const synonyms: Readonly<Record<string, string>> = {
    sse: "http",
    "streamable-http": "http",
    streamable_http: "http",
    streamablehttp: "http",
    https: "http",
    local: "stdio",
    block: "deny",
    forbid: "deny",
    reject: "deny",
    permit: "allow",
    confirm: "ask",
    prompt: "ask",
    disabled: "off",
    none: "off",
    never: "off",
    warning: "warn",
    moderate: "medium",
    severe: "critical",
  };
  const words = choices.map(String);
  const word = String(value).toLowerCase();
  const synonym = Object.hasOwn(synonyms, word) ? synonyms[word] : undefined;
  return synonym && words.includes(synonym) ? synonym : nearest(String(value), words, 1)[0];
}
