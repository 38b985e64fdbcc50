import { timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What came back from the browser. */
export interface RedirectAnswer {
  readonly code: string;
  readonly issuer: string | null;
}

/** Waits on loopback for the browser to come back from the authorization server. */
export interface RedirectListener {
  readonly url: string;
  /** Resolves with the answer to the request with this state; rejects when that answer is a refusal or `signal` aborts. Answers with another state are refused and waited past. */
  answer(state: string, signal: AbortSignal): Promise<RedirectAnswer>;
  close(): void;
}

const PATH = "/callback";

/** Opens a listener on 127.0.0.1; `ports` are tried in order, 0 is any free one. */
export async function listenForRedirect(ports: readonly number[]): Promise<RedirectListener> {
  let take: (query: URLSearchParams, response: ServerResponse) => void = (_query, response) => page(response, 503, "Not ready yet.");
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const url = new URL(request.url ?? "/", `http://127.0.0.1:${port}`);
    // Another name for this address is a page that tries to reach into this machine.
    if (request.headers.host !== `127.0.0.1:${port}` || request.method !== "GET" || url.pathname !== PATH) return page(response, 404, "Nothing here.");
    take(url.searchParams, response);
  });
  server.headersTimeout = 10_000;
  await listenOnFirst(server, ports);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    answer: (state, signal) =>
      new Promise((resolve, reject) => {
        const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error("the sign-in was cancelled"));
        if (signal.aborted) return stop();
        signal.addEventListener("abort", stop, { once: true });
        take = (query, response) => {
          if (!sameText(query.get("state") ?? "", state)) return page(response, 400, "This answer does not belong to the sign-in that is under way.");
          signal.removeEventListener("abort", stop);
          const code = query.get("code");
          if (code !== null && !query.has("error")) {
            page(response, 200, "Signed in. You may close this window.");
            return resolve({ code, issuer: query.get("iss") });
          }
          page(response, 400, "The sign-in was refused. You may close this window.");
          reject(new Error(`the authorization server refused the sign-in: ${query.get("error_description") ?? query.get("error") ?? "no code"}`));
        };
      }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listenOnFirst(server: ReturnType<typeof createServer>, ports: readonly number[]): Promise<void> {
  for (const [index, port] of ports.entries()) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, "127.0.0.1", () => {
          server.off("error", reject);
          resolve();
        });
      });
      return;
    } catch (error) {
      if (index === ports.length - 1) throw error;
    }
  }
}

function page(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(`${text}\n`);
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
