/* Made from schemas/app.schema.json by `npm run generate`. Do not edit. */

/**
 * The app's unique name, dotted, for example im.polaris.weather. Policies, pins, audit and events speak of it.
 *
 * This interface was referenced by `AppManifest`'s JSON-Schema
 * via the `definition` "package".
 */
export type Package = string;
/**
 * Static documentation of the tools; the truth at run time is tools/list. `apps check` compares the two.
 */
export type Commands = ManifestCommand[];
/**
 * Resource URIs whose updates become AMP events.
 */
export type Subscribe = string[];
/**
 * A number of seconds, or a string such as 250ms, 10s, 5m, 1h.
 *
 * This interface was referenced by `AppManifest`'s JSON-Schema
 * via the `definition` "duration".
 */
export type Duration = number | string;
/**
 * A number of bytes, or a string such as 64KiB, 4MiB.
 *
 * This interface was referenced by `AppManifest`'s JSON-Schema
 * via the `definition` "size".
 */
export type Size = number | string;

/**
 * apps/<name>/manifest.yaml: one app is one MCP server (guide 15.1).
 */
export interface AppManifest {
  package: Package;
  /**
   * Kind of app; must be mcp-server. A manifest without it and without mcp is a legacy app and is skipped.
   */
  type?: "mcp-server";
  mcp: McpSettings;
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
  /**
   * More environment variables of the child; merged over mcp.env.
   */
  env?: Env;
  /**
   * Instance name in events (header.source.instance). Default: the package name.
   */
  instance?: string;
  /**
   * How long the server may take from spawn to a listed catalogue.
   */
  start_timeout?: Duration;
  /**
   * How long a call may go without an answer or progress.
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
  /**
   * Older AuroraBot key; accepted and unused.
   */
  brain_version?: {
    [k: string]: unknown;
  };
  /**
   * Older AuroraBot key; accepted and unused.
   */
  app_desc?: {
    [k: string]: unknown;
  };
  /**
   * Older AuroraBot key; accepted and unused.
   */
  author?: {
    [k: string]: unknown;
  };
  /**
   * Older AuroraBot key; accepted and unused.
   */
  license?: {
    [k: string]: unknown;
  };
  /**
   * Older AuroraBot key; accepted and unused.
   */
  homepage?: {
    [k: string]: unknown;
  };
  /**
   * Older AuroraBot key; accepted and unused.
   */
  icon?: {
    [k: string]: unknown;
  };
}
/**
 * How the server is reached: a child process (stdio) or a URL (http).
 *
 * This interface was referenced by `AppManifest`'s JSON-Schema
 * via the `definition` "mcp".
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
  /**
   * Environment variables of the child, by name.
   */
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
  /**
   * How long a health probe may take; any answer proves life. A server without running calls is probed every 30 s, any server at once when a call timed out and not a word came meanwhile.
   */
  health_timeout?: Duration;
  restart?: RestartSettings;
  /**
   * overlap: the new server is up before the old one goes. stop_first: the old one stops first, for servers that hold a lock or a port.
   */
  handover?: "overlap" | "stop_first";
  /**
   * Largest message that the server may send on stdout, for this app.
   */
  line_bytes?: Size;
}
/**
 * How an http app is signed in to: a bearer token, or OAuth 2.1.
 *
 * This interface was referenced by `AppManifest`'s JSON-Schema
 * via the `definition` "auth".
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
 * Environment variables by name. Numbers and booleans are taken as they are written.
 *
 * This interface was referenced by `AppManifest`'s JSON-Schema
 * via the `definition` "env".
 */
export interface Env {
  [k: string]: string;
}
/**
 * Settings that a manifest and a topology entry may both have.
 *
 * This interface was referenced by `AppManifest`'s JSON-Schema
 * via the `definition` "settings".
 */
export interface AppSettings {
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
  /**
   * More environment variables of the child; merged over mcp.env.
   */
  env?: Env;
  /**
   * Instance name in events (header.source.instance). Default: the package name.
   */
  instance?: string;
  /**
   * How long the server may take from spawn to a listed catalogue.
   */
  start_timeout?: Duration;
  /**
   * How long a call may go without an answer or progress.
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
 * An entry under apps in topology.yaml: overrides for a discovered app, or a whole declaration. Maps merge by key (null removes one), scalars and lists replace.
 *
 * This interface was referenced by `AppManifest`'s JSON-Schema
 * via the `definition` "entry".
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
  /**
   * More environment variables of the child; merged over mcp.env.
   */
  env?: Env;
  /**
   * Instance name in events (header.source.instance). Default: the package name.
   */
  instance?: string;
  /**
   * How long the server may take from spawn to a listed catalogue.
   */
  start_timeout?: Duration;
  /**
   * How long a call may go without an answer or progress.
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
