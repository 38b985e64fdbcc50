import { createHmac } from "node:crypto";
import type { Inbox } from "../runtime/ports.ts";
import type { JsonObject } from "../base/json.ts";
import { openFileInbox, type FileInboxOptions } from "./inbox.ts";
import { GiveUp, readInbox } from "./inbox-reader.ts";

/** Where events are posted. */
export interface WebhookTarget {
  readonly url: string;
  /** Key of the signature; null sends none. A `whsec_` key is base64. */
  readonly secret: string | null;
}

export interface WebhookOptions extends Omit<FileInboxOptions, "dir"> {
  /** Folder that keeps events until they were taken: the same promises as the file inbox. */
  readonly spoolDir: string;
  readonly target: WebhookTarget;
  /** First pause after a failed post; default 1 s, doubling up to 5 min. */
  readonly retryMs?: number;
}

const POST_TIMEOUT_MS = 15_000;

/**
 * Opens an inbox that posts every event to a URL, oldest first, one at a time: HTTP POST of the JSON with `webhook-id`, `webhook-timestamp` and
 * `webhook-signature` headers (docs/inbox.md). Each is posted until the answer is 2xx; a 4xx that asks for no retry sends it to `dead/`.
 */
export async function openWebhook(options: WebhookOptions): Promise<Inbox> {
  const spool = await openFileInbox({ ...options, dir: options.spoolDir });
  const stop = new AbortController();
  const reading = readInbox({
    dir: options.spoolDir,
    signal: stop.signal,
    maxAttempts: Infinity,
    retryMs: options.retryMs ?? 1000,
    ...(options.onProblem ? { onProblem: options.onProblem } : {}),
    handle: ({ id, event }, signal) => post(options.target, id, event, signal),
  });
  reading.catch((error: unknown) => options.onProblem?.(`webhook stopped: ${String(error)}`));
  return {
    put: (envelope, priority) => spool.put(envelope, priority),
    stats: () => spool.stats(),
    configure: (settings) => spool.configure(settings),
    async close() {
      await spool.close();
      stop.abort();
      await reading.catch(() => {});
    },
  };
}

async function post(target: WebhookTarget, id: string, event: JsonObject, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const response = await fetch(target.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      ...(target.secret === null ? {} : { "webhook-signature": signWebhook(target.secret, id, timestamp, body) }),
    },
    body,
    // A redirect would take the event, and its signature, to a place that nobody configured.
    redirect: "manual",
    signal: AbortSignal.any([signal, AbortSignal.timeout(POST_TIMEOUT_MS)]),
  });
  await response.body?.cancel();
  if (response.ok) return;
  const message = `the webhook answered HTTP ${response.status}`;
  if (response.status >= 400 && response.status < 500 && ![401, 403, 404, 408, 409, 425, 429].includes(response.status)) throw new GiveUp(message);
  throw new Error(message);
}

/** The signature header of the Standard Webhooks form: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. */
export function signWebhook(secret: string, id: string, timestamp: string, body: string): string {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret, "utf8");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}

/** Puts every envelope into all of several inboxes; the first one's results and numbers are told, and what is wrong with any. */
export function teeInbox(first: Inbox, others: readonly Inbox[]): Inbox {
  return {
    async put(envelope, priority) {
      const [result] = await Promise.all([first, ...others].map((inbox) => inbox.put(envelope, priority)));
      return result!;
    },
    stats() {
      const stats = first.stats();
      return { ...stats, degraded: stats.degraded ?? others.map((inbox) => inbox.stats().degraded).find((d) => d !== null) ?? null };
    },
    configure(settings) {
      for (const inbox of [first, ...others]) inbox.configure(settings);
    },
    async close() {
      await Promise.all([first, ...others].map((inbox) => inbox.close()));
    },
  };
}
