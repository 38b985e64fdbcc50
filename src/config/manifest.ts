import { basename, dirname } from "node:path";
import { isObject } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import { checkFile, placeIn, type CheckedFile } from "./file-reader.ts";
import { plainValue, type MapNode } from "./nodes.ts";
import { parseParts } from "./parse.ts";
import { foldEnv } from "./merge.ts";
import { resolveAppPaths, tildeFinding } from "./paths.ts";
import { schemaShape } from "./shape.ts";
import type { LoadContext, SourceText } from "./types.ts";

/** What a manifest is: an app's settings (paths absolute, env folded), a legacy app, or a file with errors, of which the settings are what is sound. */
export interface ReadManifest extends CheckedFile {
  readonly kind: "app" | "legacy" | "broken";
  /** The package as written; where it cannot be read, the name of the folder. */
  readonly package: string;
  /** Whether the package is the one that is written. */
  readonly packageKnown: boolean;
  readonly settings: Record<string, unknown>;
}

const SERVER_KEYS: readonly string[] = ["command", "args", "url", "transport", "entry", "headers"];

/** Reads one manifest. */
export function readManifest(source: SourceText, context: LoadContext): ReadManifest {
  const parsed = parseParts(source);
  const { tree } = parsed;
  if (tree && parsed.diagnostics.length === 0 && isLegacy(tree.root)) {
    const value = plainValue(tree.root);
    return {
      source,
      kind: "legacy",
      ...packageOf(value, source),
      settings: {},
      tree,
      value,
      sound: value,
      diagnostics: [],
      origins: [],
      wrong: [],
      reads: new Map(),
    };
  }
  const file = checkFile(source, schemaShape("app.schema.json"), context, parsed);
  const value = isObject(file.sound) ? file.sound : {};
  const { value: resolved, tildes } = resolveAppPaths(value, dirname(source.file));
  const diagnostics = [...file.diagnostics, ...tildes.map((tilde) => tildeFinding(tilde, placeIn(file, tilde.path)))];
  return { ...file, kind: diagnostics.length > 0 ? "broken" : "app", ...packageOf(value, source), settings: foldEnv(resolved), diagnostics };
}

/**
 * A manifest of the older AuroraBot kind says neither `type: mcp-server` nor `mcp`. One that looks as if it meant to (a typo of
 * `mcp`, or a server's keys at the top) is not taken for one, so that its mistake is told.
 */
function isLegacy(root: MapNode): boolean {
  const type = root.entries.get("type")?.value;
  if (root.entries.has("mcp") || (type?.kind === "scalar" && nearest(String(type.value), ["mcp-server"], 1).length > 0)) return false;
  if (!root.entries.has("package")) return false;
  return ![...root.entries.keys()].some((key) => SERVER_KEYS.includes(key) || nearest(key, ["mcp"], 1).length > 0);
}

function packageOf(value: unknown, source: SourceText): Pick<ReadManifest, "package" | "packageKnown"> {
  const written = isObject(value) ? value["package"] : undefined;
  if (typeof written === "string") return { package: written, packageKnown: true };
  // A file that does not parse still belongs to the app it names: the app keeps its last good version.
  const line = /^package:[ \t]*["']?([A-Za-z0-9][A-Za-z0-9_.-]{0,99})["']?[ \t]*(?:#.*)?$/m.exec(source.text);
  return { package: line?.[1] ?? basename(dirname(source.file)), packageKnown: line !== null };
}
