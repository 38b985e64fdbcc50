import { protocolStdout } from "./protocol-stdout.ts";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { AppHost, AppSpec, OpenApp } from "./app.ts";
import { ConfigError, loadConfig, type CommonConfig } from "./config.ts";
import { createLogger, type Logger } from "./logger.ts";
import { appMethods, type Method } from "./methods.ts";
import { RPC, RpcError } from "./rpc-error.ts";

/** How long calls that still run get when the host closes stdin, in milliseconds. */
const LAST_CALLS = 2000;
/** How long the host gets to read what is still to be written, in milliseconds. */
const LAST_WRITE = 1000;

/** Runs an app as an MCP server on stdin and stdout until stdin ends or a signal comes. Exits with 1 on faulty settings. */
export async function serveApp<Config extends CommonConfig>(spec: AppSpec<Config>): Promise<void> {
  const loaded = await orExit(spec.package, () => loadConfig<Config>(spec.config, process.env));
  const log = createLogger(spec.package, { level: loaded.config.log_level, secrets: loaded.secrets });
  process.on("uncaughtException", (error) => {
    log.error(`stopped by a fault: ${error.stack ?? error.message}`);
    process.exit(1);
  });
  for (const note of loaded.notes) log.info(note);

  const subscriptions = new Set<string>();
  let server: Server | undefined;
  const notify = (method: string, params?: Record<string, unknown>): void => {
    server?.notification({ method, ...(params ? { params } : {}) }).catch((error: unknown) => log.warning(`${method} was not sent: ${String(error)}`));
  };
  const host: AppHost = {
    log,
    emit: (event) => notify("aurora/event", { ...event }),
    resourceUpdated: (uri) => {
      if (subscriptions.has(uri)) notify("notifications/resources/updated", { uri });
    },
    resourceListChanged: () => notify("notifications/resources/list_changed"),
  };
  const app = await orExit(spec.package, () => spec.open(loaded.config, host));
  const running = new Set<Promise<unknown>>();
  server = createServer(spec, app, appMethods(spec.package, app, subscriptions, log), running);
  server.oninitialized = () => app.start?.();
  // The message of a parse error quotes the line, which may hold private text.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's server is no EventTarget
  server.onerror = (error) => log.warning(`a message from the host could not be read or answered (${error.name})`);
  stopWithHost(app, running, log);
  await server.connect(new StdioServerTransport(process.stdin, protocolStdout));
  log.info(`${spec.package} ${spec.version} is up`);
}

/** The value, or the end of the process with a line on stderr when the settings are at fault. */
async function orExit<T>(packageName: string, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    createLogger(packageName, { level: "info", secrets: [] }).error(error.message);
    process.exit(1);
  }
}

function createServer(
  spec: Pick<AppSpec<CommonConfig>, "package" | "title" | "version">,
  app: OpenApp,
  methods: ReadonlyMap<string, Method>,
  running: Set<Promise<unknown>>,
): Server {
  const server = new Server(
    { name: spec.package, title: spec.title, version: spec.version },
    {
      capabilities: {
        tools: {},
        ...(app.resources ? { resources: { subscribe: true, listChanged: app.resources.listChanges } } : {}),
        ...(app.prompts ? { prompts: {} } : {}),
        experimental: { "aurora/event": {} },
      },
    },
  );
  // One handler for all methods instead of setRequestHandler: the SDK answers malformed params with -32603, the guide wants -32602.
  server.fallbackRequestHandler = (request, extra) => {
    const method = methods.get(request.method);
    if (!method) throw new RpcError(RPC.methodNotFound, `this app has no method ${request.method}`);
    const answer = method(request.params ?? {}, { signal: extra.signal });
    running.add(answer);
    void answer.catch(() => {}).finally(() => running.delete(answer));
    return answer;
  };
  return server;
}

/** Ends the process when the host closes stdin (calls that run are answered first), stops reading, or sends a signal. */
function stopWithHost(app: OpenApp, running: ReadonlySet<Promise<unknown>>, log: Logger): void {
  let stopping = false;
  const stop = async (reason: string, wait: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log.info(`stopping: ${reason}`);
    await Promise.race([Promise.allSettled(running), new Promise((resolve) => setTimeout(resolve, wait))]);
    // The answers of these calls are written one turn after the calls end.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      await app.stop?.();
    } catch (error) {
      log.error(`while stopping: ${String(error)}`);
    }
    protocolStdout.end(() => process.exit(0));
    // A host that does not read would keep the last answers, and with them this process, for ever.
    setTimeout(() => process.exit(0), LAST_WRITE);
  };
  process.stdin.on("end", () => void stop("stdin ended", LAST_CALLS));
  process.stdin.on("close", () => void stop("stdin closed", LAST_CALLS));
  for (const stream of [process.stdout, protocolStdout]) stream.on("error", () => process.exit(0));
  process.on("SIGTERM", () => void stop("SIGTERM", 0));
  process.on("SIGINT", () => void stop("SIGINT", 0));
}
