import { isObject } from "../base/json.ts";
import { createMasker, type Masker } from "../base/masking.ts";
import { LinkError } from "../runtime/ports.ts";
import type { HttpRequest } from "./http-client.ts";
import type { Wire, WireMessage } from "./wire.ts";

/** Enough for the tokens before and after a renewal, and the cookies of a load balancer. */
const MOST = 60;
const SECRET_FIELDS = ["refresh_token", "client_secret", "client_assertion", "code", "code_verifier", "token"];

/**
 * What one HTTP connection has sent that no configuration holds: tokens of a sign-in, cookies, the id of its session. A server may say any of
 * it back. Known for this connection alone, so no server makes others' words unreadable; the last few only.
 */
export class SentSecrets {
  /** Tokens; and tokens, cookies and session ids. */
  readonly #tokens = new Recent();
  readonly #all = new Recent();

  /** Learns what is secret in a request that goes out. */
  remember({ headers, body }: Pick<HttpRequest, "headers" | "body">): void {
    const { authorization, cookie = "", "mcp-session-id": session } = headers;
    const token = authorization?.replace(/^\S+\s+/, "");
    const form = headers["content-type"]?.includes("urlencoded") === true ? new URLSearchParams(body) : null;
    const tokens = [token, ...SECRET_FIELDS.map((name) => form?.get(name))].filter((text) => typeof text === "string");
    const cookies = cookie.split(";").map((pair) => pair.slice(pair.indexOf("=") + 1).trim());
    this.#tokens.add(tokens);
    this.#all.add([...tokens, ...cookies, ...(session === undefined ? [] : [session])]);
  }

  /** The text without any of it. */
  text(input: string): string {
    return this.#all.masker.text(input);
  }

  /** The error with its words and data without any of it. */
  error(error: LinkError): LinkError {
    const { kind, sent, code, data, retryAfterMs, cause } = error;
    return new LinkError(kind, this.text(error.message), {
      sent,
      ...(code === undefined ? {} : { code }),
      ...(data === undefined ? {} : { data: this.#all.masker.known(data) }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      cause,
    });
  }

  /** The message without tokens; an error also without cookies and the session's id, which in results may be what a caller needs to give back. */
  message(message: WireMessage): WireMessage {
    return (isObject(message["error"]) ? this.#all : this.#tokens).masker.known(message);
  }
}

/** The last secrets of a kind; a new masker is made only when there is a new one. */
class Recent {
  masker: Masker = createMasker();
  #values = new Set<string>();

  add(values: readonly string[]): void {
    const fresh = values.filter((value) => value.length >= 8 && !this.#values.has(value));
    if (fresh.length === 0) return;
    this.#values = new Set([...this.#values, ...fresh].slice(-MOST));
    this.masker = createMasker(this.#values);
  }
}

/** A wire that hands on what another one hears, without what that one has sent in secret. */
export class ConcealedWire implements Wire {
  onmessage?: ((message: WireMessage) => void) | undefined;
  onlost?: ((id: number | string | null, error: LinkError) => void) | undefined;
  onclose?: Wire["onclose"];
  onerror?: ((error: Error) => void) | undefined;
  readonly #wire: Wire;
  readonly #secrets: SentSecrets;

  constructor(wire: Wire, secrets: SentSecrets) {
    this.#wire = wire;
    this.#secrets = secrets;
    wire.onmessage = (message) => this.onmessage?.(secrets.message(message));
    wire.onlost = (id, error) => this.onlost?.(id, secrets.error(error));
    wire.onclose = (reason) => this.onclose?.({ ...reason, message: secrets.text(reason.message) });
    wire.onerror = (error) => this.onerror?.(error);
  }

  start(): Promise<void> {
    return this.#concealed(this.#wire.start());
  }

  send(message: Parameters<Wire["send"]>[0]): Promise<void> {
    return this.#concealed(this.#wire.send(message));
  }

  close(options?: { readonly force?: boolean }): Promise<void> {
    return this.#wire.close(options);
  }

  setProtocolVersion(version: string): void {
    this.#wire.setProtocolVersion?.(version);
  }

  abandon(id: number): void {
    this.#wire.abandon?.(id);
  }

  async #concealed(action: Promise<void>): Promise<void> {
    try {
      await action;
    } catch (error) {
      throw error instanceof LinkError ? this.#secrets.error(error) : error;
    }
  }
}
