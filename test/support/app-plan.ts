import { fileURLToPath } from "node:url";
import type { AppPlan, HttpSpec, StdioSpec } from "../../src/plan/types.ts";

/** The folder of the test servers. */
export const SERVERS = fileURLToPath(new URL("./servers/", import.meta.url));

/** An app plan for tests, with short times and the given parts replaced. */
export function appPlan(connect: AppPlan["connect"], parts: Partial<AppPlan> = {}): AppPlan {
  return {
    package: "org.example.app",
    name: "app",
    version: null,
    instance: "app",
    trust: "medium",
    connect,
    protocol: "auto",
    isolation: "shared",
    grants: {},
    handover: "overlap",
    restart: { enabled: true, maxAttempts: 3, backoffMs: 100 },
    healthTimeoutMs: 1000,
    startTimeoutMs: 10_000,
    callTimeoutMs: 5000,
    maxTotalTimeoutMs: 20_000,
    drainTimeoutMs: 1000,
    maxConcurrentCalls: 100,
    maxSessions: 100,
    include: null,
    exclude: [],
    rename: {},
    manifestRisks: {},
    commands: [],
    subscribe: [],
    outputCheck: "lenient",
    logLevel: null,
    source: "apps/app/manifest.yaml",
    digests: { live: "", relist: "", reconnect: "", restart: "", host: "" },
    ...parts,
  };
}

/** How to start a program as a stdio server. */
export function stdioSpec(command: string, args: readonly string[], parts: Partial<StdioSpec> = {}): StdioSpec {
  return { transport: "stdio", command, args, cwd: SERVERS, env: {}, inheritEnv: [], lineBytes: 64 * 1024 * 1024, ...parts };
}

/** How to start the scripted server (servers/scripted.mjs) with a script. */
export function scripted(script: object, parts: Partial<StdioSpec> = {}): StdioSpec {
  return stdioSpec(process.execPath, ["scripted.mjs", JSON.stringify(script)], parts);
}

/** How to reach a server by URL. */
export function httpSpec(url: string, parts: Partial<HttpSpec> = {}): HttpSpec {
  return { transport: "http", url, headers: {}, bearer: null, oauth: null, ca: null, insecure: false, bodyBytes: 32 * 1024 * 1024, ...parts };
}
