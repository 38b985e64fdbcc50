import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { open, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { makeFolder } from "../base/make-folder.ts";
import { compileSelection, type Principal } from "../base/principal.ts";
import type { GatewayPlan } from "../kit-api.ts";

/** The tokens that open the door, kept as hashes. */
export interface TokenSet {
  /** The principal of an `Authorization` header, or null. Compares with every token in constant time. */
  authenticate(header: string | undefined): Principal | null;
  /** Everybody who has a token. */
  readonly principals: readonly Principal[];
  /** Files with open permissions and the like, for the log. */
  readonly warnings: readonly string[];
}

type Client = GatewayPlan["clients"][number];

/** Names of the two callers that have no entry under `gateway.clients`. */
export const CALLER = "caller";
const OPERATOR = "operator";

const MIN_TOKEN = 16;

/** Where a workspace keeps the tokens of its two roles. */
export function tokenFiles(dataDir: string): { readonly caller: string; readonly operator: string } {
  return { caller: join(dataDir, "run", "caller.token"), operator: join(dataDir, "run", "operator.token") };
}

/**
 * Reads the tokens of both roles and of the named clients, and makes the files that are missing (mode 0600, 32 random bytes).
 * Throws an Error that names the file when one cannot be read or made, is too short, or is the same as another.
 */
export async function loadTokens(dataDir: string, clients: readonly Client[]): Promise<TokenSet> {
  const warnings: string[] = [];
  const files = tokenFiles(dataDir);
  const wanted: { file: string; principal: Principal }[] = [
    { file: files.operator, principal: { role: "operator", client: OPERATOR, sees: compileSelection(null, []) } },
    { file: files.caller, principal: { role: "caller", client: CALLER, sees: compileSelection(null, []) } },
    ...clients.map((c) => ({ file: c.tokenFile, principal: { role: "caller" as const, client: c.name, sees: compileSelection(c.include, c.exclude) } })),
  ];
  const entries: { digest: Buffer; principal: Principal; file: string }[] = [];
  for (const { file, principal } of wanted) {
    const digest = sha256(await readOrMakeToken(file, warnings));
    const twin = entries.find((e) => e.digest.equals(digest));
    if (twin) throw new Error(`${file} holds the same token as ${twin.file}; delete one of the files and a new token is made`);
    entries.push({ digest, principal, file });
  }
  return {
    warnings,
    principals: entries.map((entry) => entry.principal),
    authenticate(header) {
      const match = header === undefined ? null : /^Bearer +([^\s]+)$/i.exec(header);
      if (!match) return null;
      const given = sha256(match[1]!);
      let found: Principal | null = null;
      for (const entry of entries) if (timingSafeEqual(entry.digest, given)) found = entry.principal;
      return found;
    },
  };
}

/** The token in a file, without white space around it. */
export async function readToken(file: string): Promise<string> {
  return (await readFile(file, "utf8")).trim();
}

async function readOrMakeToken(file: string, warnings: string[]): Promise<string> {
  try {
    await makeFolder(dirname(file), 0o700);
    await makeToken(file);
    const token = await readToken(file);
    if (token.length < MIN_TOKEN || /\s/.test(token))
      throw new Error(`a token is one word of at least ${MIN_TOKEN} characters; delete the file and a new one is made`);
    // Windows has no group and other bits; there the profile folder's own rights count.
    if (process.platform !== "win32" && ((await stat(file)).mode & 0o077) !== 0) warnings.push(`${file} can be read by others; run chmod 600 on it`);
    return token;
  } catch (error) {
    throw new Error(`token file ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** Makes the file in one step, so that two hosts never write over each other's token; leaves an existing one alone. */
async function makeToken(file: string): Promise<void> {
  let handle;
  try {
    handle = await open(file, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  try {
    await handle.writeFile(`${randomBytes(32).toString("base64url")}\n`);
  } finally {
    await handle.close();
  }
}

function sha256(text: string): Buffer {
  // Asked for as bytes, the same digest takes several times as long.
  return Buffer.from(hash("sha256", text, "hex"), "hex");
}
