import { createHash } from "node:crypto";
import { openSync, closeSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isObject, own, setOwn } from "../base/json.ts";
import { makeFolderSync } from "../base/make-folder.ts";
import { LinkError } from "../runtime/ports.ts";
import { startTimeOf } from "./process-group.ts";

/** Tokens of one server, as one authorization server gave them. */
export interface StoredTokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token?: string;
  readonly scope?: string;
  /** Milliseconds since 1970. */
  readonly expires_at?: number;
}

/** What is remembered of one authorization server for one MCP server. */
export interface StoredIssuer {
  /** Client information, as registered or as bound on first use. */
  readonly client?: Readonly<Record<string, unknown>>;
  readonly tokens?: StoredTokens;
}

/** The credentials of one MCP server, by issuer; `issuer` is the one whose tokens are in use. */
export interface StoredCredentials {
  readonly issuer: string | null;
  /** Scopes that the server asked for when the present ones were too few. */
  readonly wanted_scope?: string;
  readonly issuers: Readonly<Record<string, StoredIssuer>>;
}

const EMPTY: StoredCredentials = { issuer: null, issuers: {} };
const MOST_SCOPES = 100;
const LOCK_POLL_MS = 50;
const LOCK_WAIT_MS = 30_000;
const LOCK_STALE_MS = 60_000;

/** Keeps the credentials of one MCP server in a file of mode 0600, with a lock that holds between processes. */
export class OAuthStore {
  readonly #path: string;
  readonly #folder: string;

  constructor(dataDir: string, serverUrl: string) {
    this.#folder = join(dataDir, "run", "oauth");
    this.#path = join(this.#folder, `${createHash("sha256").update(new URL(serverUrl).href).digest("hex").slice(0, 32)}.json`);
  }

  /** What the file holds now; nothing for a missing or damaged one. */
  read(): StoredCredentials {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#path, "utf8"));
      const issuers = own(value, "issuers");
      const issuer = own(value, "issuer");
      const wanted = own(value, "wanted_scope");
      if (!isObject(issuers)) return EMPTY;
      return {
        issuer: typeof issuer === "string" ? issuer : null,
        issuers: issuers as StoredCredentials["issuers"],
        ...(typeof wanted === "string" ? { wanted_scope: wanted } : {}),
      };
    } catch {
      return EMPTY;
    }
  }

  /** Tokens in use, if any. */
  tokens(): StoredTokens | undefined {
    const { issuer, issuers } = this.read();
    return issuer !== null && Object.hasOwn(issuers, issuer) ? issuers[issuer]!.tokens : undefined;
  }

  /** What is remembered of one issuer. */
  of(issuer: string): StoredIssuer {
    const { issuers } = this.read();
    return Object.hasOwn(issuers, issuer) ? issuers[issuer]! : {};
  }

  /** Changes what is remembered of one issuer; with new tokens it becomes the one in use. */
  update(issuer: string, change: { readonly client?: Readonly<Record<string, unknown>>; readonly tokens?: StoredTokens | null }): void {
    const before = this.read();
    const { tokens: oldTokens, ...rest } = this.of(issuer);
    const tokens = change.tokens === undefined ? oldTokens : (change.tokens ?? undefined);
    const issuers: Record<string, StoredIssuer> = { ...before.issuers };
    setOwn(issuers, issuer, { ...rest, ...(change.client === undefined ? {} : { client: change.client }), ...(tokens === undefined ? {} : { tokens }) });
    this.#write({ ...before, issuer: change.tokens ? issuer : before.issuer, issuers });
  }

  /** Remembers scopes for the next sign-in, beside those wanted before and those granted now: a sign-in for more must not lose what there is. */
  wantScope(scope: string): void {
    const before = this.read();
    const all = new Set([before.wanted_scope, this.tokens()?.scope, scope].flatMap((list) => list?.split(" ") ?? []));
    const wanted = [...all]
      .filter((name) => name !== "")
      .slice(0, MOST_SCOPES)
      .join(" ");
    if (wanted !== before.wanted_scope) this.#write({ ...before, wanted_scope: wanted });
  }

  /** Forgets everything. Gives whether there was anything. */
  clear(): boolean {
    const had = Object.keys(this.read().issuers).length > 0;
    rmSync(this.#path, { force: true });
    return had;
  }

  /** Runs `action` while no other process with this store does. A lock of a dead process, or an old one, is broken. */
  async locked<T>(action: () => Promise<T>): Promise<T> {
    const lock = `${this.#path}.lock`;
    makeFolderSync(this.#folder, 0o700);
    for (let waited = 0; !takeLock(lock); waited += LOCK_POLL_MS) {
      if (waited >= LOCK_WAIT_MS) throw new LinkError("unauthorized", `another process holds ${lock} for more than ${LOCK_WAIT_MS / 1000}s`);
      await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
    }
    try {
      return await action();
    } finally {
      rmSync(lock, { force: true });
    }
  }

  #write(value: StoredCredentials): void {
    makeFolderSync(this.#folder, 0o700);
    const temporary = `${this.#path}.${process.pid}.tmp`;
    writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
    renameSync(temporary, this.#path);
  }
}

function takeLock(path: string): boolean {
  try {
    const file = openSync(path, "wx", 0o600);
    writeSync(file, JSON.stringify({ pid: process.pid, start: startTimeOf(process.pid) }));
    closeSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (isStale(path)) rmSync(path, { force: true });
    return false;
  }
}

function isStale(path: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > LOCK_STALE_MS) return true;
    const holder: unknown = JSON.parse(readFileSync(path, "utf8"));
    const pid = own(holder, "pid");
    const start = own(holder, "start");
    return typeof pid === "number" && typeof start === "string" && startTimeOf(pid) !== start;
  } catch {
    // Being written, or just gone.
    return false;
  }
}
