/* Made from schemas/topology.schema.json by `npm run generate`. Do not edit. */

/**
 * How long a health probe may take; any answer proves life. A server without running calls is probed every 30 s, any server at once when a call timed out and not a word came meanwhile.
 */
export type Duration = number | string;
/**
 * Largest message that the server may send on stdout, for this app.
 */
export type Size = number | string;
/**
 * Static documentation of the tools; the truth at run time is tools/list. `apps check` compares the two.
 */
export type Commands = ManifestCommand[];
/**
 * How long the server may take from spawn to a listed catalogue.
 */
export type Duration1 = number | string;
/**
 * How long a call may go without an answer or progress.
 */
export type Duration2 = number | string;
/**
 * Hard limit of a call, even while progress arrives.
 */
export type Duration3 = number | string;
/**
 * How long running calls may finish on a replaced or removed server.
 */
export type Duration4 = number | string;
/**
 * Resource URIs whose updates become AMP events.
 */
export type Subscribe = string[];
/**
 * A number of seconds, or a string such as 250ms, 10s, 5m, 1h.
 *
 * This interface was referenced by `TopologyConfig`'s JSON-Schema
 * via the `definition` "duration".
 */
export type Duration5 = number | string;
/**
 * A number of bytes, or a string such as 64KiB, 4MiB.
 *
 * This interface was referenced by `TopologyConfig`'s JSON-Schema
 * via the `definition` "size".
 */
export type Size1 = number | string;

/**
 * topology/topology.yaml: which apps run, and how the host behaves.
 */
export interface TopologyConfig {
  /**
   * Format version; 1.
   */
  topology: 1;
  /**
   * Name of this host, in logs and at the gateway.
   */
  name?: string;
  /**
   * Folder of run-time state, relative to this file.
   */
  data_dir?: string;
  /**
   * Where manifests are looked for, relative to this file.
   */
  discover?: (string | DiscoverEntry)[];
  /**
   * By package: overrides for discovered apps, or whole declarations.
   */
  apps?: {
    [k: string]: AppEntry;
  };
  defaults?: Defaults;
  /**
   * Policy files, as globs relative to this file.
   */
  policies?: string[];
  /**
   * Signal mapping files, as globs relative to this file.
   */
  signals?: string[];
  inbox?: InboxSettings;
  /**
   * Tool schema files written on every catalogue change.
   */
  exports?: ExportEntry[];
  gateway?: GatewaySettings;
  limits?: Limits;
  /**
   * auto applies edits at once; confirm waits for `aurora-mcp apply`; off only reloads by command.
   */
  reload?: "auto" | "confirm" | "off";
  /**
   * How edits are seen: auto and events use file events with a periodic check; poll looks at the files in turn.
   */
  watch?: "auto" | "events" | "poll";
  /**
   * first_use pins what a trusted app first shows; enforce shows nothing until accepted; warn only reports changes; off keeps none.
   */
  pins?: "first_use" | "enforce" | "warn" | "off";
  log?: LogSettings;
  audit?: AuditSettings;
}
export interface DiscoverEntry {
  /**
   * A path pattern with * and ?; ** crosses folders.
   */
  glob: string;
  /**
   * Whether trust and risks in the manifests found here count.
   */
  trusted?: boolean;
}
/**
 * An entry under apps in topology.yaml: overrides for a discovered app, or a whole declaration. Maps merge by key (null removes one), scalars and lists replace.
 */
export interface AppEntry {
  mcp?: McpSettings;
  /**
   * Display name, any language.
   */
  name?: string;
  /**
   * The app's version, kept as written.
   */
  version?: string;
  /**
   * What the app does, for people.
   */
  description?: string;
  /**
   * false keeps the app out; it is listed as disabled. A change starts or stops it.
   */
  enabled?: boolean;
  commands?: Commands;
  /**
   * How far the app's words are trusted. In a manifest it counts only where discover says trusted.
   */
  trust?: "high" | "medium" | "low";
  env?: Env1;
  /**
   * Instance name in events (header.source.instance). Default: the package name.
   */
  instance?: string;
  start_timeout?: Duration1;
  call_timeout?: Duration2;
  max_total_timeout?: Duration3;
  drain_timeout?: Duration4;
  /**
   * Calls that may run on this app at the same time; more wait.
   */
  max_concurrent_calls?: number;
  /**
   * Under isolation: session, connections at the same time; the longest unused one makes room. One that is unused for half an hour is closed.
   */
  max_sessions?: number;
  tools?: ToolSelection;
  /**
   * shared: one connection for all. session: one connection per calling client, needed for server-to-client requests.
   */
  isolation?: "shared" | "session";
  grants?: Grants;
  subscribe?: Subscribe;
  /**
   * strict: a result that breaks its outputSchema is an error (default for low trust). lenient: the structured part is dropped and that is said.
   */
  output_check?: "strict" | "lenient";
  /**
   * Asked of the server with logging/setLevel.
   */
  log_level?: "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";
}
/**
 * How the server is reached: a child process (stdio) or a URL (http).
 */
export interface McpSettings {
  /**
   * stdio starts a child process; http speaks Streamable HTTP to a URL. Left out: http where url is given, else stdio.
   */
  transport?: "stdio" | "http";
  /**
   * auto or legacy: initialize, up to 2025-11-25. modern (2026-07-28) is reserved for a later release.
   */
  protocol?: "auto" | "legacy" | "modern";
  /**
   * The server's file, relative to the manifest. Without args, command is run with its absolute path.
   */
  entry?: string;
  /**
   * The program: a list (program and first arguments) or one string, which is the program and is never split.
   */
  command?: string | [string, ...string[]];
  /**
   * Arguments after command. Relative paths in them are taken from the folder that holds topology/.
   */
  args?: string[];
  /**
   * The child's working directory, relative to the file that says it. Default: the folder that holds topology/.
   */
  cwd?: string;
  env?: Env;
  /**
   * Names of the host's environment variables that the child also gets. Only safe basics (PATH, HOME, …) are passed otherwise.
   */
  inherit_env?: string[];
  /**
   * The MCP endpoint of an http app. Plain http beyond loopback needs allow_http.
   */
  url?: string;
  /**
   * Allows a plain http URL beyond loopback.
   */
  allow_http?: boolean;
  /**
   * HTTP headers sent with every request. Values under names that say key, token, secret, cookie or authorization are secrets.
   */
  headers?: {
    [k: string]: string;
  };
  auth?: HttpAuth;
  tls?: TlsClient;
  health_timeout?: Duration;
  restart?: RestartSettings;
  /**
   * overlap: the new server is up before the old one goes. stop_first: the old one stops first, for servers that hold a lock or a port.
   */
  handover?: "overlap" | "stop_first";
  line_bytes?: Size;
}
/**
 * Environment variables of the child, by name.
 */
export interface Env {
  [k: string]: string;
}
/**
 * How an http app is signed in to: a bearer token, or OAuth 2.1.
 */
export interface HttpAuth {
  /**
   * A bearer token, best written as ${NAME} or ${file:path}.
   */
  bearer?: string;
  oauth?: OAuthSettings;
}
/**
 * OAuth 2.1 settings; an empty map uses discovery and dynamic registration.
 */
export interface OAuthSettings {
  /**
   * authorization_code signs a person in with a browser; client_credentials signs the host in by itself.
   */
  grant?: "authorization_code" | "client_credentials";
  /**
   * A registered client's id.
   */
  client_id?: string;
  /**
   * A registered client's secret, best written as ${NAME}.
   */
  client_secret?: string;
  /**
   * A client-id metadata document used instead of registration.
   */
  client_metadata_url?: string;
  /**
   * PEM private key for private_key_jwt, best written as ${file:path}.
   */
  private_key?: string;
  /**
   * Signature algorithm of private_key_jwt.
   */
  signing_algorithm?: string;
  /**
   * The only authorization server that is accepted.
   */
  issuer?: string;
  /**
   * Scopes asked for.
   */
  scopes?: string[];
  /**
   * Loopback port of the sign-in redirect; 0 is any free one.
   */
  redirect_port?: number;
}
/**
 * TLS settings of an http app.
 */
export interface TlsClient {
  /**
   * File with extra certificate authorities (PEM), relative to the file that says it.
   */
  ca?: string;
  /**
   * Accepts any certificate. For tests only.
   */
  insecure?: boolean;
}
/**
 * What happens when the server dies.
 */
export interface RestartSettings {
  /**
   * Whether a dead server is started again.
   */
  enabled?: boolean;
  /**
   * Fast attempts before the app is parked and re-probed slowly.
   */
  max_attempts?: number;
  /**
   * First wait between attempts, in seconds; doubles up to a minute, with jitter.
   */
  backoff_seconds?: number;
}
export interface ManifestCommand {
  /**
   * The tool's name without the package.
   */
  name: string;
  /**
   * Display title.
   */
  title?: string;
  /**
   * What the tool does.
   */
  description?: string;
  /**
   * Risk of the tool; counts only for a trusted app.
   */
  risk?: "low" | "medium" | "high" | "critical";
  /**
   * Older AuroraBot key; accepted and unused.
   */
  parameters?: {
    [k: string]: unknown;
  };
  /**
   * Older AuroraBot key; accepted and unused.
   */
  returns?: {
    [k: string]: unknown;
  };
}
/**
 * More environment variables of the child; merged over mcp.env.
 */
export interface Env1 {
  [k: string]: string;
}
/**
 * Which of the server's tools are shown, and under what name.
 */
export interface ToolSelection {
  /**
   * Globs over the server's own names; only these are shown.
   */
  include?: string[];
  /**
   * Globs over the server's own names; these are not shown.
   */
  exclude?: string[];
  /**
   * The server's own name to the name shown. Policies keep speaking of the own name.
   */
  rename?: {
    [k: string]: string;
  };
}
/**
 * Client features given to this server; all off by default (guide 9).
 */
export interface Grants {
  /**
   * Folders that roots/list shows, by their real paths, relative to the file that says them.
   */
  roots?: string[];
  sampling?: SamplingGrant;
  elicitation?: ElicitationGrant;
}
/**
 * Whether the server may ask for model answers.
 */
export interface SamplingGrant {
  /**
   * Forward to the calling client where it can; needs isolation: session.
   */
  forward?: boolean;
  /**
   * An OpenAI-compatible endpoint that answers instead.
   */
  endpoint?: string;
  /**
   * Key for the endpoint, best written as ${NAME}.
   */
  api_key?: string;
  /**
   * Model named to the endpoint.
   */
  model?: string;
  /**
   * Most tokens per answer.
   */
  max_tokens?: number;
  /**
   * Most requests in a time, for example 5/min.
   */
  rate?: string;
}
/**
 * Whether the server may ask the person questions.
 */
export interface ElicitationGrant {
  /**
   * Forward to the calling client where it can; needs isolation: session.
   */
  forward?: boolean;
  /**
   * Answered by a person from the approvals queue.
   */
  approvals?: boolean;
}
/**
 * Timeouts for every app that does not say its own.
 */
export interface Defaults {
  /**
   * From spawn to a listed catalogue.
   */
  start_timeout?: Duration;
  /**
   * A call without an answer or progress.
   */
  call_timeout?: Duration;
  /**
   * Hard limit of a call, even while progress arrives.
   */
  max_total_timeout?: Duration;
  /**
   * How long running calls may finish on a replaced or removed server.
   */
  drain_timeout?: Duration;
}
/**
 * Where AMP events go (guide 16).
 */
export interface InboxSettings {
  /**
   * file writes one file per event; off writes none.
   */
  sink?: "file" | "off";
  /**
   * The inbox folder, relative to this file. Default: <data_dir>/kernel/inbox/pending.
   */
  dir?: string;
  /**
   * amp, or AuroraBot's older flat app_event.
   */
  format?: "amp" | "app_event";
  /**
   * Where tool receipts go: inbox, off, or a folder relative to this file.
   */
  receipts?: string;
  /**
   * Which resource reads become resource.observed events.
   */
  resources?: "subscribed" | "all" | "off";
  /**
   * Whether each event is on the disk before it counts as written.
   */
  fsync?: boolean;
  /**
   * Files in the inbox above which expired events, then receipts, go to dead/.
   */
  max_pending?: number;
  webhook?: WebhookSink;
}
/**
 * Also posts every event to a URL, signed.
 */
export interface WebhookSink {
  /**
   * Where events are posted.
   */
  url: string;
  /**
   * Key of the signature, best written as ${NAME}.
   */
  secret?: string;
}
export interface ExportEntry {
  /**
   * Target form.
   */
  format:
    | "openai"
    | "openai-responses"
    | "openai-strict"
    | "anthropic"
    | "anthropic-strict"
    | "gemini"
    | "gemini-legacy"
    | "litellm"
    | "mcp"
    | "text";
  /**
   * File written, relative to this file.
   */
  file: string;
  /**
   * Longest tool name, for targets that allow less than 64.
   */
  max_name?: number;
  /**
   * A warning when the schemas cost more tokens than this.
   */
  budget_tokens?: number;
  /**
   * Most tools written; default is the target's own limit.
   */
  max_tools?: number;
  /**
   * sorted writes tools by name; append keeps the tools that the file has in their order and puts new ones at the end, so that a provider's prompt cache keeps its prefix.
   */
  order?: "sorted" | "append";
  /**
   * all writes every tool; search writes search_tools and call_tool instead.
   */
  mode?: "all" | "search";
}
/**
 * The HTTP door: control API, and all apps as one MCP server.
 */
export interface GatewaySettings {
  /**
   * Address and port; port 0 is any free one.
   */
  listen?: string;
  /**
   * short: the names of the exports. full: {package}.{tool}. none: the servers' own; a collision is a start-up error.
   */
  naming?: "short" | "full" | "none";
  auth?: GatewayAuth;
  /**
   * Whether denied tools are hidden from lists or listed and refused.
   */
  denied?: "hide" | "refuse";
  /**
   * Form of a bad-arguments answer: a JSON-RPC error (-32602), or an isError result.
   */
  invalid_arguments?: "error" | "result";
  /**
   * Named callers with a token and a tool selection of their own.
   */
  clients?: GatewayClient[];
  tls?: TlsServer;
  /**
   * Allows listening beyond loopback without TLS, for a proxy that does it.
   */
  allow_insecure_listen?: boolean;
  /**
   * More Host header values that are accepted (name or name:port).
   */
  allowed_hosts?: string[];
}
/**
 * Who may come in.
 */
export interface GatewayAuth {
  /**
   * token needs a bearer token. none lets callers in without one, on loopback only; operators always need theirs.
   */
  mode?: "token" | "none";
}
export interface GatewayClient {
  /**
   * Name of the caller, used by policies' clients.
   */
  name: string;
  /**
   * File with the token, relative to this file; made when missing.
   */
  token_file: string;
  tools?: ClientTools;
}
/**
 * Tools this caller sees, as package/tool globs.
 */
export interface ClientTools {
  /**
   * Only these.
   */
  include?: string[];
  /**
   * Not these.
   */
  exclude?: string[];
}
/**
 * Certificate of the HTTP door; needed to listen beyond loopback.
 */
export interface TlsServer {
  /**
   * Certificate file (PEM), relative to this file.
   */
  cert: string;
  /**
   * Key file (PEM), relative to this file.
   */
  key: string;
}
/**
 * Bounds that keep one server from hurting the rest.
 */
export interface Limits {
  /**
   * Servers started at the same time.
   */
  concurrent_starts?: number;
  /**
   * Largest tool result. Counts at once for programs; apps behind a URL reconnect.
   */
  result_bytes?: Size;
  /**
   * Largest tool message handed to a model; longer ones are cut with a marker.
   */
  message_bytes?: Size;
  /**
   * Largest message on the stdout of a server that does not say its own.
   */
  line_bytes?: Size;
  /**
   * Most tools read from one server.
   */
  tools_per_app?: number;
  /**
   * Most pages read of one list.
   */
  list_pages?: number;
}
/**
 * The host's log, on stderr.
 */
export interface LogSettings {
  /**
   * Least level written.
   */
  level?: "debug" | "info" | "warn" | "error" | "silent";
  /**
   * Whether masked request and response bodies of calls are logged at debug, cut to 16 KiB.
   */
  bodies?: "never" | "debug";
  /**
   * Whether texts of chat messages may stand in logged bodies and in summaries of message.* events; else only their length, and … (guide 11.5).
   */
  chat_text?: boolean;
}
/**
 * The audit log of calls and decisions.
 */
export interface AuditSettings {
  /**
   * File, relative to this file. Default: <data_dir>/audit.jsonl.
   */
  file?: string;
  /**
   * masked keeps arguments with secrets masked; shapes keeps only types and sizes.
   */
  arguments?: "masked" | "shapes";
  /**
   * Size at which the file is rotated.
   */
  max_bytes?: Size;
}
