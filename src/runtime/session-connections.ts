import { CancelSource } from "../base/cancel-signal.ts";
import { formatDuration } from "../base/durations.ts";
import { messageOf } from "../base/errors.ts";
import type { AppPlan } from "../plan/types.ts";
import { nextRetry } from "./backoff.ts";
import { LinkError, type Connection } from "./ports.ts";

/** A connection as calls hold it. */
export interface Hold {
  readonly connection: Connection;
  /** Aborts what runs on the connection when this side ends it. */
  readonly cut: CancelSource;
  /** A call had no answer in time and heard nothing meanwhile. */
  onSilence(): void;
  release(): void;
}

/** The connections of calling sessions, for status. */
export interface SessionView {
  readonly pid: number | null;
  readonly calls: number;
  /** Wall-clock milliseconds when it was opened. */
  readonly since: number;
}

/** How often each is looked at: whether it lives, and whether it is still used. */
const LOOK_EVERY_MS = 30_000;
/** One that no call has used for this long is closed; the session's next call opens another. */
const IDLE_MS = 30 * 60_000;

/**
 * The connections of one generation that serve one calling session each. One that dies or falls silent is taken out, and opened anew when its session next
 * calls; one that is unused for long is closed; there are never more than the plan's `max_sessions`, those on their way out among them.
 */
export class SessionConnections {
  readonly #plan: () => AppPlan;
  readonly #open = new Map<string, SessionConnection>();
  /** On their way out, until nothing of them is left. */
  readonly #ending = new Set<Promise<void>>();
  readonly #onLost: (message: string) => void;
  #failures = 0;
  #failedAt = -1;
  #waitUntil = 0;
  #lastFailure = "";

  /** `onLost` is told of every connection that ended without this side wanting it. */
  constructor(plan: () => AppPlan, onLost: (message: string) => void) {
    this.#plan = plan;
    this.#onLost = onLost;
  }

  /** Those that are up. */
  views(): SessionView[] {
    return [...this.#open.values()].flatMap((each) => each.view() ?? []);
  }

  /** Holds the connection of a session, made by `open` where there is none; several calls wait for the same one. Rejects with a LinkError. */
  async hold(scope: string, open: (signal: AbortSignal) => Promise<Connection>, signal: AbortSignal): Promise<Hold> {
    const session = this.#open.get(scope) ?? this.#add(scope, open);
    session.users += 1;
    try {
      await abortable(session.opened, signal);
      return session;
    } catch (error) {
      session.release();
      throw error;
    }
  }

  /** Ends the connection of a session that has gone, also one that is still being opened. */
  end(scope: string, reason = new LinkError("closed", "its calling session has ended", { sent: true })): void {
    const session = this.#open.get(scope);
    if (session !== undefined) this.#letGo(session, reason, false);
  }

  /** Gives up what is still being opened: whoever waits for it turns to the successor. */
  stopOpening(reason: Error): void {
    for (const session of this.#open.values()) if (session.view() === null) this.#letGo(session, reason, true);
  }

  /** Ends all of them; calls that still run are aborted with `reason`. Resolves when nothing is left. */
  async endAll(reason: Error, force: boolean): Promise<void> {
    for (const session of this.#open.values()) this.#letGo(session, reason, force);
    await Promise.allSettled(this.#ending);
  }

  #add(scope: string, open: (signal: AbortSignal) => Promise<Connection>): SessionConnection {
    const plan = this.#plan();
    const now = performance.now();
    if (now < this.#waitUntil)
      throw new LinkError("closed", `${this.#lastFailure}; next attempt in ${formatDuration(this.#waitUntil - now)}`, { retryAfterMs: this.#waitUntil - now });
    if (this.#open.size >= plan.maxSessions) this.#makeRoom(plan);
    const opening = async (signal: AbortSignal): Promise<Connection> => {
      // It counts itself, once it stands among the others.
      await Promise.resolve();
      // Servers may end slowly: whoever comes and goes fast must not have them pile up.
      while (this.#ending.size > 0 && this.#open.size + this.#ending.size > plan.maxSessions) await abortable(Promise.race(this.#ending), signal);
      return open(signal);
    };
    const session = new SessionConnection(opening, {
      look: () => void this.#look(scope, session),
      silent: () => void this.#probe(scope, session),
      closed: (message) => this.#lose(scope, session, message),
    });
    this.#open.set(scope, session);
    session.opened.then(
      () => (this.#failures = 0),
      (error: unknown) => this.#onFailure(scope, session, now, error),
    );
    return session;
  }

  /** The longest unused one goes. Throws a LinkError when all are used. */
  #makeRoom(plan: AppPlan): void {
    const idle = [...this.#open].filter(([, each]) => each.users === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt)[0];
    if (idle === undefined)
      throw new LinkError(
        "overloaded",
        `app ${plan.package} already has connections for as many sessions as it may (max_sessions: ${plan.maxSessions}), and all are in use`,
      );
    this.end(idle[0]);
  }

  /** One back-off for all sessions: what they cannot open fails for the same reasons. The first failure costs no wait; those that began together count once. */
  #onFailure(scope: string, session: SessionConnection, startedAt: number, error: unknown): void {
    if (this.#open.get(scope) !== session) return;
    this.#open.delete(scope);
    if (startedAt < this.#failedAt) return;
    this.#failedAt = performance.now();
    this.#lastFailure = messageOf(error);
    this.#failures += 1;
    if (this.#failures > 1) this.#waitUntil = this.#failedAt + nextRetry(this.#failures - 1, this.#plan().restart, Math.random()).delayMs;
  }

  #look(scope: string, session: SessionConnection): void {
    if (session.users > 0) return;
    if (performance.now() - session.usedAt >= IDLE_MS) this.end(scope);
    else void this.#probe(scope, session);
  }

  async #probe(scope: string, session: SessionConnection): Promise<void> {
    const { healthTimeoutMs, package: app } = this.#plan();
    if (await session.alive(healthTimeoutMs)) return;
    const message = `gave no sign of life for ${formatDuration(healthTimeoutMs)}`;
    if (!this.#lose(scope, session, message)) return;
    this.#letGo(session, new LinkError("closed", `the session's connection to app ${app} ${message}`, { sent: true }), true);
  }

  /** It is gone without having been asked to. Gives whether that is news. */
  #lose(scope: string, session: SessionConnection, message: string): boolean {
    if (this.#open.get(scope) !== session) return false;
    this.#open.delete(scope);
    session.forget();
    this.#onLost(message);
    return true;
  }

  #letGo(session: SessionConnection, reason: Error, force: boolean): void {
    for (const [scope, each] of this.#open) if (each === session) this.#open.delete(scope);
    const ending = session.end(reason, force).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

interface SessionHooks {
  readonly look: () => void;
  readonly silent: () => void;
  readonly closed: (message: string) => void;
}

/** The connection of one session, from the moment it is wanted. */
class SessionConnection implements Hold {
  readonly opened: Promise<Connection>;
  readonly cut = new CancelSource();
  /** Calls that hold it or wait for it. */
  users = 0;
  usedAt = performance.now();
  readonly #starting = new AbortController();
  readonly #hooks: SessionHooks;
  #connection: Connection | null = null;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #probing: Promise<boolean> | null = null;

  constructor(open: (signal: AbortSignal) => Promise<Connection>, hooks: SessionHooks) {
    this.#hooks = hooks;
    this.opened = open(this.#starting.signal).then((connection) => this.#onOpen(connection), asLinkError);
  }

  /** Only whoever has waited for `opened` has a hold. */
  get connection(): Connection {
    return this.#connection!;
  }

  view(): SessionView | null {
    return this.#connection && { pid: this.#connection.pid, calls: this.users, since: this.#since };
  }

  /** Whether it gives a sign of life, or has ended by itself, which is told elsewhere. One question at a time. */
  alive(timeoutMs: number): Promise<boolean> {
    this.#probing ??= this.connection.alive(timeoutMs).then((alive) => {
      this.#probing = null;
      return alive || this.connection.closed;
    });
    return this.#probing;
  }

  onSilence(): void {
    this.#hooks.silent();
  }

  release(): void {
    this.users -= 1;
    this.usedAt = performance.now();
  }

  forget(): void {
    clearInterval(this.#timer);
  }

  async end(reason: Error, force: boolean): Promise<void> {
    this.forget();
    this.#starting.abort(reason);
    this.cut.abort(reason);
    const connection = await this.opened.catch(() => null);
    this.forget();
    await connection?.close({ force });
  }

  #onOpen(connection: Connection): Connection {
    this.#connection = connection;
    this.#since = Date.now();
    this.#timer = setInterval(() => this.#hooks.look(), LOOK_EVERY_MS);
    this.#timer.unref();
    connection.onClosed((reason) => this.#hooks.closed(reason.message));
    return connection;
  }
}

function asLinkError(error: unknown): never {
  if (error instanceof LinkError) throw error;
  throw new LinkError("closed", `a connection for this session could not be opened: ${messageOf(error)}`, { cause: error });
}

/** What a promise gives, or the end of whoever waits for it. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new LinkError("timeout", "the connection for this session is still being opened"));
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
