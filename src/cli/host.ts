import { ControlError } from "../control/client-http.ts";
import type { ControlClient } from "../control/client.ts";
import type { CallOptions, Kit, ReadResult } from "../kit-api.ts";
import type { JsonObject } from "../base/json.ts";

/** What commands ask of a host: the running one through its HTTP door, or a kit started for one command. */
export type Host = Pick<
  ControlClient,
  | "status"
  | "restartApp"
  | "appLog"
  | "followLog"
  | "toolRows"
  | "call"
  | "explain"
  | "resources"
  | "readResource"
  | "prompts"
  | "getPrompt"
  | "approvals"
  | "decideApproval"
  | "sessions"
  | "clearSession"
  | "reload"
  | "apply"
  | "plan"
  | "lockDiff"
  | "lockAccept"
  | "events"
> & {
  /** Exported tools; warnings where the host tells them. */
  tools(...input: Parameters<ControlClient["tools"]>): Promise<{ readonly text: string; readonly etag: string; readonly warnings?: readonly string[] }>;
};

/** Name of the caller that `call` is, the same as at the HTTP door: whoever asks is never the one who approves. */
const CLIENT = "caller";

/** A kit in this process as a {@link Host}. */
export function localHost(kit: Kit): Host {
  return {
    status: async () => kit.status(),
    restartApp: (app) => kit.restartApp(app),
    appLog: async (app, tail) => lastLines(kit.appLog(app), tail),
    followLog: (app, onLine, { tail, signal }) => {
      for (const line of lastLines(kit.appLog(app), tail)) onLine(line);
      return until(signal, kit.onAppLog(app, onLine));
    },
    toolRows: async () => kit.toolRows(),
    tools: async (format, options = {}) => kit.tools(format, options),
    async call(tool, args, input = {}) {
      const { durationMs, callId, ...call } = await kit.callTool(tool, args, callOptions(input));
      return { ...call, duration_ms: durationMs, call_id: callId };
    },
    explain: async (tool, options) => kit.explain(tool, options),
    resources: async () => ({ resources: kit.listResources(), templates: kit.listTemplates() }),
    readResource: async (uri, { app, ...input } = {}) =>
      resultOf(await kit.readResource(uri, { ...callOptions(input), ...(app === undefined ? {} : { app }) })),
    prompts: async () => kit.listPrompts(),
    getPrompt: async (name, args, input = {}) => resultOf(await kit.getPrompt(name, args, callOptions(input))),
    approvals: async (all = false) => kit.listApprovals({ all }),
    decideApproval: (...decision) => kit.decideApproval(...decision),
    sessions: async () => kit.listSessions(),
    clearSession: (client, session) => kit.clearSession(client, session),
    reload: () => kit.reload(),
    apply: () => kit.reload({ apply: true }),
    plan: () => kit.plan(),
    lockDiff: async () => kit.lockDiff(),
    lockAccept: (selection) => kit.lockAccept(selection),
    events: (onEvent, { signal }) =>
      until(
        signal,
        kit.on("envelope", (envelope) => onEvent({ event: "envelope", data: envelope as unknown as JsonObject })),
      ),
  };
}

function callOptions(input: NonNullable<Parameters<Host["call"]>[2]>): CallOptions {
  return { client: CLIENT, ...input };
}

function lastLines(lines: readonly string[], tail: number | undefined): string[] {
  return tail === undefined ? [...lines] : tail === 0 ? [] : lines.slice(-tail);
}

/** The result, or its fault thrown as the HTTP door throws it. */
function resultOf(read: ReadResult): JsonObject {
  if (read.result !== null) return read.result;
  throw new ControlError(502, read.error ?? { ok: false, error_code: "INTERNAL", message: "the app gave no result", retryable: false, source: "kit" });
}

function until(signal: AbortSignal, stop: () => void): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stop();
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
