import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { createConnector } from "../../src/mcp/connector.ts";
import type { ConnectorOptions } from "../../src/mcp/connector.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { AppPlan } from "../../src/plan/types.ts";
import type { Connection, ConnectionHooks, Connector, Logger } from "../../src/runtime/ports.ts";
import { appPlan } from "../support/app-plan.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Runs when the test is over, last registered first. */
export function atEnd(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** A new folder, gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "aurora-mcp-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** A connector with a data folder of its own; what is left running is killed after the test. */
export function connectorFor(options: Partial<ConnectorOptions> = {}): Connector {
  const connector = createConnector({
    dataDir: options.dataDir ?? temporaryFolder(),
    clientName: "test",
    clientVersion: "0",
    listLimits: () => ({ toolsPerApp: 10_000, listPages: 200 }),
    hostEnv: process.env,
    log: silent,
    mask: (text) => text,
    ...options,
  });
  atEnd(() => connector.killAll());
  return connector;
}

/** A connection and everything it told. */
export interface Opened {
  readonly connection: Connection;
  readonly connector: Connector;
  readonly stderr: string[];
  readonly notes: string[];
  readonly protocolErrors: string[];
}

/** Connects to a server and records what the connection tells; it is closed after the test. */
export async function open(
  connect: AppPlan["connect"],
  parts: Partial<AppPlan> = {},
  options: { readonly connector?: Connector; readonly hooks?: ConnectionHooks; readonly scope?: string } = {},
): Promise<Opened> {
  const connector = options.connector ?? connectorFor();
  const stderr: string[] = [];
  const notes: string[] = [];
  const protocolErrors: string[] = [];
  const hooks: ConnectionHooks = {
    onLog: (line, source) => (source === "stderr" ? stderr : notes).push(line),
    onProtocolError: (message) => protocolErrors.push(message),
    ...options.hooks,
  };
  const connection = await connector.connect(appPlan(connect, parts), options.scope ?? "shared", hooks, new AbortController().signal);
  atEnd(() => connection.close({ force: true }));
  return { connection, connector, stderr, notes, protocolErrors };
}

/** Method and params of a tool call, for `request`. */
export function toolCall(name = "echo", args: object = {}): [string, JsonObject] {
  return ["tools/call", { name, arguments: args as JsonObject }];
}

/** The text of the first content block of a tool result. */
export function textOf(result: unknown): string {
  return (result as { content: { text: string }[] }).content[0]!.text;
}

/** Waits until `check` gives a truthy value; fails after `ms`. */
export async function until<T>(check: () => T | false | null | undefined | Promise<T | false | null | undefined>, ms = 5000): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error(`nothing after ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
