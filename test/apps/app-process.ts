import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, expect, vi } from "vitest";
import auroraEvent from "../../schemas/aurora-event.schema.json" with { type: "json" };
import { compileSchema } from "../../src/base/json-schema.ts";
import { builtApp, type BundledApp } from "../support/built-apps.ts";

/** A notification that the app sent. */
export interface Heard {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** A bundled app as a real child process with the SDK's client on it. */
export interface AppProcess {
  readonly client: Client;
  readonly heard: Heard[];
  readonly stdoutLines: string[];
  stderr(): string;
  /** Waits for the next aurora/event of a type that was not waited for before, and checks it against the schema of such events. */
  event(type: string): Promise<Record<string, unknown>>;
  /** Calls a tool by its name without the package; the client checks the result against the output schema. */
  call(tool: string, args?: Record<string, unknown>): Promise<CallResult>;
  /** Closes stdin, as a host does, and returns the exit code. */
  stop(): Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<number | null>;
  /** Stops reading, as a host that died does, and lets the app find out by an answer it cannot give. */
  hangUp(): Promise<number | null>;
}

/** A tool's result as these tests read it. */
export interface CallResult {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: Record<string, unknown>;
  readonly data: Record<string, unknown>;
  readonly content: readonly Record<string, unknown>[];
}

const eventSchema = compileSchema(auroraEvent);

const folders: string[] = [];

/** A new folder, gone when the test file is done. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "aurora-app-"));
  folders.push(folder);
  return folder;
}

afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** Starts an app with nothing of this process's environment but PATH, and reads its tools. */
export async function startApp(app: BundledApp, options: { readonly cwd: string; readonly env?: Record<string, string> }): Promise<AppProcess> {
  const child = spawn(process.execPath, [await builtApp(app)], { cwd: options.cwd, env: { PATH: process.env["PATH"], ...options.env } });
  const exited = once(child, "close").then(([code]) => code as number | null);
  const stdoutLines: string[] = [];
  const heard: Heard[] = [];
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));

  // Writing to an app that has just ended is no fault of the test.
  child.stdin.on("error", () => {});
  const transport: Transport = {
    start: async () => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        stdoutLines.push(line);
        transport.onmessage?.(JSON.parse(line));
      });
    },
    send: async (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    close: async () => transport.onclose?.(),
  };
  const client = new Client({ name: "test", version: "1.0.0" });
  client.fallbackNotificationHandler = async ({ method, params }) => void heard.push({ method, params: params ?? {} });
  const died = exited.then((code): never => {
    throw new Error(`${app} exited with ${code}: ${stderr}`);
  });
  // The client reads the output schemas here and checks every later result against them.
  await Promise.race([died, client.connect(transport).then(() => client.listTools())]);
  died.catch(() => {});

  const taken = new Set<Heard>();
  return {
    client,
    heard,
    stdoutLines,
    stderr: () => stderr,
    event: async (type) => {
      const isNew = (one: Heard): boolean => one.method === "aurora/event" && one.params["type"] === type && !taken.has(one);
      const find = (): Heard => {
        const found = heard.find(isNew);
        if (!found) throw new Error(`no ${type} event; heard ${JSON.stringify(heard)}; stderr ${stderr}`);
        return found;
      };
      const found = await vi.waitFor(find, { timeout: 10_000, interval: 20 });
      taken.add(found);
      expect(eventSchema.ok && eventSchema.schema.validate(found.params)).toEqual([]);
      return found.params;
    },
    call: async (tool, args = {}) => {
      const result = await client.callTool({ name: `im.polaris.${app}.${tool}`, arguments: args });
      const content = result.content as Record<string, unknown>[];
      const structured = result.structuredContent as Record<string, unknown>;
      return {
        isError: result.isError === true,
        text: String(content[0]?.["text"]),
        structured,
        data: (structured["data"] ?? {}) as Record<string, unknown>,
        content,
      };
    },
    stop: () => {
      child.stdin.end();
      return exited;
    },
    kill: (signal) => {
      child.kill(signal);
      return exited;
    },
    hangUp: () => {
      child.stdout.destroy();
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: "last", method: "ping" })}\n`);
      return exited;
    },
  };
}
