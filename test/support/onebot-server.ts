import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";

/** An action that was called over HTTP. */
export interface OneBotCall {
  readonly action: string;
  readonly params: Record<string, unknown>;
}

/** A local OneBot v11: HTTP actions and forward WebSocket events on one port. */
export interface OneBotServer {
  readonly url: string;
  readonly wsUrl: string;
  readonly port: number;
  readonly calls: OneBotCall[];
  /** Handshakes that were tried, accepted or not. */
  handshakes(): number;
  /** Listeners that are connected now. */
  listeners(): number;
  /** Sends an event, or a raw text, to every listener. */
  push(event: Record<string, unknown> | string): void;
  /** Answers an action in another way: a status and body, or "hang" for never, or "cut" for a broken connection. */
  answer(action: string, how: { readonly status: number; readonly body: unknown } | "hang" | "cut"): void;
  /** Cuts every event connection. */
  cutListeners(): void;
  close(): Promise<void>;
}

/** The number of the bot that the server says it is. */
export const SELF_ID = 10001;

/** Starts on a free loopback port, or the one given. With a token, both doors ask for it as OneBot v11 says: 401 without, 403 for a wrong one. */
export async function startOneBotServer(options: { readonly token?: string; readonly port?: number } = {}): Promise<OneBotServer> {
  const calls: OneBotCall[] = [];
  const answers = new Map<string, { readonly status: number; readonly body: unknown } | "hang" | "cut">();
  let handshakes = 0;
  let messages = 0;
  const refusal = (header: string | undefined): number | undefined => {
    if (options.token === undefined || header === `Bearer ${options.token}`) return undefined;
    return header === undefined ? 401 : 403;
  };

  const normal = (action: string): { readonly status: number; readonly body: unknown } => {
    const ok = (data: unknown): { status: number; body: unknown } => ({ status: 200, body: { status: "ok", retcode: 0, data } });
    if (action === "get_login_info") return ok({ user_id: SELF_ID, nickname: "极光" });
    if (action === "send_group_msg" || action === "send_private_msg") return ok({ message_id: (messages += 1) });
    return { status: 404, body: "" };
  };

  const http = createServer((request, response) => {
    const refused = refusal(request.headers.authorization);
    if (refused !== undefined) return void response.writeHead(refused).end();
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const action = (request.url ?? "/").slice(1);
      calls.push({ action, params: text === "" ? {} : JSON.parse(text) });
      const how = answers.get(action) ?? normal(action);
      if (how === "hang") return;
      if (how === "cut") return void request.socket.destroy();
      response.writeHead(how.status, { "content-type": "application/json" }).end(typeof how.body === "string" ? how.body : JSON.stringify(how.body));
    });
  });

  const listeners = new Set<WebSocket>();
  const events = new WebSocketServer({ noServer: true });
  http.on("upgrade", (request, socket, head) => {
    handshakes += 1;
    // A client that hangs up in the middle of a refusal.
    socket.on("error", () => {});
    const refused = refusal(request.headers.authorization);
    if (refused !== undefined) return void socket.end(`HTTP/1.1 ${refused} Refused\r\nconnection: close\r\n\r\n`);
    events.handleUpgrade(request, socket, head, (listener) => {
      listeners.add(listener);
      listener.on("close", () => listeners.delete(listener));
      listener.send(JSON.stringify({ time: 1, self_id: SELF_ID, post_type: "meta_event", meta_event_type: "lifecycle", sub_type: "connect" }));
    });
  });

  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = http.address() as AddressInfo;
  const cutListeners = (): void => {
    for (const listener of listeners) listener.terminate();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    port,
    calls,
    handshakes: () => handshakes,
    listeners: () => listeners.size,
    push: (event) => {
      for (const listener of listeners) listener.send(typeof event === "string" ? event : JSON.stringify(event));
    },
    answer: (action, how) => void answers.set(action, how),
    cutListeners,
    close: async () => {
      cutListeners();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
