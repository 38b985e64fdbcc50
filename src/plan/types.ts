import type { Json } from "../base/json.ts";
import type { ParkedApp } from "../config/types.ts";
import type { Grants } from "../../generated/app.d.ts";
import type { ExportEntry } from "../../generated/topology.d.ts";
import type { PolicyRules } from "../policy/rules.ts";
import type { SignalRules } from "../amp/mapping.ts";
import type { Glob } from "../base/glob.ts";
import type { Risk, Trust } from "../tools/types.ts";

/** How a stdio server is started. All paths absolute, nothing left to look up but the program on PATH. */
export interface StdioSpec {
  readonly transport: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Names of host variables passed on beside the safe basics. */
  readonly inheritEnv: readonly string[];
  readonly lineBytes: number;
}

/** How an http server is reached. */
export interface HttpSpec {
  readonly transport: "http";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bearer: string | null;
  readonly oauth: Readonly<Record<string, Json>> | null;
  readonly ca: string | null;
  readonly insecure: boolean;
  /** Largest response body, inflated. */
  readonly bodyBytes: number;
}

/** What each class of change touches (contracts 8); `x-reload` in the schemas says which field has which. */
export type ReloadClass = "live" | "relist" | "reconnect" | "restart" | "host";

/** One app, compiled: nothing left to look up. Frozen. */
export interface AppPlan {
  readonly package: string;
  readonly name: string;
  readonly version: string | null;
  readonly instance: string;
  readonly trust: Trust;
  readonly connect: StdioSpec | HttpSpec;
  readonly protocol: "auto" | "legacy" | "modern";
  readonly isolation: "shared" | "session";
  readonly grants: Grants;
  readonly handover: "overlap" | "stop_first";
  readonly restart: { readonly enabled: boolean; readonly maxAttempts: number; readonly backoffMs: number };
  readonly healthTimeoutMs: number;
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly maxTotalTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly maxConcurrentCalls: number;
  /** Connections of calling sessions at the same time, where the app is isolated. */
  readonly maxSessions: number;
  readonly include: readonly Glob[] | null;
  readonly exclude: readonly Glob[];
  readonly rename: Readonly<Record<string, string>>;
  /** Risks of a trusted manifest's commands, by the server's own tool name. */
  readonly manifestRisks: Readonly<Record<string, Risk>>;
  readonly commands: readonly { readonly name: string; readonly description: string | null }[];
  readonly subscribe: readonly string[];
  readonly outputCheck: "strict" | "lenient";
  readonly logLevel: string | null;
  /** Where it is declared, for print. */
  readonly source: string;
  /** Digest of the fields of each class, with secrets keyed: equal digests mean nothing of that class changed. */
  readonly digests: Readonly<Record<ReloadClass, string>>;
}

export interface InboxPlan {
  readonly sink: "file" | "off";
  readonly dir: string;
  readonly format: "amp" | "app_event";
  /** `inbox`, `off`, or an absolute folder. */
  readonly receipts: string;
  readonly resources: "subscribed" | "all" | "off";
  readonly fsync: boolean;
  readonly maxPending: number;
  readonly webhook: { readonly url: string; readonly secret: string | null } | null;
}

/** One export file, path absolute. */
export type ExportPlan = Readonly<ExportEntry>;

export interface GatewayPlan {
  readonly host: string;
  readonly port: number;
  readonly naming: "short" | "full" | "none";
  readonly authMode: "token" | "none";
  readonly denied: "hide" | "refuse";
  readonly invalidArguments: "error" | "result";
  readonly clients: readonly {
    readonly name: string;
    readonly tokenFile: string;
    readonly include: readonly string[] | null;
    readonly exclude: readonly string[];
  }[];
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly allowInsecureListen: boolean;
  readonly allowedHosts: readonly string[];
}

/** The compiled configuration: frozen, nothing left to look up, with a digest. */
export interface Plan {
  readonly digest: string;
  readonly name: string;
  readonly root: string;
  readonly topologyFile: string;
  readonly dataDir: string;
  /** Sorted by package. */
  readonly apps: ReadonlyMap<string, AppPlan>;
  /** Apps that cannot run as written. One that stands in `apps` too runs on with its last good version. */
  readonly parked: ReadonlyMap<string, ParkedApp>;
  readonly policy: PolicyRules;
  readonly signals: SignalRules;
  readonly inbox: InboxPlan;
  readonly exports: readonly ExportPlan[];
  readonly gateway: GatewayPlan | null;
  readonly lockFile: string;
  readonly pins: "first_use" | "enforce" | "warn" | "off";
  readonly reload: "auto" | "confirm" | "off";
  readonly watch: "auto" | "events" | "poll";
  readonly limits: {
    readonly concurrentStarts: number;
    readonly resultBytes: number;
    readonly messageBytes: number;
    readonly lineBytes: number;
    readonly toolsPerApp: number;
    readonly listPages: number;
  };
  readonly log: { readonly level: "debug" | "info" | "warn" | "error" | "silent"; readonly bodies: "never" | "debug"; readonly chatText: boolean };
  readonly audit: { readonly file: string; readonly arguments: "masked" | "shapes"; readonly maxBytes: number };
  readonly secrets: readonly string[];
  /** Digests of the parts that are not apps, by part; `host` holds one digest per host-class field. */
  readonly digests: {
    readonly policy: string;
    readonly signals: string;
    readonly exports: string;
    readonly live: string;
    readonly host: Readonly<Record<string, string>>;
  };
}

/** What differs between two plans. All lists sorted. */
export interface ChangeSet {
  readonly start: readonly string[];
  readonly stop: readonly string[];
  readonly restart: readonly string[];
  readonly reconnect: readonly string[];
  readonly relist: readonly string[];
  /** Changed only in fields that take effect without touching the connection. */
  readonly live: readonly string[];
  readonly unchanged: readonly string[];
  /** Parked apps whose state or reason changed. */
  readonly parked: readonly string[];
  readonly policy: boolean;
  readonly signals: boolean;
  readonly exports: boolean;
  readonly settings: boolean;
  /** Fields that only a host restart can change, as dotted topology paths. In what a running host reports: all that wait for one, until then. */
  readonly host: readonly string[];
  /** Nothing differs: all lists but `unchanged` are empty, all marks false. */
  readonly empty: boolean;
}
