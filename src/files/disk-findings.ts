import { existsSync, readdirSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { warningAt, type DiagnosticCode } from "../base/diagnostic-codes.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { nearest } from "../base/text.ts";
import { formatPath } from "../config/nodes.ts";
import type { AppConfig, Config, KeyPath } from "../config/types.ts";
import { isUnder } from "../config/hosts.ts";
import { realPath, rootFolder } from "./real-path.ts";
import { createPace } from "./stats.ts";

/** Most names looked at in one root. */
const MAX_NAMES = 2_000;
const SECRET_FILE = /^\.env(?:\..+)?$|\.(?:pem|key|p12|pfx|jks|keystore)$|^id_(?:rsa|dsa|ecdsa|ed25519)$|^\.(?:netrc|npmrc|pgpass|git-credentials)$/i;
const HARMLESS = /\.(?:example|sample|template|dist|pub)$/i;

const looked = new WeakMap<AppConfig, readonly Diagnostic[]>();

/**
 * Warnings that need a look at the disk: files that a command names and that lie elsewhere or nowhere (contracts 3), and roots that hold secrets
 * or the host's own state, or are not there (contracts 2). What lies in an app's folders is not looked at again while the app does
 * not change; where its roots lead is, for a link may have been changed.
 */
export async function diskFindings(config: Config): Promise<Diagnostic[]> {
  const pace = createPace();
  const out: Diagnostic[] = [];
  for (const app of config.apps) {
    if (app.kind !== "app") continue;
    let found = looked.get(app);
    if (!found) {
      found = await lookAt(app, config);
      // What is missing may have come by the next look.
      if (found.length === 0) looked.set(app, found);
      await pace();
    }
    out.push(...found, ...rootPlaces(app, config));
  }
  return out;
}

/** Where the roots of an app lead, links followed. */
function rootPlaces(app: AppConfig, config: Config): Diagnostic[] {
  const dataDir = config.topology.value.data_dir ?? config.root;
  const realData = realPath(dataDir) ?? dataDir;
  return (app.settings.grants?.roots ?? []).flatMap((root, i) => {
    const at: KeyPath = ["grants", "roots", i];
    const folder = rootFolder(root);
    const real = realPath(folder);
    if (real === null || !existsSync(folder))
      return [
        warning(
          app,
          config,
          "root-missing",
          at,
          `there is no folder ${folder}`,
          "make the folder, or correct the path: it is relative to the file that says it",
        ),
      ];
    const leads = real === folder ? "" : ` (it leads to ${real})`;
    if (!statSync(folder).isDirectory()) return [warning(app, config, "root-missing", at, `${folder} is no folder${leads}`, "give the folder that holds it")];
    if (!isUnder(realData, real)) return [];
    return [warning(app, config, "root-covers-data", at, `this root shows the server the host's own state in ${dataDir}${leads}`, "give it a narrower folder")];
  });
}

function warning(app: AppConfig, config: Config, code: DiagnosticCode, at: KeyPath, message: string, help: string): Diagnostic {
  const place = app.place(at);
  const prefix = place.file === config.topology.source.display ? `apps.${app.package}.` : "";
  return warningAt(code, place, message, { path: `${prefix}${formatPath(at)}`, help: [help] });
}

async function lookAt(app: AppConfig, config: Config): Promise<Diagnostic[]> {
  const out: Diagnostic[] = [];
  const warn = (code: DiagnosticCode, at: KeyPath, message: string, help: string): void => {
    out.push(warning(app, config, code, at, message, help));
  };
  const { command, args = [], cwd = config.root } = app.settings.mcp ?? {};
  if (app.settings.mcp?.cwd !== undefined && !isFolder(cwd))
    warn("cwd-missing", ["mcp", "cwd"], `there is no folder ${cwd}`, "make the folder, or correct the path: it is relative to the file that says it");
  if (command !== undefined) {
    const words = typeof command === "string" ? [] : command.slice(1).map((word, i): [KeyPath, string] => [["mcp", "command", i + 1], word]);
    for (const [at, word] of [...words, ...args.map((arg, i): [KeyPath, string] => [["mcp", "args", i], arg])]) {
      const elsewhere = findElsewhere(word, cwd, [app.dir, config.root]);
      if (elsewhere)
        warn(
          "file-elsewhere",
          at,
          `${app.package} runs in ${cwd}, and there is no ${elsewhere.name} there; ${elsewhere.file} is there`,
          `write ${path.relative(cwd, elsewhere.file)}, or set cwd to ${elsewhere.folder}`,
        );
    }
    const program = typeof command === "string" ? command : (command[0] ?? "");
    const at: KeyPath = typeof command === "string" ? ["mcp", "command"] : ["mcp", "command", 0];
    const asWords = wordsOf(program, app.dir);
    if (asWords !== null)
      warn("command-with-arguments", at, `there is no program called ${JSON.stringify(asWords.join(" "))}`, `write it as a list: [${asWords.join(", ")}]`);
    else if (path.isAbsolute(program) && !isProgram(program)) warn(...missing(program, at, "a command with a slash", app.dir, cwd));
    const { entry } = app.settings.mcp ?? {};
    if (entry !== undefined && app.settings.mcp?.args === undefined && !existsSync(entry)) warn(...missing(entry, ["mcp", "entry"], "entry", app.dir, cwd));
  }
  for (const [i, root] of (app.settings.grants?.roots ?? []).entries()) {
    const [first, ...more] = await secretsIn(rootFolder(root));
    if (first !== undefined)
      warn(
        "root-holds-secrets",
        ["grants", "roots", i],
        `this root shows the server ${first}${more.length > 0 ? ` and ${more.length} more files` : ""} that may hold secrets`,
        "give it a folder without them, or move them out",
      );
  }
  return out;
}

function isProgram(file: string): boolean {
  return existsSync(file) || (process.platform === "win32" && path.extname(file) === "");
}

/** What to say of a file that is not there: where it was meant perhaps, or which name is near. */
function missing(file: string, at: KeyPath, role: string, dir: string, cwd: string): [DiagnosticCode, KeyPath, string, string] {
  const under = path.resolve(cwd, path.relative(dir, file));
  if (existsSync(under)) {
    const message = `${role} is relative to the file that writes it: there is no ${file}, but ${under} is there`;
    return ["file-elsewhere", at, message, `write ${path.relative(dir, under)}`];
  }
  const near = nearest(path.basename(file), namesIn(path.dirname(file)), 1)[0];
  const help = near === undefined ? "correct the path, which is relative to the file that says it, or make the file" : `did you mean ${near}?`;
  return ["program-missing", at, `there is no file ${file}`, help];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, MAX_NAMES);
  } catch {
    return [];
  }
}

function isFolder(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The words of a command that was written as one text; null for a program. Paths with a slash were made absolute from `dir`. */
function wordsOf(program: string, dir: string): string[] | null {
  const written = path.isAbsolute(program) && isUnder(program, dir) ? path.relative(dir, program) : program;
  const words = written.split(/\s+/).filter((word) => word !== "");
  return words.length < 2 || existsSync(program) ? null : words;
}

/** Where a relative path that a word names lies, when it is not under `cwd`; null when it is, or is nowhere. */
function findElsewhere(
  word: string,
  cwd: string,
  folders: readonly string[],
): { readonly name: string; readonly file: string; readonly folder: string } | null {
  const name = word.startsWith("-") ? word.slice(word.indexOf("=") + 1) : word;
  const looksLikeFile = /\/|\.[A-Za-z0-9]{1,5}$/.test(name) && !name.startsWith("-") && !name.includes("://") && !path.isAbsolute(name);
  if (!looksLikeFile || existsSync(path.resolve(cwd, name))) return null;
  for (const folder of folders) {
    const file = path.resolve(folder, name);
    if (folder !== cwd && existsSync(file)) return { name, file, folder };
  }
  return null;
}

/** Names of files in a folder, and in its own folders, that are known to hold secrets. */
async function secretsIn(root: string): Promise<string[]> {
  const found: string[] = [];
  let seen = 0;
  const look = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      seen += 1;
      if (seen > MAX_NAMES) return;
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) {
        if (depth < 2 && entry.name !== "node_modules" && entry.name !== ".git") await look(file, depth + 1);
      } else if (SECRET_FILE.test(entry.name) && !HARMLESS.test(entry.name)) found.push(path.relative(root, file));
    }
  };
  await look(root, 0);
  return found.sort();
}
